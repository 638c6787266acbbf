use super::{Element, ShapeError, threads};
use rayon::prelude::*;

/// Which two elements of a head are rotated together. Upstream's `rotate_style` has the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeStyle {
    /// Element `i` and element `i + rotary_dim / 2`.
    Neox,
    /// Elements `2 i` and `2 i + 1`; GPT-J's.
    Interleaved,
}

/// A rotary embedding. Both tables are `[position, rotary_dim / 2]`: upstream's layout with `reuse_freqs_front_part`.
#[derive(Debug, Clone, Copy)]
pub struct Rope<'a, C> {
    /// Cosines.
    pub cos: &'a [C],
    /// Sines.
    pub sin: &'a [C],
    /// Elements of a head that are rotated; even, and at most the head dim.
    pub rotary_dim: usize,
    /// Which elements belong together.
    pub style: RopeStyle,
    /// Whether the elements that are not rotated come first in a head; else they come last.
    pub nope_first: bool,
}

impl<C: Element> Rope<'_, C> {
    /// Positions that the tables have.
    pub fn positions(&self) -> usize {
        self.cos.len().checked_div(self.rotary_dim / 2).unwrap_or(0)
    }

    pub(super) fn check(&self, head_dim: usize, last_position: Option<usize>) -> Result<(), ShapeError> {
        let Self { rotary_dim, .. } = *self;
        if !rotary_dim.is_multiple_of(2) || rotary_dim > head_dim || rotary_dim == 0 {
            return Err(ShapeError {
                argument: "rotary_dim",
                expected: format!("an even number, at most the head dim of {head_dim}"),
                found: rotary_dim.to_string(),
            });
        }
        ShapeError::length("cos", self.positions() * (rotary_dim / 2), self.cos.len())?;
        ShapeError::length("sin", self.cos.len(), self.sin.len())?;
        let positions = self.positions();
        match last_position.filter(|&last| last >= positions) {
            None => Ok(()),
            Some(last) => Err(ShapeError {
                argument: "positions",
                expected: format!("below the {positions} of cos and sin"),
                found: last.to_string(),
            }),
        }
    }

    /// Rotates one head.
    pub(super) fn rotate(&self, position: usize, head: &mut [f32]) {
        let half = self.rotary_dim / 2;
        let first = if self.nope_first { head.len() - self.rotary_dim } else { 0 };
        let rotated = &mut head[first..first + self.rotary_dim];
        for i in 0..half {
            let (a, b) = match self.style {
                RopeStyle::Neox => (i, i + half),
                RopeStyle::Interleaved => (2 * i, 2 * i + 1),
            };
            let (cos, sin) = (self.cos[position * half + i].to_f32(), self.sin[position * half + i].to_f32());
            (rotated[a], rotated[b]) =
                (rotated[a] * cos - rotated[b] * sin, rotated[b] * cos + rotated[a] * sin);
        }
    }
}

/// `input`, `[row, head, head dim]`, with each row rotated by its position.
///
/// # Errors
/// [`ShapeError`]: `rotary_dim` that is odd or larger than the head dim, tables that are no whole rows, an `input` without whole rows, or
/// a position that the tables do not have.
pub fn rope<T: Element, C: Element>(
    rope: &Rope<'_, C>,
    input: &[T],
    positions: &[usize],
    heads: usize,
    head_dim: usize,
) -> Result<Vec<f32>, ShapeError> {
    ShapeError::length("input", positions.len() * heads * head_dim, input.len())?;
    rope.check(head_dim, positions.iter().copied().max())?;
    let mut out: Vec<f32> = input.iter().map(|x| x.to_f32()).collect();
    let by_head = out.par_chunks_mut(head_dim).enumerate();
    threads::for_each(by_head, |(i, head)| rope.rotate(positions[i / heads], head));
    Ok(out)
}
