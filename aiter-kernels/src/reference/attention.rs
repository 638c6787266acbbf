use super::{Element, ShapeError};
use rayon::prelude::*;

/// Where the diagonal of a mask starts when queries and keys differ in number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Query 0 is level with key 0.
    TopLeft,
    /// The last query is level with the last key.
    BottomRight,
}

/// Which keys a query sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All of them.
    None,
    /// Those within a window around the diagonal.
    Window {
        /// Keys before the diagonal; `None`: all.
        left: Option<usize>,
        /// Keys after the diagonal; `None`: all.
        right: Option<usize>,
        /// Where the diagonal starts.
        origin: Origin,
    },
}

impl Mask {
    /// No key after the diagonal.
    pub const fn causal(origin: Origin) -> Self {
        Self::Window { left: None, right: Some(0), origin }
    }

    /// The keys that query `row` of `queries` sees, out of `keys`.
    pub fn visible(self, row: usize, queries: usize, keys: usize) -> std::ops::Range<usize> {
        let Self::Window { left, right, origin } = self else { return 0..keys };
        // May be negative: more queries than keys, with the diagonal at the bottom right.
        let diagonal = match origin {
            Origin::TopLeft => row as i64,
            Origin::BottomRight => row as i64 + keys as i64 - queries as i64,
        };
        let clamp = |key: i64| key.clamp(0, keys as i64) as usize;
        let start = left.map_or(0, |left| clamp(diagonal - left as i64));
        let end = right.map_or(keys, |right| clamp(diagonal + right as i64 + 1));
        start..end.max(start)
    }
}

/// One sequence of a batch: its rows within the tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    /// Rows of q and o.
    pub queries: usize,
    /// Rows of k and v.
    pub keys: usize,
}

/// An attention problem. Tensors are `[row of all sequences, head, head dim]`, contiguous; a dense batch is the same with equal sequences.
#[derive(Debug, Clone, PartialEq)]
pub struct Attention {
    /// The sequences, in the order of their rows.
    pub sequences: Vec<Sequence>,
    /// Heads of q and o.
    pub heads: usize,
    /// Heads of k and v; divides `heads`.
    pub kv_heads: usize,
    /// Elements of one head.
    pub head_dim: usize,
    /// Factor of the scores before softmax.
    pub scale: f32,
    /// Which keys a query sees.
    pub mask: Mask,
}

/// What attention makes.
#[derive(Debug, Clone, PartialEq)]
pub struct AttentionOutput {
    /// `[row of all sequences, head, head dim]`; zero where a query sees no key.
    pub o: Vec<f32>,
    /// Natural logarithm of the softmax denominator, `[head, row of all sequences]`; minus infinity where a query sees no key.
    pub lse: Vec<f32>,
}

/// `softmax(scale q k^T) v` for each sequence and head.
///
/// # Errors
/// [`ShapeError`] that names `kv_heads` when it does not divide the heads, or the tensor that has another size than the problem says.
pub fn attention<T: Element>(
    problem: &Attention,
    q: &[T],
    k: &[T],
    v: &[T],
) -> Result<AttentionOutput, ShapeError> {
    let &Attention { heads, kv_heads, head_dim, .. } = problem;
    if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
        return Err(ShapeError {
            argument: "kv_heads",
            expected: format!("a divisor of {heads} heads"),
            found: kv_heads.to_string(),
        });
    }
    let rows: usize = problem.sequences.iter().map(|s| s.queries).sum();
    let kv_rows: usize = problem.sequences.iter().map(|s| s.keys).sum();
    ShapeError::length("q", rows * heads * head_dim, q.len())?;
    ShapeError::length("k", kv_rows * kv_heads * head_dim, k.len())?;
    ShapeError::length("v", kv_rows * kv_heads * head_dim, v.len())?;

    let mut o = vec![0.0; q.len()];
    let mut lse_by_row = vec![f32::NEG_INFINITY; rows * heads];
    let mut first_key = 0;
    let places: Vec<_> = (problem.sequences.iter())
        .flat_map(|&sequence| {
            let first = first_key;
            first_key += sequence.keys;
            (0..sequence.queries).map(move |row| (sequence, first, row))
        })
        .collect();

    o.par_chunks_mut(head_dim.max(1))
        .zip(&mut lse_by_row)
        .zip(q.par_chunks(head_dim.max(1)))
        .enumerate()
        .for_each(|(i, ((o, lse), q))| {
            let (sequence, first, row) = places[i / heads];
            let kv_head = i % heads / (heads / kv_heads);
            let visible = problem.mask.visible(row, sequence.queries, sequence.keys);
            let at = |key: usize| ((first + key) * kv_heads + kv_head) * head_dim;
            let keys = visible.clone().map(|key| &k[at(key)..][..head_dim]);
            let values = visible.map(|key| &v[at(key)..][..head_dim]);
            *lse = attend(problem.scale, q, keys, values, o);
        });
    let lse = (0..heads).flat_map(|head| (0..rows).map(move |row| row * heads + head));
    Ok(AttentionOutput { lse: lse.map(|i| lse_by_row[i]).collect(), o })
}

/// One query against the keys it sees; adds to `o`, which comes in as zeros, and returns the LSE.
fn attend<'a, T: Element + 'a>(
    scale: f32,
    q: &[T],
    keys: impl Iterator<Item = &'a [T]>,
    values: impl Iterator<Item = &'a [T]>,
    o: &mut [f32],
) -> f32 {
    let dot = |k: &[T]| q.iter().zip(k).map(|(q, k)| q.to_f32() * k.to_f32()).sum::<f32>();
    let scores: Vec<f32> = keys.map(|k| scale * dot(k)).collect();
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if max == f32::NEG_INFINITY {
        return max;
    }
    let weights: Vec<f32> = scores.iter().map(|s| (s - max).exp()).collect();
    let sum: f32 = weights.iter().sum();
    for (weight, v) in weights.iter().zip(values) {
        let probability = weight / sum;
        for (o, v) in o.iter_mut().zip(v) {
            *o += probability * v.to_f32();
        }
    }
    max + sum.ln()
}
