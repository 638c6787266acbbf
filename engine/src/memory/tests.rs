//! Plans of made-up models on made-up machines.

use super::*;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

fn dense() -> Needs {
    let layer = Layer { dense: 200 * MIB, experts: 0 };
    Needs {
        layers: vec![layer; 32],
        embedding: 500 * MIB,
        output: 500 * MIB,
        experts: 0,
        uses: None,
        kv: 4096,
        scratch: 100 * MIB,
    }
}

fn mixture() -> Needs {
    let layer = Layer { dense: 40 * MIB, experts: 640 * MIB };
    Needs {
        layers: vec![layer; 48],
        embedding: 300 * MIB,
        output: 300 * MIB,
        experts: 128,
        uses: None,
        kv: 2048,
        scratch: 100 * MIB,
    }
}

/// Odd experts are used more often, and those of later layers more than of earlier ones.
fn hot() -> Needs {
    let layer =
        |layer: u64| (0..128).map(|expert| if expert % 2 == 1 { 1000 + layer } else { layer }).collect();
    Needs { uses: Some((0..48).map(layer).collect()), ..mixture() }
}

fn card(number: u32, gib: u64, is_integrated: bool) -> Card {
    let target = gfx::Target::parse("gfx1100").ok();
    Card {
        number,
        name: "RX 7900 XTX".to_owned(),
        target,
        cannot_run: None,
        is_integrated,
        free: gib * GIB,
        budget: None,
    }
}

const WISH: Wish = Wish { context: 8192, parallel: 4, card_reserve: 700 * MIB, ram_reserve: 512 * MIB };

fn printed(needs: &Needs, cards: &[Card], ram: u64, wish: Wish) -> String {
    let cards: Vec<&Card> = cards.iter().collect();
    let plan = Plan::new(needs, &cards, Some(ram), wish);
    let remedies = if plan.fits() { Vec::new() } else { remedies(needs, &cards, Some(ram), &plan) };
    for place in &plan.places[..cards.len()] {
        assert!(place.fits(), "a card is never given too much: {place:?}");
    }
    let layers: usize = plan.places.iter().map(|place| place.layers.len()).sum();
    assert_eq!(layers, needs.layers.len());
    table(&plan, &remedies)
}

#[test]
fn plans_are_tables_that_end_in_their_verdict() {
    let two = [card(0, 8, false), card(1, 4, false)];
    let budget = Card { budget: Some(3 * GIB), ..card(0, 24, false) };
    let cases = [
        ("no card", printed(&dense(), &[], 24 * GIB, WISH)),
        ("no card, too little RAM", printed(&dense(), &[], 8 * GIB, WISH)),
        ("no card, weights alone are too much", printed(&dense(), &[], 4 * GIB, WISH)),
        ("one card holds all", printed(&dense(), &[card(0, 24, false)], 8 * GIB, WISH)),
        ("two cards share the layers", printed(&dense(), &two, 8 * GIB, WISH)),
        ("experts: layer by layer", printed(&mixture(), &[card(0, 16, false)], 32 * GIB, WISH)),
        ("experts: the hottest in VRAM", printed(&hot(), &[card(0, 16, false)], 32 * GIB, WISH)),
        ("experts of some layers", printed(&mixture(), &[card(0, 3, false)], 48 * GIB, WISH)),
        ("an integrated card's memory is RAM", printed(&dense(), &[card(0, 12, true)], 16 * GIB, WISH)),
        ("on Windows the budget counts", printed(&dense(), &[budget], 24 * GIB, WISH)),
    ];
    let text: Vec<String> = cases.into_iter().map(|(name, table)| format!("{name}\n{table}")).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn every_remedy_is_one() {
    for (needs, ram) in [(dense(), 8), (dense(), 9), (mixture(), 30), (mixture(), 32), (dense(), 4)] {
        let ram = Some(ram * GIB);
        let plan = Plan::new(&needs, &[], ram, WISH);
        if plan.fits() {
            continue;
        }
        let settings = remedies(&needs, &[], ram, &plan);
        assert_eq!(settings.len(), 3);
        for setting in settings {
            let fits = match setting {
                Setting::Context(context) => Plan::new(&needs, &[], ram, Wish { context, ..WISH }).fits(),
                Setting::Parallel(parallel) => Plan::new(&needs, &[], ram, Wish { parallel, ..WISH }).fits(),
                Setting::Free(bytes) => Plan::new(&needs, &[], ram.map(|ram| ram + bytes), WISH).fits(),
                Setting::Card(bytes) => {
                    let card = card(0, bytes / GIB, false);
                    Plan::new(&needs, &[&card], ram, WISH).fits()
                }
                Setting::ModelAndContext(bytes, context) => {
                    let short = Plan::new(&needs, &[], ram, Wish { context, ..WISH });
                    plan.weights - bytes >= short.missing()
                }
                Setting::Model(bytes) => plan.weights - bytes >= plan.missing(),
            };
            assert!(fits, "{setting:?}");
        }
    }
}

#[test]
fn a_card_with_no_room_holds_nothing() {
    let tiny = Card { free: 100 * MIB, ..card(0, 0, false) };
    let plan = Plan::new(&dense(), &[&tiny], Some(64 * GIB), WISH);
    assert!(plan.places[0].layers.is_empty() && plan.fits());
    assert_eq!(plan.places[1].layers.len(), 32);
}

#[test]
fn the_hottest_experts_are_on_the_card_and_without_counts_whole_layers() {
    let plan = |needs: &Needs| Plan::new(needs, &[&card(0, 16, false)], Some(64 * GIB), WISH);
    let (by_order, hottest) = (plan(&mixture()), plan(&hot()));
    let resident = |plan: &Plan| plan.cards()[0].resident.clone();
    let all: Vec<usize> = (0..128).collect();
    let (last, part) = resident(&by_order).pop_last().expect("a layer");
    assert!(resident(&by_order).range(..last).all(|(_, experts)| *experts == all));
    assert!(part.len() < 128 && part == all[..part.len()] && last < 47);
    // All odd ones of the last layers, none that is even.
    let odd: Vec<usize> = (0..64).map(|number| 2 * number + 1).collect();
    assert_eq!(resident(&hottest)[&47], odd);
    assert!(resident(&hottest).values().flatten().all(|expert| expert % 2 == 1));
    let count = |plan: &Plan| resident(plan).values().map(Vec::len).sum::<usize>();
    assert_eq!(count(&by_order), count(&hottest));
}

#[test]
fn layers_in_ram_are_the_last_ones() {
    // The third layer does not fit, the fourth would.
    let layer = |mib| Layer { dense: mib * MIB, experts: 0 };
    let layers = vec![layer(200), layer(200), layer(900), layer(10)];
    let needs = Needs { layers, kv: 0, ..dense() };
    let small = Card { free: 1500 * MIB, ..card(0, 0, false) };
    let plan = Plan::new(&needs, &[&small], Some(64 * GIB), WISH);
    assert_eq!((&plan.cards()[0].layers[..], &plan.memory().layers[..]), (&[0, 1][..], &[2, 3][..]));
    assert!(plan.memory().has_embedding && !plan.is_on_cards());
}

#[test]
fn sizes_beyond_all_numbers_do_not_fit() {
    let needs = Needs { kv: u64::MAX / 2, ..dense() };
    let wish = Wish { context: 1 << 24, parallel: 65_535, card_reserve: 0, ram_reserve: 0 };
    let cards = [card(0, 16, false)];
    let plan = Plan::new(&needs, &[&cards[0]], Some(64 << 30), wish);
    assert!(!plan.fits() && plan.memory().layers.len() == 32, "{plan:?}");
}

/// The card of the first layer has the table: no other would be asked for it.
#[test]
fn the_table_lies_where_the_first_layer_is() {
    let small = |mib: u64| Card { free: mib * MIB, ..card(0, 1, false) };
    let large = card(1, 24, false);
    // Too little for a layer; enough for the table and no layer, or for a layer and no table.
    for (mib, table) in [(1100, Some(1)), (1400, None)] {
        let cards = [&small(mib), &large];
        let plan = Plan::new(&dense(), &cards, Some(64 * GIB), WISH);
        assert!(plan.fits());
        assert_eq!(plan.cards().iter().position(|card| card.has_embedding), table, "{mib}");
        assert_eq!(plan.memory().has_embedding, table.is_none(), "{mib}");
        let first = plan.cards().iter().position(|card| card.layers.first() == Some(&0));
        assert!(table.is_none() || first == table, "{mib}");
    }
}
