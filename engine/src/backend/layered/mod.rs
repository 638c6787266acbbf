//! Memory in layers: cards compute the first layers with their keys and values and the experts that they hold, the CPU computes the rest from RAM.
//!
//! A token's experts are chosen where the layer's dense part is; its rows go through those of the card there and through the others on the CPU at the same
//! time, and the sums meet on the card. Layers in RAM are the last ones, so activations are handed over once.

mod experts;
mod placed;
mod placement;

pub use experts::{Divided, OnCard};
pub use placed::Placed;
pub use placement::Placement;

use super::cpu::{self, Cpu};
use super::hip::{self, Error, Hip};
use super::{Backend, Part};
use crate::gguf::{Gguf, Tensor};
use crate::model::{Batch, Experts, Turns};
use Placed::{Card, Ram};
use placed::sure;
use std::sync::Arc;

/// Cards and the CPU together.
pub struct Layered {
    cards: Hip,
    cpu: Cpu,
    placement: Placement,
}

/// Keys and values: of each layer where it is computed.
pub struct Cache {
    card: hip::Cache,
    ram: cpu::Cache,
}

/// What a step works on, for both.
pub struct Step {
    card: hip::Step,
    ram: cpu::Step,
}

type Matrix = Placed<OnCard, cpu::Matrix>;
type Vector = Placed<hip::Vector, Vec<f32>>;
type Buffer = Placed<hip::Buffer, Vec<f32>>;

impl Layered {
    /// `cards` compute the parts that `placement` gives them, `cpu` the others.
    pub fn new(cards: Hip, cpu: Cpu, placement: Placement) -> Self {
        Self { cards, cpu, placement }
    }

    /// The cards, as a user knows them.
    pub fn describe(&self) -> String {
        self.cards.describe()
    }

    /// The number of a layer among those in RAM, if it is there.
    fn in_ram(&self, layer: usize) -> Option<usize> {
        layer.checked_sub(self.placement.layers)
    }
}

impl Backend for Layered {
    type Matrix = Matrix;
    type Vector = Vector;
    type Buffer = Buffer;
    type Cache = Cache;
    type Step = Step;
    type Error = Error;

    fn matrix(&self, part: Part, gguf: &Arc<Gguf>, tensor: &Tensor) -> Result<Matrix, Error> {
        if !self.placement.is_on_cards(part) {
            return sure(self.cpu.matrix(part, gguf, tensor)).map(Ram);
        }
        match part {
            Part::Experts(layer) => self.experts(layer, gguf, tensor).map(Card),
            _ => self.cards.matrix(part, gguf, tensor).map(OnCard::Whole).map(Card),
        }
    }

    fn vector(&self, part: Part, numbers: &[f32]) -> Result<Vector, Error> {
        match self.placement.is_on_cards(part) {
            true => self.cards.vector(part, numbers).map(Card),
            false => sure(self.cpu.vector(part, numbers)).map(Ram),
        }
    }

    fn cache(
        &self,
        layers: usize,
        slots: usize,
        context: usize,
        kv_heads: usize,
        head_dim: usize,
    ) -> Result<Cache, Error> {
        let on_cards = self.placement.layers.min(layers);
        Ok(Cache {
            card: self.cards.cache(on_cards, slots, context, kv_heads, head_dim)?,
            ram: sure(self.cpu.cache(layers - on_cards, slots, context, kv_heads, head_dim))?,
        })
    }

    fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.cards.run(|| self.cpu.run(work))
    }

    fn step(&self, batch: &Batch, turns: Turns) -> Result<Step, Error> {
        Ok(Step { card: self.cards.step(batch, turns.clone())?, ram: sure(self.cpu.step(batch, turns))? })
    }

    fn compute(
        &self,
        cache: &mut Cache,
        step: &Step,
        work: impl Fn(&mut Cache) -> Result<Option<Buffer>, Error>,
    ) -> Result<Vec<f32>, Error> {
        self.cards.begin(&cache.card, &step.card)?;
        match work(cache)? {
            Some(Card(out)) => self.cards.read(&out),
            Some(Ram(out)) => Ok(out),
            None => Ok(Vec::new()),
        }
    }

    fn carry(&self, x: &mut Buffer, part: Part) -> Result<(), Error> {
        let is_on_cards = self.placement.is_on_cards(part);
        match x {
            Card(rows) if is_on_cards => self.cards.carry(rows, part)?,
            Card(rows) => *x = Ram(self.cards.read(rows)?),
            Ram(rows) if is_on_cards => *x = Card(self.cards.write(part, rows)?),
            Ram(_) => {}
        }
        Ok(())
    }

    fn are_together(&self, one: Part, other: Part) -> bool {
        match (self.placement.is_on_cards(one), self.placement.is_on_cards(other)) {
            (true, true) => self.cards.are_together(one, other),
            (one, other) => one == other,
        }
    }

    fn embed(&self, table: &Matrix, step: &Step) -> Result<Buffer, Error> {
        match table {
            Card(table) => self.cards.embed(table.whole(), &step.card).map(Card),
            Ram(table) => sure(self.cpu.embed(table, &step.ram)).map(Ram),
        }
    }

    fn pick(&self, x: &Buffer, width: usize, step: &Step) -> Result<Buffer, Error> {
        match x {
            Card(x) => self.cards.pick(x, width, &step.card).map(Card),
            Ram(x) => sure(self.cpu.pick(x, width, &step.ram)).map(Ram),
        }
    }

    fn rms_norm(&self, x: &Buffer, weight: &Vector, epsilon: f32) -> Result<Buffer, Error> {
        match weight {
            Card(weight) => self.cards.rms_norm(x.card(), weight, epsilon).map(Card),
            Ram(weight) => sure(self.cpu.rms_norm(x.ram(), weight, epsilon)).map(Ram),
        }
    }

    fn multiply(&self, matrix: &Matrix, x: &Buffer) -> Result<Buffer, Error> {
        match matrix {
            Card(matrix) => self.cards.multiply(matrix.whole(), x.card()).map(Card),
            Ram(matrix) => sure(self.cpu.multiply(matrix, x.ram())).map(Ram),
        }
    }

    fn add(&self, x: &mut Buffer, y: &Buffer) -> Result<(), Error> {
        match x {
            Card(x) => self.cards.add(x, y.card()),
            Ram(x) => sure(self.cpu.add(x, y.ram())),
        }
    }

    fn add_to_rows(&self, x: &mut Buffer, vector: &Vector) -> Result<(), Error> {
        match x {
            Card(x) => self.cards.add_to_rows(x, vector.card()),
            Ram(x) => sure(self.cpu.add_to_rows(x, vector.ram())),
        }
    }

    fn turn(&self, x: &mut Buffer, head_dim: usize, heads: usize, step: &Step) -> Result<(), Error> {
        match x {
            Card(x) => self.cards.turn(x, head_dim, heads, &step.card),
            Ram(x) => sure(self.cpu.turn(x, head_dim, heads, &step.ram)),
        }
    }

    fn store(
        &self,
        cache: &mut Cache,
        layer: usize,
        step: &Step,
        key: &Buffer,
        value: &Buffer,
    ) -> Result<(), Error> {
        match self.in_ram(layer) {
            None => self.cards.store(&mut cache.card, layer, &step.card, key.card(), value.card()),
            Some(layer) => sure(self.cpu.store(&mut cache.ram, layer, &step.ram, key.ram(), value.ram())),
        }
    }

    fn attend(
        &self,
        cache: &Cache,
        layer: usize,
        step: &Step,
        query: &Buffer,
        heads: usize,
    ) -> Result<Buffer, Error> {
        match self.in_ram(layer) {
            None => self.cards.attend(&cache.card, layer, &step.card, query.card(), heads).map(Card),
            Some(layer) => sure(self.cpu.attend(&cache.ram, layer, &step.ram, query.ram(), heads)).map(Ram),
        }
    }

    fn gated(&self, gate: &Matrix, up: &Matrix, x: &Buffer) -> Result<Buffer, Error> {
        match gate {
            Card(gate) => self.cards.gated(gate.whole(), up.card().whole(), x.card()).map(Card),
            Ram(gate) => sure(self.cpu.gated(gate, up.ram(), x.ram())).map(Ram),
        }
    }

    fn mix_experts(
        &self,
        layer: usize,
        scores: &Buffer,
        experts: Experts,
        weights: [&Matrix; 3],
        x: &Buffer,
    ) -> Result<Buffer, Error> {
        if self.in_ram(layer).is_some() {
            let weights = weights.map(Placed::ram);
            return sure(self.cpu.mix_experts(layer, scores.ram(), experts, weights, x.ram())).map(Ram);
        }
        self.mix(layer, scores.card(), experts, weights.map(Placed::card), x.card()).map(Card)
    }
}
