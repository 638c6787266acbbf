//! Rows of activations, a tile of them side by side.

use super::{Shape, TILE};
use crate::gguf::TensorType;
use crate::quant::{Activations, Form};
use rayon::prelude::*;

/// All rows of activations, for weights of one type.
#[derive(Debug)]
pub struct Tiles {
    /// Numbers of a row.
    pub(super) columns: usize,
    pub(super) tiles: Vec<Tile>,
}

/// A tile of rows; rows that are not there are 0.
#[derive(Debug, Default)]
pub(super) struct Tile {
    /// Floats, column by column: of float types alone.
    pub(super) floats: Vec<[f32; TILE]>,
    /// Four rounded numbers each, as the bytes of an integer.
    pub(super) integers: Vec<[i32; TILE]>,
    /// What is too much in the product of a group, for the offset of the weights, with its sign turned: where summing starts.
    pub(super) starts: Vec<[i32; TILE]>,
    /// What a group is multiplied by.
    pub(super) scales: Vec<[f32; TILE]>,
    /// The sum of a group, for the minima of the weights.
    pub(super) sums: Vec<[f32; TILE]>,
}

impl Tiles {
    /// Brings `floats`, rows of `columns`, to the form that weights of `kind` take.
    pub fn new(kind: TensorType, floats: &[f32], columns: usize) -> Self {
        let tiles = floats.par_chunks(TILE * columns).map(|floats| match Shape::of(kind) {
            None => Tile::of_floats(floats, columns),
            Some(shape) => Tile::of_integers(shape, &Activations::new(Form::of(kind), floats, columns)),
        });
        Self { columns, tiles: tiles.collect() }
    }

    /// Numbers of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

impl Tile {
    fn of_floats(floats: &[f32], columns: usize) -> Self {
        let mut tile = vec![[0.0; TILE]; columns];
        for (row, floats) in floats.chunks_exact(columns).enumerate() {
            tile.iter_mut().zip(floats).for_each(|(column, x)| column[row] = *x);
        }
        Self { floats: tile, ..Self::default() }
    }

    fn of_integers(shape: Shape, x: &Activations<'_>) -> Self {
        let groups = x.columns / shape.group;
        let mut tile = Self {
            floats: Vec::new(),
            integers: vec![[0; TILE]; x.columns / 4],
            starts: vec![[0; TILE]; groups],
            scales: vec![[0.0; TILE]; groups],
            sums: vec![[0.0; TILE]; groups],
        };
        for row in 0..x.rows() {
            let fours = tile.integers.chunks_exact_mut(shape.group / 4);
            for (group, fours) in fours.enumerate() {
                let (integers, scale) = x.group(row, group * shape.group, shape.group);
                for (four, to) in integers.as_chunks::<4>().0.iter().zip(fours) {
                    to[row] = i32::from_le_bytes(four.map(i8::cast_unsigned));
                }
                let sum: i32 = integers.iter().map(|x| i32::from(*x)).sum();
                tile.starts[group][row] = -shape.offset * sum;
                tile.scales[group][row] = scale;
                tile.sums[group][row] = scale * sum as f32;
            }
        }
        tile
    }
}
