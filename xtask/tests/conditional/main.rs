//! Checks that not every machine can run: one that cannot is counted as ignored, with its reason, and never as passed.

mod cards;
mod commands_in_docs;
mod dist_disk;
mod docs;
mod format;
mod full_disk;
mod layers;
#[path = "../../../engine/tests/it/support/mod.rs"]
#[allow(dead_code, unused_imports)] // They share it with the engine's tests.
mod models;
mod simulate;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports)] // Two test binaries share it, and each uses its part.
mod support;
mod tools;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut trials = vec![
        trial("the_code_is_formatted", format::missing(), format::the_code_is_formatted),
        trial(
            "a_full_disk_has_its_own_exit_code_and_leaves_nothing",
            full_disk::missing(),
            full_disk::a_full_disk_has_its_own_exit_code_and_leaves_nothing,
        ),
        trial(
            "a_full_or_read_only_disk_leaves_no_zip",
            full_disk::missing(),
            dist_disk::a_full_or_read_only_disk_leaves_no_zip,
        ),
        trial(
            "shipped_kernels_give_the_references_numbers",
            None,
            simulate::shipped_kernels_give_the_references_numbers,
        ),
        trial("cards_compute_what_the_cpu_computes", None, cards::cards_compute_what_the_cpu_computes),
        trial(
            "a_card_that_computes_wrong_numbers_is_found",
            None,
            cards::a_card_that_computes_wrong_numbers_is_found,
        ),
        trial(
            "layers_are_split_over_cards_of_one_family",
            None,
            cards::layers_are_split_over_cards_of_one_family,
        ),
        trial("the_bell_behind_a_graph_is_waited_for", None, cards::the_bell_behind_a_graph_is_waited_for),
        trial(
            "long_prompts_are_multiplied_by_the_hipblaslt_that_is_there",
            None,
            cards::long_prompts_are_multiplied_by_the_hipblaslt_that_is_there,
        ),
        trial(
            "experts_are_divided_between_card_and_ram",
            None,
            layers::experts_are_divided_between_card_and_ram,
        ),
        trial(
            "layers_are_divided_between_card_and_ram",
            None,
            layers::layers_are_divided_between_card_and_ram,
        ),
        trial("a_model_in_both_is_served", None, layers::a_model_in_both_is_served),
        trial(
            "prompts_of_every_length_fit_into_what_is_planned",
            None,
            layers::prompts_of_every_length_fit_into_what_is_planned,
        ),
        trial(
            "what_cannot_be_recorded_is_queued_launch_by_launch",
            None,
            cards::what_cannot_be_recorded_is_queued_launch_by_launch,
        ),
        trial(
            "both_sides_compute_what_the_cpu_computes",
            None,
            layers::both_sides_compute_what_the_cpu_computes,
        ),
        trial(
            "counted_experts_are_the_ones_on_the_card",
            None,
            layers::counted_experts_are_the_ones_on_the_card,
        ),
        trial(
            "a_release_is_simulated_before_it_is_published",
            None,
            simulate::a_release_is_simulated_before_it_is_published,
        ),
        trial("a_newcomer_follows_the_readme", docs::newcomer_missing(), docs::a_newcomer_follows_the_readme),
        trial("every_reason_is_used", None, docs::every_reason_is_used),
    ];
    trials.extend(tools::checks().into_iter().map(|(name, missing, check)| trial(name, missing, check)));
    for (command, missing) in docs::commands() {
        let name = format!("{} {}", command.place, command.command);
        trials.push(trial(&name, missing, move || docs::runs(&command.command)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(name: &str, missing: Option<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    let is_ignored = missing.is_some();
    if let Some(reason) = missing {
        eprintln!("skipped: {name}: {reason}");
    }
    let run = move || {
        check();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(is_ignored)
}
