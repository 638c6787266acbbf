//! HIP cards: weights as the file stores them, computed with by the engine's own kernels and those of aiter-kernels.
//!
//! It computes the same graph as the CPU. Layers may be split over several cards of one family: a weight lies on the card of its layer, and
//! activations go to where the next weight is.

mod bell;
mod blas;
mod buffer;
mod cache;
mod card;
mod error;
mod experts;
mod matrix;
mod step;
mod token;

pub use buffer::Buffer;
pub use cache::Cache;
pub use error::Error;
pub use matrix::Matrix;
pub use step::Step;

use super::{Backend, Part};
use crate::catalogue::Catalogue;
use crate::element::Element;
use crate::gguf::{Gguf, Tensor};
use crate::kernels::{Add, Gather, Route};
use crate::model::{Batch, Experts, RopePairs, Turns};
use aiter_kernels::catalogue::{INSTANCES, Operation};
use aiter_kernels::interface::{
    Activation, ElementType, GatedActivation, Kernels, Norm, NormKind, Rope, RopeStyle, RopeTables,
};
use bell::Bell;
use card::Card;
use hip::{DeviceBuffer, Runtime};
use matrix::Output;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use token::Token;

/// Cards that compute together.
pub struct Hip {
    cards: Vec<Card>,
    kernels: Kernels,
    /// The card of each layer, by its place among `cards`; layers beyond lie on the last.
    placement: Vec<usize>,
    /// Whether steps that generate are recorded: on one card whose runtime can.
    records: bool,
    /// How a graph says that it is done.
    bell: Option<Bell>,
    token: Mutex<Token>,
    /// Steps of one model come one after the other: their inputs lie in one place.
    turn: Mutex<()>,
}

/// A vector of f32 on a card.
pub struct Vector {
    card: usize,
    memory: DeviceBuffer,
    len: usize,
}

impl Hip {
    /// The cards with these numbers of HIP, and how many layers each computes, in order. `kernels` is the folder of code objects of a release.
    ///
    /// # Errors
    /// [`Error`]: no card, one that cannot be used, or one that there is no code for.
    pub fn new(runtime: &Runtime, kernels: &Path, cards: &[(u32, usize)]) -> Result<Self, Error> {
        let catalogue = Catalogue::read(kernels)?;
        let of = |(number, _): &(u32, usize)| Card::new(runtime, *number, &catalogue);
        let placement =
            cards.iter().enumerate().flat_map(|(place, (_, layers))| std::iter::repeat_n(place, *layers));
        let placement = placement.collect();
        let cards = cards.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        if cards.is_empty() {
            return Err(Error::NoCard);
        }
        let records = cards.len() == 1 && runtime.has_graphs();
        let kernels = Kernels::with_runtime(runtime.clone(), kernels.to_owned());
        let bell = if records { Bell::new(&cards[0]) } else { None };
        let (token, turn) = (Mutex::default(), Mutex::default());
        Ok(Self { cards, kernels, placement, records, bell, token, turn })
    }

    /// Why no card computes a model of these sizes, if so.
    pub fn refuses(head_dim: usize, experts: Option<Experts>) -> Option<String> {
        let of_attention = INSTANCES.iter().filter(|instance| instance.operation == Operation::FmhaPaged);
        let mut known: Vec<usize> =
            of_attention.filter_map(|instance| Some(instance.attention?.head_dim as usize)).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&head_dim) {
            let known: Vec<String> = known.iter().map(usize::to_string).collect();
            return Some(format!("attention kernels take heads of {}, not of {head_dim}", known.join(", ")));
        }
        let count = experts.map_or(0, |experts| experts.count);
        (count > Route::MOST)
            .then(|| format!("{count} experts are more than the {} that kernels take", Route::MOST))
    }

    /// The cards, as a user knows them: `gfx1201 (device 0)`.
    pub fn describe(&self) -> String {
        let cards = self.cards.iter().map(|card| format!("{} (device {})", card.target, card.number));
        cards.collect::<Vec<_>>().join(", ")
    }

    /// One line a card: which hipBLASLt it uses and how.
    pub fn libraries(&self) -> impl Iterator<Item = String> {
        self.cards.iter().map(|card| format!("device {}: {}", card.number, card.blas_said))
    }

    fn card_of_layer(&self, layer: usize) -> usize {
        self.placement.get(layer).copied().unwrap_or(self.cards.len() - 1)
    }

    fn card_of(&self, part: Part) -> usize {
        match part {
            Part::Embedding => self.card_of_layer(0),
            Part::Layer(layer) | Part::Experts(layer) => self.card_of_layer(layer),
            Part::Output => self.cards.len() - 1,
        }
    }

    fn buffer(&self, card: usize, len: usize) -> Result<Buffer, Error> {
        Ok(Buffer { card, memory: self.cards[card].take(len * 4)?, len })
    }

    /// `x` where `card` can reach it: itself, or a copy.
    fn on<'a>(&self, card: usize, x: &'a Buffer) -> Result<At<'a>, Error> {
        if x.card == card {
            return Ok(At::Here(x));
        }
        let (from, to) = (&self.cards[x.card], &self.cards[card]);
        let mut copy = self.buffer(card, x.len)?;
        // The copy is no work of either stream.
        from.wait()?;
        to.wait()?;
        let done = copy.memory.memory_mut().copy_from(to.number, x.memory.memory(), from.number, x.len * 4);
        to.call(done.and_then(|()| to.runtime.default_stream().synchronize()))?;
        Ok(At::Copied(copy))
    }

    /// Whether some card's inputs moved.
    fn put_inputs(&self, block: &[u8]) -> Result<bool, Error> {
        let moved = self.cards.iter().map(|card| card.put_inputs(block));
        moved.collect::<Result<Vec<_>, _>>().map(|moved| moved.contains(&true))
    }

    /// The numbers of a buffer, when the work before is done.
    pub(super) fn read(&self, x: &Buffer) -> Result<Vec<f32>, Error> {
        let card = &self.cards[x.card];
        card.wait()?;
        Ok(Element::F32.decode(&card.call(x.memory.memory().read_first(x.len * 4))?))
    }

    /// A buffer with these numbers on the card of a part, when the work before is done.
    pub(super) fn write(&self, part: Part, numbers: &[f32]) -> Result<Buffer, Error> {
        let mut buffer = self.buffer(self.card_of(part), numbers.len())?;
        let card = &self.cards[buffer.card];
        card.wait()?;
        card.call(buffer.memory.memory_mut().write(&Element::F32.encode(numbers)))?;
        Ok(buffer)
    }

    /// Prepares the cards for a step that is computed launch by launch.
    pub(super) fn begin(&self, cache: &Cache, step: &Step) -> Result<(), Error> {
        self.put_inputs(&step.block(cache.pages, 0))?;
        self.trim();
        Ok(())
    }

    /// Gives back memory that steps do not need. Nothing is recorded, and all work is done.
    fn trim(&self) {
        self.cards.iter().for_each(|card| card.pool().trim());
    }
}

/// A buffer on the card that needs it.
enum At<'a> {
    Here(&'a Buffer),
    Copied(Buffer),
}

impl std::ops::Deref for At<'_> {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        match self {
            Self::Here(buffer) => buffer,
            Self::Copied(buffer) => buffer,
        }
    }
}

impl Backend for Hip {
    type Matrix = Matrix;
    type Vector = Vector;
    type Buffer = Buffer;
    type Cache = Cache;
    type Step = Step;
    type Error = Error;

    fn matrix(&self, part: Part, gguf: &Arc<Gguf>, tensor: &Tensor) -> Result<Matrix, Error> {
        let card = self.card_of(part);
        Matrix::new(card, &self.cards[card], gguf, tensor)
    }

    fn vector(&self, part: Part, numbers: &[f32]) -> Result<Vector, Error> {
        let card = self.card_of(part);
        let memory = self.cards[card].upload(&Element::F32.encode(numbers))?;
        Ok(Vector { card, memory, len: numbers.len() })
    }

    fn cache(
        &self,
        layers: usize,
        slots: usize,
        context: usize,
        kv_heads: usize,
        head_dim: usize,
    ) -> Result<Cache, Error> {
        Cache::new(self, layers, [slots, context], [kv_heads, head_dim])
    }

    fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    fn step(&self, batch: &Batch, turns: Turns) -> Result<Step, Error> {
        Ok(Step::new(batch, &turns))
    }

    fn compute(
        &self,
        cache: &mut Cache,
        step: &Step,
        work: impl Fn(&mut Cache) -> Result<Option<Buffer>, Error>,
    ) -> Result<Vec<f32>, Error> {
        token::compute(self, cache, step, work)
    }

    fn carry(&self, x: &mut Buffer, part: Part) -> Result<(), Error> {
        if let At::Copied(moved) = self.on(self.card_of(part), x)? {
            *x = moved;
        }
        Ok(())
    }

    fn are_together(&self, one: Part, other: Part) -> bool {
        self.card_of(one) == self.card_of(other)
    }

    fn embed(&self, table: &Matrix, step: &Step) -> Result<Buffer, Error> {
        let (card, count) = (&self.cards[table.card], step.tokens.count);
        let out = self.buffer(table.card, count * table.columns)?;
        table.embed(card, card.input(step.tokens.start), count, out.address())?;
        Ok(out)
    }

    fn pick(&self, x: &Buffer, width: usize, step: &Step) -> Result<Buffer, Error> {
        let card = &self.cards[x.card];
        let out = self.buffer(x.card, step.outputs.count * width)?;
        let rows = card.input(step.outputs.start);
        let count = step.outputs.count;
        card.launch(&Gather { out: out.address(), input: x.address(), rows, columns: width, count }.call())?;
        Ok(out)
    }

    fn rms_norm(&self, x: &Buffer, weight: &Vector, epsilon: f32) -> Result<Buffer, Error> {
        let x = self.on(weight.card, x)?;
        let card = &self.cards[weight.card];
        let mut out = self.buffer(weight.card, x.len)?;
        let shape = [x.len / weight.len, weight.len];
        let call = Norm {
            kind: NormKind::Rms,
            out: card.tensor_mut(ElementType::F32, out.memory.memory_mut(), &shape),
            input: card.tensor(ElementType::F32, x.memory.memory(), &shape),
            residual: None,
            weight: Some(card.tensor(ElementType::F32, &weight.memory, &[weight.len])),
            bias: None,
            epsilon,
        };
        card.kernels(self.kernels.norm(&call, Some(&card.stream)))?;
        drop(call);
        Ok(out)
    }

    fn multiply(&self, matrix: &Matrix, x: &Buffer) -> Result<Buffer, Error> {
        let x = self.on(matrix.card, x)?;
        let out = self.buffer(matrix.card, x.len / matrix.columns * matrix.rows)?;
        matrix.multiply(&self.cards[matrix.card], &x, Output::of(&out, matrix.rows))?;
        Ok(out)
    }

    fn add(&self, x: &mut Buffer, y: &Buffer) -> Result<(), Error> {
        let (place, count) = (x.address(), x.len);
        self.cards[x.card].launch(&Add { out: place, a: place, b: y.address(), count, period: count }.call())
    }

    fn add_to_rows(&self, x: &mut Buffer, vector: &Vector) -> Result<(), Error> {
        let (place, count, b) = (x.address(), x.len, vector.memory.address());
        self.cards[x.card].launch(&Add { out: place, a: place, b, count, period: vector.len }.call())
    }

    fn turn(&self, x: &mut Buffer, head_dim: usize, heads: usize, step: &Step) -> Result<(), Error> {
        let card = &self.cards[x.card];
        let mut out = self.buffer(x.card, x.len)?;
        let shape = [step.tokens.count, 1, heads, head_dim];
        let inputs = card.inputs();
        let angles = |start| {
            let shape = [step.tokens.count, step.dimensions / 2];
            card.tensor(ElementType::F32, &inputs, &shape).at(start)
        };
        let positions = card.tensor(ElementType::I32, &inputs, &[step.tokens.count, 1]).at(step.rows.start);
        let style = match step.pairs {
            RopePairs::Neighbours => RopeStyle::Interleaved,
            RopePairs::Halves => RopeStyle::Neox,
        };
        let (cos, sin) = (angles(step.cosines.start), angles(step.sines.start));
        let call = Rope {
            out: card.tensor_mut(ElementType::F32, out.memory.memory_mut(), &shape),
            input: card.tensor(ElementType::F32, x.memory.memory(), &shape),
            tables: RopeTables { cos, sin, style, nope_first: false },
            positions: Some(positions),
        };
        card.kernels(self.kernels.rope(&call, Some(&card.stream)))?;
        drop(call);
        *x = out;
        Ok(())
    }

    fn store(
        &self,
        cache: &mut Cache,
        layer: usize,
        step: &Step,
        key: &Buffer,
        value: &Buffer,
    ) -> Result<(), Error> {
        cache.store(self, layer, step, [key, value])
    }

    fn attend(
        &self,
        cache: &Cache,
        layer: usize,
        step: &Step,
        query: &Buffer,
        heads: usize,
    ) -> Result<Buffer, Error> {
        cache.attend(self, layer, step, query, heads)
    }

    fn gated(&self, gate: &Matrix, up: &Matrix, x: &Buffer) -> Result<Buffer, Error> {
        let x = self.on(gate.card, x)?;
        let card = &self.cards[gate.card];
        let rows = x.len / gate.columns;
        let both = self.buffer(gate.card, rows * 2 * gate.rows)?;
        gate.multiply(card, &x, Output::half(&both, 0, gate.rows))?;
        up.multiply(card, &x, Output::half(&both, 1, gate.rows))?;
        self.activated(&both, rows, gate.rows)
    }

    fn mix_experts(
        &self,
        _layer: usize,
        scores: &Buffer,
        experts: Experts,
        weights: [&Matrix; 3],
        x: &Buffer,
    ) -> Result<Buffer, Error> {
        self.route(weights[0].card, scores, experts)?.mix(self, weights, x)
    }
}

impl Hip {
    /// `silu(gate) · up` of rows that hold both.
    fn activated(&self, both: &Buffer, rows: usize, width: usize) -> Result<Buffer, Error> {
        let card = &self.cards[both.card];
        let mut out = self.buffer(both.card, rows * width)?;
        let call = GatedActivation {
            activation: Activation::Silu,
            out: card.tensor_mut(ElementType::F32, out.memory.memory_mut(), &[rows, width]),
            input: card.tensor(ElementType::F32, both.memory.memory(), &[rows, 2 * width]),
        };
        card.kernels(self.kernels.gated_activation(&call, Some(&card.stream)))?;
        drop(call);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_do_not_take_is_refused_before_anything_is_loaded() {
        let experts = |count| Some(Experts { count, used: 1, width: 1 });
        let table = [
            (128, None, None),
            (64, experts(1024), None),
            (80, None, Some("attention kernels take heads of 32, 64, 96, 128, 256, not of 80")),
            (64, experts(1025), Some("1025 experts are more than the 1024 that kernels take")),
        ];
        for (head_dim, experts, refusal) in table {
            assert_eq!(Hip::refuses(head_dim, experts).as_deref(), refusal, "{head_dim}");
        }
    }
}
