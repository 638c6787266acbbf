//! The plan as a table that ends in its verdict.

use super::plan::{Place, Plan, Setting};

const WIDTH: usize = 9;

fn gib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / (1_u64 << 30) as f64)
}

/// The table, in GiB, and under it FITS or DOES NOT FIT with what would make it fit.
pub fn table(plan: &Plan, remedies: &[Setting]) -> String {
    let headings = ["layers", "dense", "experts", "KV", "scratch", "shared", "reserve", "total", "usable"];
    let first = plan.places.iter().map(|place| place.name.len()).max().unwrap_or(0).max("memory, GiB".len());
    let row = |name: &str, cells: [String; 9]| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>WIDTH$}")).collect();
        format!("{name:<first$}{cells}\n")
    };
    let mut text = row("memory, GiB", headings.map(str::to_owned));
    for place in &plan.places {
        let usable = place.usable.map_or_else(|| "?".to_owned(), gib);
        let numbers =
            [place.dense, place.experts, place.kv, place.scratch, place.shared, place.reserve, place.total()];
        let [a, b, c, d, e, f, g] = numbers.map(gib);
        text += &row(&place.name, [place.layers.len().to_string(), a, b, c, d, e, f, g, usable]);
    }
    text += &divided(plan);
    let wish = plan.wish;
    let verdict = if plan.fits() { "FITS" } else { "DOES NOT FIT" };
    text += &format!("{} sequences of {} tokens: {verdict}\n", wish.parallel, wish.context);
    for setting in remedies {
        text += &match setting {
            Setting::Context(tokens) => format!("  would fit: --context {tokens}\n"),
            Setting::Parallel(count) => format!("  would fit: --parallel {count}\n"),
            Setting::Model(bytes) => format!(
                "  would fit: a model file of {} GiB at most (this one has {})\n",
                gib(*bytes),
                gib(plan.weights)
            ),
            Setting::ModelAndContext(bytes, tokens) => {
                format!("  would fit: a model file of {} GiB at most, with --context {tokens}\n", gib(*bytes))
            }
            Setting::Free(bytes) => {
                format!("  would fit: {} GiB more free memory: end other programs\n", gib(*bytes))
            }
            Setting::Card(bytes) => format!("  would fit: one more card with {} GiB\n", gib(*bytes)),
        };
    }
    text
}

/// What the cards have of the experts, and what lies in RAM while cards compute.
fn divided(plan: &Plan) -> String {
    let (cards, memory) = (plan.cards(), plan.memory());
    if cards.is_empty() || plan.is_on_cards() {
        return String::new();
    }
    let on_cards: usize = cards.iter().flat_map(|card| card.resident.values()).map(Vec::len).sum();
    let order = match plan.are_experts_counted {
        true => "those that were used most",
        false => "by the order of their layers: no --expert-counts",
    };
    let mut text = String::new();
    if memory.experts > 0 {
        text += &format!("experts on cards: {on_cards}, {order}\n");
    }
    format!("{text}in RAM: {}\n", in_ram(memory).join(", "))
}

fn in_ram(memory: &Place) -> Vec<String> {
    let layers = match memory.layers.as_slice() {
        [] => None,
        [only] => Some(format!("layer {only}")),
        [first, .., last] => Some(format!("layers {first} to {last}, computed by the CPU")),
    };
    let parts = [
        memory.has_embedding.then(|| "the table of tokens".to_owned()),
        layers,
        (memory.experts > 0).then(|| "experts".to_owned()),
        memory.has_output.then(|| "the output".to_owned()),
    ];
    parts.into_iter().flatten().collect()
}
