//! Where everything goes, before any of it is loaded. A pure function of the model, the machine and the wish.

use super::devices::Card;
use super::needs::Needs;
use std::collections::BTreeMap;

/// Bytes of a layer's keys and values that are told apart: more than any place has, and few enough for sums of them.
const MOST: u64 = 1 << 42;

/// What is wanted of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    /// Tokens of each sequence.
    pub context: u64,
    /// Sequences at once.
    pub parallel: u64,
    /// Bytes that are left free on each card, for desktop and driver.
    pub card_reserve: u64,
    /// Bytes of RAM that are left free.
    pub ram_reserve: u64,
}

/// What one place holds, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// `RAM`, or a card.
    pub name: String,
    /// What there is, if it is known.
    pub usable: Option<u64>,
    /// What is left free.
    pub reserve: u64,
    /// Layers, by number, that are computed here: they follow each other.
    pub layers: Vec<usize>,
    /// Whether the table of tokens is here.
    pub has_embedding: bool,
    /// Whether the output is here.
    pub has_output: bool,
    /// Weights but experts.
    pub dense: u64,
    /// Experts.
    pub experts: u64,
    /// On a card: which experts of which layer, by their numbers.
    pub resident: BTreeMap<usize, Vec<usize>>,
    /// Keys and values.
    pub kv: u64,
    /// Buffers.
    pub scratch: u64,
    /// What an integrated card holds of this memory.
    pub shared: u64,
}

impl Place {
    /// All of it, with the reserve.
    pub fn total(&self) -> u64 {
        self.dense + self.experts + self.kv + self.scratch + self.shared + self.reserve
    }

    /// Whether it can hold that. What is not known is taken as enough.
    pub fn fits(&self) -> bool {
        self.usable.is_none_or(|usable| self.total() <= usable)
    }

    fn is_empty(&self) -> bool {
        self.layers.is_empty() && self.dense + self.experts == 0
    }

    fn room(&self) -> u64 {
        self.usable.map_or(u64::MAX, |usable| usable.saturating_sub(self.total()))
    }
}

/// Where everything goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// What was wanted.
    pub wish: Wish,
    /// The cards, then RAM.
    pub places: Vec<Place>,
    /// Size of the weights.
    pub weights: u64,
    /// Whether experts were chosen by how often they were used; else by the order of their layers.
    pub are_experts_counted: bool,
}

impl Plan {
    /// Plans `needs` for `cards` and `ram` bytes of RAM (`None`: not known).
    ///
    /// Layers go to the cards in order, each as many as its share of the room; from the first that finds none on they are computed on the CPU. Experts
    /// have their home in RAM; what is left on a card takes the hottest of its layers, and those count there and not in RAM. The table of tokens, which is
    /// only looked up, lies on a card where everything does.
    pub fn new(needs: &Needs, cards: &[&Card], ram: Option<u64>, wish: Wish) -> Self {
        // The card of the first layer has the table, and which one that is depends on the room that the table leaves.
        let whole =
            (0..cards.len()).map(|card| (card, Self::with_table(needs, cards, ram, wish, Some(card))));
        let mut good =
            whole.filter(|(card, plan)| plan.is_on_cards() && plan.places[*card].layers.first() == Some(&0));
        good.next().map_or_else(|| Self::with_table(needs, cards, ram, wish, None), |(_, plan)| plan)
    }

    /// `table`: the card that has the table of tokens, if one does.
    fn with_table(
        needs: &Needs,
        cards: &[&Card],
        ram: Option<u64>,
        wish: Wish,
        table: Option<usize>,
    ) -> Self {
        let mut places: Vec<Place> = cards.iter().map(|card| place_of(card, needs, wish)).collect();
        let mut memory = Place {
            name: "RAM".to_owned(),
            usable: ram,
            reserve: wish.ram_reserve,
            scratch: needs.scratch,
            ..Place::default()
        };
        let table = table.map(|card| &mut places[card]).filter(|card| needs.embedding <= card.room());
        let table = table.unwrap_or(&mut memory);
        table.dense += needs.embedding;
        table.has_embedding = true;
        let kv = needs.kv.saturating_mul(wish.context).saturating_mul(wish.parallel).min(MOST);
        spread(needs, kv, &mut places, &mut memory);
        for place in &mut places {
            keep_experts(needs, place);
        }
        let all: u64 = needs.layers.iter().map(|layer| layer.experts).sum();
        memory.experts = all - places.iter().map(|place| place.experts).sum::<u64>();
        // An integrated card's memory is the same RAM: it is counted there too, and the reserve of it once.
        let integrated = places.iter().zip(cards).filter(|(_, card)| card.is_integrated);
        memory.shared = integrated.map(|(place, _)| place.total() - place.reserve).sum();
        places.push(memory);
        Self { wish, places, weights: needs.weights(), are_experts_counted: needs.uses.is_some() }
    }

    /// Whether every place can hold its part.
    pub fn fits(&self) -> bool {
        self.places.iter().all(Place::fits)
    }

    /// RAM.
    pub fn memory(&self) -> &Place {
        &self.places[self.places.len() - 1]
    }

    /// The cards.
    pub fn cards(&self) -> &[Place] {
        &self.places[..self.places.len() - 1]
    }

    /// Whether the cards hold the whole model.
    pub fn is_on_cards(&self) -> bool {
        !self.cards().is_empty() && self.memory().is_empty() && self.fits()
    }

    /// How many layers each card computes.
    pub fn layers_of_cards(&self) -> impl Iterator<Item = usize> {
        self.cards().iter().map(|card| card.layers.len())
    }

    /// Bytes that are missing, over all places.
    pub fn missing(&self) -> u64 {
        let missing = |place: &Place| place.usable.map_or(0, |usable| place.total().saturating_sub(usable));
        self.places.iter().map(missing).sum()
    }
}

fn place_of(card: &Card, needs: &Needs, wish: Wish) -> Place {
    Place {
        name: format!("device {} ({})", card.number, card.name),
        usable: Some(card.usable()),
        reserve: wish.card_reserve.min(card.usable()),
        scratch: needs.scratch.min(card.usable().saturating_sub(wish.card_reserve)),
        ..Place::default()
    }
}

/// Gives every layer, and then the output, a place.
fn spread(needs: &Needs, kv: u64, places: &mut [Place], memory: &mut Place) {
    let wanted: u64 = needs.layers.iter().map(|layer| layer.dense + kv).sum::<u64>() + needs.output;
    let rooms: Vec<u64> = places.iter().map(Place::room).collect();
    let room: u64 = rooms.iter().sum();
    let share = |number: usize| {
        if wanted >= room {
            rooms[number]
        } else {
            (u128::from(wanted) * u128::from(rooms[number]) / u128::from(room)) as u64
        }
    };
    let (mut at, mut used) = (0, 0);
    for (number, layer) in needs.layers.iter().enumerate() {
        let size = layer.dense + kv;
        // A share that a layer straddles is rounded up where there is room; the last card takes what is left.
        while at + 1 < places.len() && (used >= share(at) || size > places[at].room()) {
            (at, used) = (at + 1, 0);
        }
        // Layers in RAM are the last ones: activations are handed over once.
        let on_card = places.get_mut(at).filter(|place| size <= place.room() && memory.layers.is_empty());
        let place = on_card.unwrap_or(memory);
        place.layers.push(number);
        place.dense += layer.dense;
        place.kv += kv;
        used += size;
    }
    let last = places.last_mut().filter(|place| needs.output <= place.room());
    let last = last.unwrap_or(memory);
    last.dense += needs.output;
    last.has_output = true;
}

/// Fills a card's room with experts of its layers: those that were used most, or without counts layer by layer, so that of many layers all are there and no step
/// of theirs waits for the CPU.
fn keep_experts(needs: &Needs, place: &mut Place) {
    let mut room = place.room();
    let all =
        place.layers.iter().flat_map(|layer| (0..needs.experts as usize).map(|expert| (*layer, expert)));
    let mut all: Vec<(usize, usize)> = all.collect();
    if let Some(uses) = &needs.uses {
        all.sort_by_key(|(layer, expert)| std::cmp::Reverse(uses[*layer][*expert]));
    }
    for (layer, expert) in all {
        let size = needs.layers[layer].experts / needs.experts;
        if size <= room {
            room -= size;
            place.experts += size;
            place.resident.entry(layer).or_default().push(expert);
        }
    }
    place.resident.values_mut().for_each(|experts| experts.sort_unstable());
}

/// A setting that would make it fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// `--context N`.
    Context(u64),
    /// `--parallel N`.
    Parallel(u64),
    /// A model file of so many bytes at most.
    Model(u64),
    /// A model file of so many bytes at most, and `--context N` with it.
    ModelAndContext(u64, u64),
    /// So many bytes of memory given back by other programs.
    Free(u64),
    /// Another card, with so many bytes.
    Card(u64),
}

/// Three settings, each of which alone would make it fit.
pub fn remedies(needs: &Needs, cards: &[&Card], ram: Option<u64>, plan: &Plan) -> Vec<Setting> {
    const STEP: u64 = 256;
    let fits = |wish: Wish| Plan::new(needs, cards, ram, wish).fits();
    let wish = plan.wish;
    let steps =
        largest(wish.context.saturating_sub(1) / STEP, |steps| fits(Wish { context: steps * STEP, ..wish }));
    let parallel = largest(wish.parallel.saturating_sub(1), |parallel| fits(Wish { parallel, ..wish }));
    let missing = plan.missing();
    let context = steps.map(|steps| Setting::Context(steps * STEP));
    let model = plan.weights.checked_sub(missing).filter(|left| *left > 0).map(Setting::Model);
    let card = another_card(needs, cards, ram, plan).map(Setting::Card);
    // Where keys and values alone are too much, a smaller model needs a smaller context too.
    let short = Plan::new(needs, cards, ram, Wish { context: STEP.min(wish.context), ..wish });
    let both = plan.weights.checked_sub(short.missing()).filter(|left| *left > 0 && model.is_none());
    let both = both.map(|bytes| Setting::ModelAndContext(bytes, short.wish.context));
    let all = [context, parallel.map(Setting::Parallel), model, both, Some(Setting::Free(missing)), card];
    all.into_iter().flatten().take(3).collect()
}

/// The size, in whole GiB, of a card that would take what is missing.
fn another_card(needs: &Needs, cards: &[&Card], ram: Option<u64>, plan: &Plan) -> Option<u64> {
    const GIB: u64 = 1 << 30;
    let fits = |gib: &u64| {
        let card = Card {
            number: cards.len() as u32,
            name: String::new(),
            target: None,
            cannot_run: None,
            is_integrated: false,
            free: gib * GIB,
            budget: None,
        };
        let cards: Vec<&Card> = cards.iter().copied().chain([&card]).collect();
        Plan::new(needs, &cards, ram, plan.wish).fits()
    };
    (1..=256).find(fits).map(|gib| gib * GIB)
}

/// The largest number from 1 to `limit` that fits; what is smaller needs less.
fn largest(limit: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut good, mut bad) = (0, limit + 1);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if fits(middle) { good = middle } else { bad = middle }
    }
    (good > 0).then_some(good)
}
