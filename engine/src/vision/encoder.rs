//! The graph: an image in, rows of embeddings out.

use super::weights::{Block, Linear, Norm, Projection, Weights};
use super::{Activation, Config, Error, Picture, prepare};
use crate::backend::Backend;
use crate::backend::cpu::{Cpu, softmax};
use crate::gguf::Gguf;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// An encoder, ready to run.
pub struct Encoder {
    config: Config,
    weights: Weights,
    cpu: Cpu,
}

/// Rows for a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// Numbers of a row.
    pub width: usize,
    /// The rows, one after the other.
    pub numbers: Vec<f32>,
}

impl Encoder {
    /// Loads the encoder of a file, for so many threads; 0: one a core.
    ///
    /// # Errors
    /// What the file lacks or has wrong.
    pub fn open(path: &Path, threads: usize) -> Result<Self, Error> {
        let gguf = Arc::new(Gguf::open(path)?);
        let wrap = |source| crate::gguf::Error::File { path: path.to_owned(), source: Box::new(source) };
        let config = Config::new(&gguf).map_err(wrap)?;
        let cpu = Cpu::new(threads)?;
        let weights = Weights::load(&gguf, &config).map_err(wrap)?;
        Ok(Self { config, weights, cpu })
    }

    /// What it is.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Numbers of a row of embeddings.
    pub fn width(&self) -> usize {
        self.weights.width
    }

    /// The embeddings of an image.
    pub fn encode(&self, picture: &Picture) -> Embeddings {
        let numbers = self.cpu.run(|| {
            let rows = self.rows(prepare::patches(&self.config, picture));
            self.project(rows)
        });
        Embeddings { width: self.width(), numbers }
    }

    /// Patches through all blocks.
    fn rows(&self, patches: Vec<f32>) -> Vec<f32> {
        let weights = &self.weights;
        let mut x = weights.class.clone().unwrap_or_default();
        x.extend(self.linear(&weights.patch, &patches));
        add(&mut x, &weights.positions);
        if let Some(norm) = &weights.before {
            x = self.norm(norm, &x);
        }
        for block in &weights.blocks {
            self.block(block, &mut x);
        }
        match &weights.after {
            Some(norm) => self.norm(norm, &x),
            None => x,
        }
    }

    fn block(&self, block: &Block, x: &mut [f32]) {
        add(x, &self.attention(block, x));
        let mut inner = self.linear(&block.up, &self.norm(&block.second_norm, x));
        let activation = self.config.activation;
        inner.par_iter_mut().for_each(|x| *x = activation.of(*x));
        add(x, &self.linear(&block.down, &inner));
    }

    /// Every patch looks at every other, in each head.
    fn attention(&self, block: &Block, x: &[f32]) -> Vec<f32> {
        let (width, heads) = (self.config.width, self.config.heads);
        let (dim, count) = (width / heads, x.len() / width);
        let x = self.norm(&block.first_norm, x);
        let [query, key, value] =
            [&block.query, &block.key, &block.value].map(|linear| self.linear(linear, &x));
        let scale = 1.0 / (dim as f32).sqrt();
        let mut mixed = vec![0.0; x.len()];
        for head in 0..heads {
            let of_head = |rows: &[f32]| -> Vec<f32> {
                rows.chunks_exact(width).flat_map(|row| &row[head * dim..][..dim]).copied().collect()
            };
            let mut scores = self.cpu.products(&of_head(&key), dim, &of_head(&query));
            scores.par_chunks_exact_mut(count).for_each(|scores| {
                scores.iter_mut().for_each(|score| *score *= scale);
                softmax(scores);
            });
            let columns: Vec<f32> = (0..dim)
                .flat_map(|i| value.chunks_exact(width).map(move |row| row[head * dim + i]))
                .collect();
            let out = self.cpu.products(&columns, count, &scores);
            for (mixed, out) in mixed.chunks_exact_mut(width).zip(out.chunks_exact(dim)) {
                mixed[head * dim..][..dim].copy_from_slice(out);
            }
        }
        self.linear(&block.output, &mixed)
    }

    fn project(&self, rows: Vec<f32>) -> Vec<f32> {
        match &self.weights.projection {
            Projection::Mlp { first, second } => {
                let class = if self.weights.class.is_some() { self.config.width } else { 0 };
                let mut inner = self.linear(first, &rows[class..]);
                inner.iter_mut().for_each(|x| *x = Activation::Gelu.of(*x));
                self.linear(second, &inner)
            }
            Projection::Gemma3 { norm, rows: matrix } => {
                let Ok(normed) = self.cpu.rms_norm(&self.pooled(&rows), norm, self.config.epsilon);
                self.cpu.products(matrix, self.config.width, &normed)
            }
        }
    }

    /// The mean of each square of patches.
    fn pooled(&self, rows: &[f32]) -> Vec<f32> {
        let (width, side, merge) = (self.config.width, self.config.side(), self.config.merge);
        let (squares, share) = (side / merge, 1.0 / (merge * merge) as f32);
        let mut out = vec![0.0; squares * squares * width];
        for (patch, row) in rows.chunks_exact(width).enumerate() {
            let square = patch / side / merge * squares + patch % side / merge;
            out[square * width..][..width].iter_mut().zip(row).for_each(|(out, x)| *out += x * share);
        }
        out
    }

    fn linear(&self, linear: &Linear, x: &[f32]) -> Vec<f32> {
        let mut y = self.cpu.times(&linear.matrix, x);
        if let Some(bias) = &linear.bias {
            let Ok(()) = self.cpu.add_to_rows(&mut y, bias);
        }
        y
    }

    fn norm(&self, norm: &Norm, x: &[f32]) -> Vec<f32> {
        let mut out = x.to_vec();
        out.par_chunks_exact_mut(norm.weight.len()).for_each(|row| {
            let count = row.len() as f32;
            let mean = row.iter().sum::<f32>() / count;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
            let scale = 1.0 / (variance + self.config.epsilon).sqrt();
            for ((x, weight), bias) in row.iter_mut().zip(&norm.weight).zip(&norm.bias) {
                *x = (*x - mean) * scale * weight + bias;
            }
        });
        out
    }
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

impl Activation {
    fn of(self, x: f32) -> f32 {
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        match self {
            Self::Gelu => {
                let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
                0.5 * x * (1.0 + inner.tanh())
            }
            Self::QuickGelu => x * sigmoid(1.702 * x),
            Self::Silu => x * sigmoid(x),
        }
    }
}
