//! What a person sees, on terminals of 40, 80 and 200 columns.

use crate::support::{
    BOOTSTRAP, Fault, Server, World, component_world, dist_members, large_tar_gz, lock, lock_of, on_terminal,
    sha256, store, tar_gz, workspace_root,
};

const WIDTHS: [u16; 3] = [40, 80, 200];

fn real_lock() -> String {
    std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("the lock")
}

#[test]
fn help_fits_every_terminal() {
    let world = World::new();
    let mut shown = Vec::new();
    for columns in WIDTHS {
        let seen = on_terminal(&world, columns, &["--help"], &[("NO_COLOR", "1")]);
        assert_eq!(seen.code, Some(0), "{}", seen.raw);
        shown.push(format!("{columns} columns\n{}", seen.screen));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn words_of_an_install_and_of_a_mistake_on_every_terminal() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    let mut shown = Vec::new();
    for columns in WIDTHS {
        for arguments in [&BOOTSTRAP[..], &["doctor", "--explain", "S06"], &["build", "--toolchain", "tt"]] {
            let _ = std::fs::remove_dir_all(world.path("unused"));
            let store = ["--store", &columns.to_string()].map(str::to_owned);
            let arguments: Vec<&str> =
                arguments.iter().copied().chain(store.iter().map(String::as_str)).collect();
            let seen = on_terminal(&world, columns, &arguments, &[("NO_COLOR", "1")]);
            shown.push(format!("{columns} columns, code {:?}\n{}\n", seen.code, seen.screen));
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d+(\.\d)? m?s\b", "[TIME]");
    settings.bind(|| insta::assert_snapshot!(shown.join("\n")));
}

#[test]
fn a_bar_is_one_row_with_its_step_share_rate_and_time_left() {
    let server = Server::start();
    let archive = large_tar_gz(2);
    for columns in WIDTHS {
        let url = server.offer(&format!("{columns}.tar.gz"), &archive, Fault::Stall(archive.len() / 2));
        let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
        let seen =
            on_terminal(&world, columns, &BOOTSTRAP, &[("NO_COLOR", "1"), ("STRATA_STALL_SECONDS", "0.5")]);
        assert_eq!(seen.code, Some(0), "{}", seen.raw);
        let bars: Vec<&String> =
            seen.rows.iter().filter(|row| row.contains('%') || row.contains('[')).collect();
        assert!(!bars.is_empty(), "{columns}: {:?}", seen.rows);
        for bar in bars {
            assert!(bar.starts_with("    fetch dist 10.0.0"), "{columns}: a bar that wrapped: `{bar}`");
            assert_eq!(bar.contains("/s"), columns >= 80, "{columns}: `{bar}`");
            assert!(bar.trim_end().ends_with('s'), "{columns}: without the time left: `{bar}`");
        }
        // Nothing of it is left behind.
        assert!(!seen.screen.contains('%'), "{}", seen.screen);
        assert!(seen.screen.contains("ready toolchain t"), "{}", seen.screen);
    }
}

/// A row that tells how long a job has been running; one of a phase ends otherwise.
fn is_job(row: &str) -> bool {
    let is_clock = |word: &str| word.strip_suffix('s').is_some_and(|number| number.parse::<u32>().is_ok());
    row.starts_with("    build scale gfx") && row.split_whitespace().last().is_some_and(is_clock)
}

#[test]
fn jobs_that_run_at_once_have_a_row_each_below_what_was_said() {
    let targets = ["gfx1100", "gfx1101", "gfx1150", "gfx1201"];
    for columns in WIDTHS {
        let world = component_world();
        let store = store().display().to_string();
        let list = targets.join(",");
        let arguments =
            ["build", "--toolchain", "lite", "--store", &store, "--jobs", "4", "--targets", &list];
        let seen = on_terminal(&world, columns, &arguments, &[("NO_COLOR", "1")]);
        assert_eq!(seen.code, Some(0), "{}", seen.raw);
        let jobs = |screen: &Vec<String>| screen.iter().filter(|row| is_job(row)).count();
        let fullest = seen.screens.iter().max_by_key(|screen| jobs(screen)).expect("a screen");
        assert!(jobs(fullest) >= 2, "{columns}: never two at once: {:#?}", seen.screens);
        for screen in &seen.screens {
            for target in targets {
                let rows = screen.iter().filter(|row| is_job(row) && row.contains(target)).count();
                assert!(rows <= 1, "{columns}: {target} has {rows} rows: {screen:#?}");
            }
            let said = screen.iter().rposition(|row| row.starts_with("    built "));
            let first = screen.iter().position(|row| is_job(row));
            if let (Some(said), Some(first)) = (said, first) {
                assert!(said < first, "{columns}: a word among the jobs: {screen:#?}");
            }
        }
        for target in targets {
            assert!(seen.screen.contains(&format!("    built scale {target} in ")), "{}", seen.screen);
        }
        assert!(!seen.screen.lines().any(is_job), "{columns}: a job was left behind: {}", seen.screen);
    }
}

#[test]
fn colour_is_what_the_variables_and_the_option_say() {
    let world = World::with_lock(&real_lock());
    let mistake = ["build", "--toolchain", "lite"];
    let is_coloured = |option: &[&str], variables: &[(&str, &str)]| {
        let arguments: Vec<&str> = mistake.iter().chain(option).copied().collect();
        on_terminal(&world, 80, &arguments, variables).raw.contains("\x1b[1;31merror[S06]:\x1b[0m")
    };
    for (option, variables, expected) in [
        (&[][..], &[][..], true),
        (&[], &[("NO_COLOR", "1")][..], false),
        (&[], &[("NO_COLOR", "")][..], true),
        (&[], &[("CLICOLOR", "0")][..], false),
        (&[], &[("TERM", "dumb")][..], false),
        (&["--color", "never"], &[][..], false),
        (&["--color", "always"], &[("NO_COLOR", "1")][..], true),
    ] {
        assert_eq!(is_coloured(option, variables), expected, "{option:?} {variables:?}");
    }
    // Without a terminal.
    let run = |name: &str| {
        let output = world.command(&mistake).env_remove("NO_COLOR").env(name, "1").output().expect("xtask");
        world.ended(output).exits(6).stderr.contains('\x1b')
    };
    assert!(run("CLICOLOR_FORCE") && !run("CLICOLOR"));
    // clap's own words.
    let help =
        |color: &str| on_terminal(&world, 80, &["--color", color, "bild"], &[]).raw.contains("\x1b[1m");
    assert!(help("always") && !help("never"));
}
