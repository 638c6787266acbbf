//! What the attention kernels share: problems, their tensors, and the comparison.

use super::{Number, difference};
use crate::Measured;
use crate::sample::Sample;
use aiter_kernels::catalogue::DataType;
use aiter_kernels::reference::{Attention, Mask, Origin, Sequence, attention};
use gfx_sim::Memory;
use std::fmt;

/// An attention problem, without its head dim.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem {
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    /// Queries and keys of each sequence.
    pub(super) sequences: &'static [(usize, usize)],
    pub(super) mask: Mask,
    /// Soft cap of the scores; 0: none.
    pub(super) cap: f32,
    /// Sequences of as many queries or fewer are left out; those that have some come last.
    pub(super) min_queries: usize,
}

pub(super) const CAUSAL_TOP: Mask = Mask::causal(Origin::TopLeft);
pub(super) const CAUSAL_BOTTOM: Mask = Mask::causal(Origin::BottomRight);
pub(super) const SLIDING: Mask = Mask::Window { left: Some(20), right: Some(5), origin: Origin::BottomRight };
pub(super) const OPEN: Mask = Mask::None;

pub(super) const fn problem(
    (heads, kv_heads): (usize, usize),
    sequences: &'static [(usize, usize)],
    mask: Mask,
    cap: f32,
) -> Problem {
    Problem { heads, kv_heads, sequences, mask, cap, min_queries: 0 }
}

impl Problem {
    /// The same without sequences of as many queries or fewer.
    pub(super) const fn without(self, min_queries: usize) -> Self {
        Self { min_queries, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths: Vec<String> = self.sequences.iter().map(|(q, k)| format!("{q}x{k}")).collect();
        write!(f, "{}/{} heads {}", self.heads, self.kv_heads, lengths.join("+"))?;
        if let Mask::Window { left, right, origin } = self.mask {
            let side = |side: Option<usize>| side.map_or("all".to_owned(), |keys| keys.to_string());
            let origin = if origin == Origin::TopLeft { "top left" } else { "bottom right" };
            write!(f, " window {},{} from the {origin}", side(left), side(right))?;
        }
        if self.cap > 0.0 {
            write!(f, " cap {}", self.cap)?;
        }
        if self.min_queries > 0 {
            write!(f, " without those of {}", self.min_queries)?;
        }
        Ok(())
    }
}

/// How `[row, head, head dim]` lies in memory: with gaps, as a part of a fused projection does, and no number in them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gaps {
    heads: usize,
    head_dim: usize,
}

impl Gaps {
    /// Elements behind a head and behind a row: vectors of 16 bytes of every type.
    const HEAD: usize = 16;
    const ROW: usize = 32;

    pub(super) const fn new(heads: usize, head_dim: usize) -> Self {
        Self { heads, head_dim }
    }

    /// Elements from one head to the next.
    pub(super) const fn head(self) -> usize {
        self.head_dim + Self::HEAD
    }

    /// Elements from one row to the next.
    pub(super) const fn row(self) -> usize {
        self.heads * self.head() + Self::ROW
    }

    /// Where the elements of rows without gaps lie.
    fn places(self, count: usize) -> impl Iterator<Item = usize> {
        let head = move |i: usize| i / self.head_dim;
        (0..count).map(move |i| {
            head(i) / self.heads * self.row() + head(i) % self.heads * self.head() + i % self.head_dim
        })
    }

    /// Rows without gaps with them.
    pub(super) fn spread<T: Number>(self, numbers: &[T]) -> Vec<T> {
        let rows = numbers.len() / (self.heads * self.head_dim);
        let mut spread = vec![T::from_f32(f32::NAN); rows * self.row()];
        self.places(numbers.len()).zip(numbers).for_each(|(place, number)| spread[place] = *number);
        spread
    }

    /// The numbers of an output of `rows` rows without the gaps; says what was not written of `written` rows, and what was beside them.
    pub(super) fn gathered<T: Number>(
        self,
        memory: &Memory,
        address: u64,
        written: usize,
    ) -> Result<Vec<f32>, String> {
        let (numbers, mut stored) = (memory.numbers::<T>(address), memory.stored::<T>(address));
        let mut found = Vec::new();
        for place in self.places(written * self.heads * self.head_dim) {
            if !std::mem::take(&mut stored[place]) {
                return Err(format!("element {place} of an output was not written"));
            }
            found.push(numbers[place].to_f32());
        }
        match stored.iter().position(|is_stored| *is_stored) {
            Some(place) => Err(format!("element {place} of an output was written and is a gap")),
            None => Ok(found),
        }
    }
}

/// q, k and v, `[row of all sequences, head, head dim]`.
pub(super) struct Tensors<T> {
    pub(super) q: Vec<T>,
    pub(super) k: Vec<T>,
    pub(super) v: Vec<T>,
}

impl Problem {
    pub(super) fn queries(&self) -> usize {
        self.sequences.iter().map(|(queries, _)| queries).sum()
    }

    /// The rows of q whose outputs are written.
    pub(super) fn written(&self) -> usize {
        self.computed().map(|sequence| sequence.queries).sum()
    }

    /// The sequences that are not left out. One without a query has nothing to leave out, and keys to step over.
    fn computed(&self) -> impl Iterator<Item = Sequence> {
        let is_computed = |queries: usize| queries == 0 || queries > self.min_queries;
        let sequences = self.sequences.iter().map(|&(queries, keys)| Sequence { queries, keys });
        sequences.filter(move |sequence| is_computed(sequence.queries))
    }

    pub(super) fn longest(&self) -> (usize, usize) {
        let most = |of: fn(&(usize, usize)) -> usize| self.sequences.iter().map(of).max().unwrap_or(0);
        (most(|s| s.0), most(|s| s.1))
    }

    pub(super) fn keys(&self) -> Vec<i32> {
        self.sequences.iter().map(|(_, keys)| *keys as i32).collect()
    }

    /// Where the rows of each sequence start, and where the last ends.
    pub(super) fn offsets(&self, of: fn(&(usize, usize)) -> usize) -> Vec<i32> {
        let mut sum = 0;
        let ends = self.sequences.iter().map(|sequence| {
            sum += of(sequence) as i32;
            sum
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// Left, right and origin as argument blocks spell them.
    pub(super) fn window(&self) -> (i32, i32, i32) {
        let side = |side: Option<usize>| side.map_or(-1, |keys| keys as i32);
        match self.mask {
            Mask::None => (-1, -1, 1),
            Mask::Window { left, right, origin } => {
                (side(left), side(right), if origin == Origin::TopLeft { 1 } else { 2 })
            }
        }
    }

    /// Numbers of unit variance.
    pub(super) fn tensors<T: Number>(&self, head_dim: usize) -> Tensors<T> {
        let mut sample = Sample::new(7);
        let keys: usize = self.sequences.iter().map(|(_, keys)| keys).sum();
        let mut tensor = |rows: usize, heads: usize| sample.numbers(rows * heads * head_dim, 1.0, 0.0);
        Tensors {
            q: tensor(self.queries(), self.heads),
            k: tensor(keys, self.kv_heads),
            v: tensor(keys, self.kv_heads),
        }
    }

    /// Holds o `[row, head, head dim]` and lse `[head, row]` against the reference.
    pub(super) fn judge<T: Number>(
        &self,
        data_type: DataType,
        head_dim: usize,
        tensors: &Tensors<T>,
        o: &[f32],
        lse: &[f32],
    ) -> Result<Vec<Measured>, String> {
        // What is left out comes last: the others' rows are the first ones.
        let sequences: Vec<_> = self.computed().collect();
        let keys = sequences.iter().map(|sequence| sequence.keys).sum::<usize>() * self.kv_heads * head_dim;
        let q = &tensors.q[..self.written() * self.heads * head_dim];
        let reference = Attention {
            sequences,
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_dim,
            scale: scale(head_dim),
            logits_soft_cap: self.cap,
            mask: self.mask,
        };
        let expected = attention(&reference, q, &tensors.k[..keys], &tensors.v[..keys])
            .map_err(|error| error.to_string())?;
        // The weights of the softmax are rounded to the type of v: e4m3 has steps of an eighth, so that a weight errs by a sixteenth at most.
        let bound = match data_type {
            DataType::Bf16 => 0.01,
            DataType::F16 | DataType::F32 => 0.002,
            DataType::E4m3 => 0.08,
        };
        Ok(vec![
            Measured { what: "o", error: difference(o, &expected.o), bound },
            Measured { what: "lse", error: difference(lse, &expected.lse), bound: 1e-3 },
        ])
    }
}

pub(super) fn scale(head_dim: usize) -> f32 {
    (head_dim as f32).sqrt().recip()
}
