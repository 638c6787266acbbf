//! Models that a card does not hold whole, on simulated cards with little memory: wherever the split is, the numbers are the CPU's and the text is the same.

use crate::cards::{Cards, Done};
use crate::models::{Builder, Server, halves, mixed};
use crate::support::released;
use serde_json::Value;

const CARD: [&str; 4] = ["--gpu", "0", "--vram-reserve-mib", "0"];

/// A mixed model on one card of the release's last target, and what it takes.
struct Model {
    cards: Cards<'static>,
    /// Bytes of everything.
    whole: u64,
    /// Bytes without the table of tokens, which is the first to go.
    without_table: u64,
}

impl Model {
    fn new(model: &Builder) -> Self {
        let (target, release) = released().unpacked.last().expect("a release");
        let cards = Cards::new(release, target, model);
        let mut model = Self { cards, whole: 0, without_table: 0 };
        model.whole = number(&model.plan(1 << 30)["total"]);
        model.without_table = number(&model.plan(model.whole - 1)["total"]);
        model
    }

    /// What the card gets where it has so many bytes.
    fn plan(&mut self, vram: u64) -> Value {
        self.cards.set("STRATA_SIM_VRAM", vram);
        self.cards.run("plan", &[&["--parallel", "1"], &CARD[..]].concat()).succeeded()["places"][0].clone()
    }

    fn generate(&self, arguments: &[&str]) -> Done {
        let request = ["--prompt", "one two", "-n", "12", "--temperature", "0", "--ignore-end"];
        self.cards.run("generate", &[&request[..], arguments].concat())
    }

    /// The text of a card with so many bytes.
    fn text(&mut self, vram: u64) -> (String, Done) {
        self.cards.set("STRATA_SIM_VRAM", vram);
        let done = self.generate(&CARD);
        (done.succeeded()["text"].to_string(), done)
    }

    fn check(&mut self, vram: u64) -> Done {
        self.cards.set("STRATA_SIM_VRAM", vram);
        self.cards.check(&CARD)
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// RAM and the card of a run.
fn places(done: &Done) -> (&Value, &Value) {
    (&done.json["memory"]["places"][0], &done.json["memory"]["places"][1])
}

/// Two layers of four experts each.
pub(crate) fn experts_are_divided_between_card_and_ram() {
    let mut model = Model::new(&halves("qwen3moe"));
    let card = model.plan(model.whole);
    let experts = number(&card["experts"]);
    let (one, dense) = (experts / 8, model.without_table - experts);
    let (expected, on_card) = model.text(model.whole);
    assert_eq!(on_card.json["backend"], "hip");
    assert!(on_card.count("graph") > 0, "a whole model is generated with graphs");
    assert_eq!(model.generate(&["--backend", "cpu"]).succeeded()["text"].to_string(), expected);
    // Every number of experts: none, one, … all; each card is as small as its plan lets it be.
    for count in 0..=8 {
        let (text, done) = model.text(dense + count * one);
        assert_eq!(text, expected, "{count} experts on the card");
        let (card, ram) = places(&done);
        assert_eq!(
            (number(&card["experts_on_card"]), number(&ram["experts"])),
            (count, experts - count * one)
        );
        assert_eq!((&done.json["backend"], done.count("graph")), (&"hip and cpu".into(), 0));
        assert_eq!(done.count("launch 0 mix_f32") > 0, count > 0, "mixed on the card");
    }
    let talk = model.text(dense).1.talk;
    assert!(talk.contains("in RAM: the table of tokens, experts\n"), "{talk}");
    assert!(talk.contains("queued launch by launch: graphs are for models that one card holds"), "{talk}");
}

pub(crate) fn layers_are_divided_between_card_and_ram() {
    let mut model = Model::new(&halves("llama"));
    let (expected, _) = model.text(model.whole);
    // All layers; then one less each time until none is left.
    let mut vram = model.without_table;
    let mut layers = Vec::new();
    loop {
        let card = model.plan(vram);
        let on_card = card["layers"].as_array().expect("layers").len();
        if on_card == 0 {
            break;
        }
        let (text, done) = model.text(vram);
        assert_eq!(text, expected, "{card}");
        let (_, ram) = places(&done);
        assert_eq!(ram["layers"].as_array().expect("layers").len(), 2 - on_card);
        assert_eq!(number(&ram["kv"]) > 0, on_card < 2, "keys and values of a layer in RAM lie there");
        layers.push((on_card, card["has_output"] == true));
        vram = number(&card["total"]) - 1;
    }
    assert!(
        layers.contains(&(2, true)) && layers.contains(&(1, true)) && layers.contains(&(1, false)),
        "{layers:?}"
    );
    // A card without room is refused where it is asked for, and else a line says so.
    let done = model.generate(&CARD);
    assert!(
        !done.output.status.success() && done.talk.contains("the cards hold no layer of the model"),
        "{}",
        done.talk
    );
    let done = model.generate(&["--vram-reserve-mib", "0"]);
    assert_eq!(done.succeeded()["text"].to_string(), expected);
    assert!(done.talk.contains("the CPU computes: the cards hold no layer of the model"), "{}", done.talk);
}

/// Counts of a run on the CPU and of one on the card are the same, and choose what the card keeps.
pub(crate) fn counted_experts_are_the_ones_on_the_card() {
    let mut model = Model::new(&halves("qwen3moe"));
    let experts = number(&model.plan(model.whole)["experts"]);
    let (one, dense) = (experts / 8, model.without_table - experts);
    let counts = |name: &str| {
        let text = std::fs::read_to_string(name).expect("counts");
        serde_json::from_str::<Vec<Vec<u64>>>(&text).expect("a row a layer")
    };
    let [of_cpu, of_card] =
        ["cpu.json", "card.json"].map(|name| model.cards.path(name).display().to_string());
    model.generate(&["--backend", "cpu", "--count-experts", &of_cpu]).succeeded();
    model.cards.set("STRATA_SIM_VRAM", model.whole);
    model.generate(&[&["--count-experts", of_card.as_str()], &CARD[..]].concat()).succeeded();
    let counted = counts(&of_cpu);
    // Thirteen tokens and more go through two experts of each layer.
    assert!(counted.iter().all(|layer| layer.iter().sum::<u64>() >= 26), "{counted:?}");
    assert_eq!(counts(&of_card), counted);

    model.cards.set("STRATA_SIM_VRAM", dense + 3 * one);
    let (few, hot) =
        (model.generate(&CARD), model.generate(&[&["--expert-counts", of_cpu.as_str()], &CARD[..]].concat()));
    assert_eq!(hot.succeeded()["text"], few.succeeded()["text"]);
    assert!(hot.talk.contains("experts on cards: 3, those that were used most"), "{}", hot.talk);
    assert!(few.talk.contains("experts on cards: 3, by the order of their layers"), "{}", few.talk);
    // Counts of a second run are added.
    model.generate(&["--backend", "cpu", "--count-experts", &of_cpu]).succeeded();
    assert_eq!(
        counts(&of_cpu),
        counted.iter().map(|layer| layer.iter().map(|count| 2 * count).collect()).collect::<Vec<Vec<u64>>>()
    );
}

/// With every type of tensor, and a prompt that goes through the matrix instructions: experts and layers on both sides.
pub(crate) fn both_sides_compute_what_the_cpu_computes() {
    let mut experts = Model::new(&mixed("qwen3moe"));
    let all = number(&experts.plan(experts.whole)["experts"]);
    experts.check(experts.without_table - all / 2).agrees();
    let mut layers = Model::new(&mixed("llama"));
    // The output is the first to go, then a layer.
    let without_output = number(&layers.plan(layers.without_table - 1)["total"]);
    let checked = layers.check(without_output - 1);
    checked.agrees();
    assert_eq!(checked.json["memory"]["places"][1]["layers"], serde_json::json!([1]));
}

/// Several clients at once, and a prompt whose start is in the cache already: keys and values of one layer lie on the card, those of the other in RAM.
pub(crate) fn a_model_in_both_is_served() {
    let mut model = Model::new(&halves("llama"));
    let expected: Vec<String> = PROMPTS.map(|prompt| model.completed(prompt)).into();
    let without_output = number(&model.plan(model.without_table - 1)["total"]);
    model.cards.set("STRATA_SIM_VRAM", without_output - 1);
    let server = model.cards.serve(&[&["--parallel", "2", "--port", "0"], &CARD[..]].concat());
    let ask = |prompt: &'static str| complete(&server, prompt);
    let answers = std::thread::scope(|scope| {
        let asked = PROMPTS.map(|prompt| scope.spawn(move || ask(prompt)));
        asked.map(|asked| asked.join().expect("an answer"))
    });
    for (answer, expected) in answers.iter().zip(&expected) {
        assert_eq!(answer["choices"][0]["text"].to_string(), *expected);
    }
    let again = complete(&server, PROMPTS[0]);
    assert_eq!(again["choices"][0]["text"].to_string(), expected[0]);
    assert!(number(&again["usage"]["prompt_tokens_details"]["cached_tokens"]) > 0, "{again}");
}

/// Prompts that grow, one after the other, on a card that has what was planned and no byte more: memory of earlier steps is used again or given back.
pub(crate) fn prompts_of_every_length_fit_into_what_is_planned() {
    let mut model = Model::new(&halves("llama"));
    model.cards.set("STRATA_SIM_VRAM", model.whole);
    let server = model.cards.serve(&[&["--parallel", "1", "--port", "0"], &CARD[..]].concat());
    for (letter, length) in ('a'..='l').zip((130..).step_by(5)) {
        let body = serde_json::json!({ "prompt": letter.to_string().repeat(length), "max_tokens": 3, "temperature": 0 });
        let answer = server
            .answer("POST /v1/completions HTTP/1.1\r\nContent-Type: application/json", &body.to_string());
        assert!(answer.starts_with("HTTP/1.1 200"), "{length}: {answer}");
    }
}

/// A server's answer to six tokens wanted, the best each time.
fn complete(server: &Server, prompt: &str) -> Value {
    let body = serde_json::json!({ "prompt": prompt, "max_tokens": 6, "temperature": 0 }).to_string();
    let answer = server.answer("POST /v1/completions HTTP/1.1\r\nContent-Type: application/json", &body);
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
}

const PROMPTS: [&str; 3] = ["one two", "three", "four five six"];

impl Model {
    /// What the CPU makes of it.
    fn completed(&self, prompt: &str) -> String {
        let request = ["--prompt", prompt, "-n", "6", "--temperature", "0", "--backend", "cpu"];
        self.cards.run("generate", &request).succeeded()["text"].to_string()
    }
}
