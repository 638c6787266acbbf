//! The CPU: the reference of all backends, on all cores, from the mapped file.

mod attention;
mod experts;
mod matrix;
mod vector;

pub use attention::Cache;
pub(crate) use attention::softmax;
pub(crate) use experts::Chosen;
pub use matrix::Matrix;

use super::{Backend, Part};
use crate::element::Element;
use crate::gguf::{Gguf, Tensor, TensorType};
use crate::model::{Batch, ExpertCounts, Experts, RopePairs, Turns};
use crate::quant::{Code, dequantise};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::convert::Infallible;
use std::sync::Arc;

/// A pool of threads.
#[derive(Debug)]
pub struct Cpu {
    pool: ThreadPool,
    code: Code,
    counts: Option<Arc<ExpertCounts>>,
}

impl Cpu {
    /// A backend with so many threads; 0: one a core.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let name = |number| format!("strata-cpu-{number}");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(name).build()?;
        Ok(Self { pool, code: Code::best(), counts: None })
    }

    /// As [`Self::new`], with other code than the best: for comparisons.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn portable(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        Ok(Self { code: Code::Portable, ..Self::new(threads)? })
    }

    /// Counts which experts are used.
    #[must_use]
    pub fn counting(self, counts: Option<Arc<ExpertCounts>>) -> Self {
        Self { counts, ..self }
    }

    /// Whether somebody wants to know which experts are used.
    pub fn is_counting(&self) -> bool {
        self.counts.is_some()
    }

    /// Counts a use of each of these experts.
    pub(crate) fn count(&self, layer: usize, experts: impl Iterator<Item = usize>) {
        if let Some(counts) = &self.counts {
            counts.add(layer, experts);
        }
    }

    /// The sum of what the chosen experts make of each row of `x`; 0 where none is chosen.
    pub(crate) fn mix_chosen(
        &self,
        chosen: &[Chosen],
        experts: Experts,
        weights: [&Matrix; 3],
        x: &[f32],
    ) -> Vec<f32> {
        experts::mix(self.code, chosen, experts.count, weights, x)
    }

    /// Each row of `x` times the rows of `matrix`, which are `columns` numbers each.
    pub(crate) fn products(&self, matrix: &[f32], columns: usize, x: &[f32]) -> Vec<f32> {
        matrix::multiply(self.code, TensorType::F32, &Element::F32.encode(matrix), columns, x)
    }

    /// Each row of `x` times a matrix.
    pub(crate) fn times(&self, matrix: &Matrix, x: &[f32]) -> Vec<f32> {
        matrix.multiply(self.code, 0, x)
    }

    /// How many threads it has.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// Numbers from which on work is worth being shared.
const WORTH_SHARING: usize = 1 << 15;

/// `work` on each row, on all threads if there is enough of it.
fn each_row(rows: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    if rows.len() < WORTH_SHARING {
        rows.chunks_exact_mut(width).enumerate().for_each(|(number, row)| work(number, row));
    } else {
        rows.par_chunks_exact_mut(width).enumerate().for_each(|(number, row)| work(number, row));
    }
}

/// A step: its batch, and the angles of its tokens.
#[derive(Debug)]
pub struct Step {
    batch: Batch,
    turns: Turns,
}

impl Backend for Cpu {
    type Matrix = Matrix;
    type Vector = Vec<f32>;
    type Buffer = Vec<f32>;
    type Cache = Cache;
    type Step = Step;
    type Error = Infallible;

    fn matrix(&self, _part: Part, gguf: &Arc<Gguf>, tensor: &Tensor) -> Result<Matrix, Infallible> {
        Ok(Matrix::new(gguf.clone(), tensor.clone()))
    }

    fn vector(&self, _part: Part, numbers: &[f32]) -> Result<Vec<f32>, Infallible> {
        Ok(numbers.to_vec())
    }

    fn cache(
        &self,
        layers: usize,
        slots: usize,
        context: usize,
        kv_heads: usize,
        head_dim: usize,
    ) -> Result<Cache, Infallible> {
        Ok(Cache::new(layers, slots, context, kv_heads, head_dim))
    }

    fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    fn step(&self, batch: &Batch, turns: Turns) -> Result<Step, Infallible> {
        Ok(Step { batch: batch.clone(), turns })
    }

    fn compute(
        &self,
        cache: &mut Cache,
        _step: &Step,
        work: impl Fn(&mut Cache) -> Result<Option<Vec<f32>>, Infallible>,
    ) -> Result<Vec<f32>, Infallible> {
        Ok(work(cache)?.unwrap_or_default())
    }

    fn embed(&self, table: &Matrix, step: &Step) -> Result<Vec<f32>, Infallible> {
        let tokens = &step.batch.tokens;
        let mut out = vec![0.0; tokens.len() * table.columns()];
        each_row(&mut out, table.columns(), |number, row| {
            dequantise(table.kind(), table.row(tokens[number] as usize), row);
        });
        Ok(out)
    }

    fn pick(&self, x: &Vec<f32>, width: usize, step: &Step) -> Result<Vec<f32>, Infallible> {
        Ok(step.batch.outputs.iter().flat_map(|row| &x[row * width..][..width]).copied().collect())
    }

    fn rms_norm(&self, x: &Vec<f32>, weight: &Vec<f32>, epsilon: f32) -> Result<Vec<f32>, Infallible> {
        let mut out = vec![0.0; x.len()];
        each_row(&mut out, weight.len(), |number, out| {
            let row = &x[number * weight.len()..][..weight.len()];
            let mean = sum_of_squares(row) / row.len() as f64;
            let scale = 1.0 / (mean as f32 + epsilon).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(row).zip(weight) {
                *out = x * scale * weight;
            }
        });
        Ok(out)
    }

    fn multiply(&self, matrix: &Matrix, x: &Vec<f32>) -> Result<Vec<f32>, Infallible> {
        Ok(self.times(matrix, x))
    }

    fn add(&self, x: &mut Vec<f32>, y: &Vec<f32>) -> Result<(), Infallible> {
        x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
        Ok(())
    }

    fn add_to_rows(&self, x: &mut Vec<f32>, vector: &Vec<f32>) -> Result<(), Infallible> {
        each_row(x, vector.len(), |_, row| row.iter_mut().zip(vector).for_each(|(x, y)| *x += y));
        Ok(())
    }

    fn turn(&self, x: &mut Vec<f32>, head_dim: usize, heads: usize, step: &Step) -> Result<(), Infallible> {
        let turns = &step.turns;
        let pairs = turns.dimensions / 2;
        each_row(x, head_dim * heads, |token, row| {
            let angles = &turns.angles[token * pairs..][..pairs];
            for head in row.chunks_exact_mut(head_dim) {
                for (pair, (cosine, sine)) in angles.iter().enumerate() {
                    let (i, j) = match turns.pairs {
                        RopePairs::Neighbours => (2 * pair, 2 * pair + 1),
                        RopePairs::Halves => (pair, pair + pairs),
                    };
                    let (a, b) = (head[i], head[j]);
                    head[i] = a * cosine - b * sine;
                    head[j] = a * sine + b * cosine;
                }
            }
        });
        Ok(())
    }

    fn store(
        &self,
        cache: &mut Cache,
        layer: usize,
        step: &Step,
        key: &Vec<f32>,
        value: &Vec<f32>,
    ) -> Result<(), Infallible> {
        cache.store(layer, &step.batch.spans, key, value);
        Ok(())
    }

    fn attend(
        &self,
        cache: &Cache,
        layer: usize,
        step: &Step,
        query: &Vec<f32>,
        heads: usize,
    ) -> Result<Vec<f32>, Infallible> {
        Ok(cache.attend(self.code, layer, &step.batch.spans, query, heads))
    }

    fn gated(&self, gate: &Matrix, up: &Matrix, x: &Vec<f32>) -> Result<Vec<f32>, Infallible> {
        let mut out = gate.multiply(self.code, 0, x);
        gated(self.code, &mut out, &up.multiply(self.code, 0, x));
        Ok(out)
    }

    fn mix_experts(
        &self,
        layer: usize,
        scores: &Vec<f32>,
        experts: Experts,
        weights: [&Matrix; 3],
        x: &Vec<f32>,
    ) -> Result<Vec<f32>, Infallible> {
        let chosen = experts::choose(scores, experts);
        self.count(layer, chosen.iter().map(|chosen| chosen.expert));
        Ok(self.mix_chosen(&chosen, experts, weights, x))
    }
}

/// In f64, in eight lanes.
fn sum_of_squares(row: &[f32]) -> f64 {
    let (eights, rest) = row.as_chunks::<8>();
    let mut lanes = [0.0_f64; 8];
    for eight in eights {
        for (lane, x) in lanes.iter_mut().zip(eight) {
            *lane += f64::from(x * x);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|x| f64::from(x * x)).sum::<f64>()
}

/// `gate = silu(gate) · up`, on all threads if there is enough of it.
fn gated(code: Code, gate: &mut [f32], up: &[f32]) {
    const WIDTH: usize = 1024;
    if gate.len() < WORTH_SHARING / 4 {
        vector::silu_times(code, gate, up);
    } else {
        let pieces = gate.par_chunks_mut(WIDTH).zip(up.par_chunks(WIDTH));
        pieces.for_each(|(gate, up)| vector::silu_times(code, gate, up));
    }
}
