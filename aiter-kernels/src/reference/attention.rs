use super::{Element, KvLayout, ShapeError, threads};
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
    /// Bound `c` of the scaled scores `s`, which become `c tanh(s / c)`; 0: none.
    pub logits_soft_cap: f32,
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

/// `softmax(cap(scale q k^T)) v` for each sequence and head.
///
/// # Errors
/// [`ShapeError`] that names `kv_heads` when it does not divide the heads, or the tensor that has another size than the problem says.
pub fn attention<T: Element>(
    problem: &Attention,
    q: &[T],
    k: &[T],
    v: &[T],
) -> Result<AttentionOutput, ShapeError> {
    let kv_rows: usize = problem.sequences.iter().map(|s| s.keys).sum();
    let kv_len = kv_rows * problem.kv_heads * problem.head_dim;
    check_heads(problem)?;
    ShapeError::length("k", kv_len, k.len())?;
    ShapeError::length("v", kv_len, v.len())?;
    attention_over(problem, q, k, v, &KvLayout::Packed)
}

/// [`attention`] with keys and values where `layout` says: in a dense or a paged cache.
///
/// # Errors
/// As [`attention`], and those of [`KvLayout::rows`].
pub fn attention_over<T: Element>(
    problem: &Attention,
    q: &[T],
    k: &[T],
    v: &[T],
    layout: &KvLayout<'_>,
) -> Result<AttentionOutput, ShapeError> {
    let &Attention { heads, kv_heads, head_dim, .. } = problem;
    check_heads(problem)?;
    let rows: usize = problem.sequences.iter().map(|s| s.queries).sum();
    ShapeError::length("q", rows * heads * head_dim, q.len())?;
    ShapeError::length("v", k.len(), v.len())?;
    let keys: Vec<usize> = problem.sequences.iter().map(|s| s.keys).collect();
    let key_rows = layout.rows(&keys, k.len().checked_div(kv_heads * head_dim).unwrap_or(0))?;

    let mut o = vec![0.0; q.len()];
    let mut lse_by_row = vec![f32::NEG_INFINITY; rows * heads];
    let places: Vec<_> = (problem.sequences.iter().zip(&key_rows))
        .flat_map(|(&sequence, key_rows)| (0..sequence.queries).map(move |row| (sequence, key_rows, row)))
        .collect();

    let by_head = o.par_chunks_mut(head_dim.max(1)).zip(&mut lse_by_row).zip(q.par_chunks(head_dim.max(1)));
    threads::for_each(by_head.enumerate(), |(i, ((o, lse), q))| {
        let (sequence, key_rows, row) = places[i / heads];
        let kv_head = i % heads / (heads / kv_heads);
        let visible = problem.mask.visible(row, sequence.queries, sequence.keys);
        let at = |row: &usize| (row * kv_heads + kv_head) * head_dim;
        let keys = key_rows[visible.clone()].iter().map(|row| &k[at(row)..][..head_dim]);
        let values = key_rows[visible].iter().map(|row| &v[at(row)..][..head_dim]);
        *lse = attend(problem, q, keys, values, o);
    });
    let lse = (0..heads).flat_map(|head| (0..rows).map(move |row| row * heads + head));
    Ok(AttentionOutput { lse: lse.map(|i| lse_by_row[i]).collect(), o })
}

fn check_heads(problem: &Attention) -> Result<(), ShapeError> {
    let &Attention { heads, kv_heads, .. } = problem;
    if kv_heads > 0 && heads.is_multiple_of(kv_heads) {
        return Ok(());
    }
    Err(ShapeError {
        argument: "kv_heads",
        expected: format!("a divisor of {heads} heads"),
        found: kv_heads.to_string(),
    })
}

/// One query against the keys it sees; adds to `o`, which comes in as zeros, and returns the LSE.
fn attend<'a, T: Element + 'a>(
    problem: &Attention,
    q: &[T],
    keys: impl Iterator<Item = &'a [T]>,
    values: impl Iterator<Item = &'a [T]>,
    o: &mut [f32],
) -> f32 {
    let dot = |k: &[T]| q.iter().zip(k).map(|(q, k)| q.to_f32() * k.to_f32()).sum::<f32>();
    let capped = |score: f32| match problem.logits_soft_cap {
        cap if cap > 0.0 => cap * (score / cap).tanh(),
        _ => score,
    };
    let scores: Vec<f32> = keys.map(|k| capped(problem.scale * dot(k))).collect();
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    // Without any key all exponents would be of infinity minus infinity. What is no number is never the largest, and stays in the sum.
    let origin = if max == f32::NEG_INFINITY { 0.0 } else { max };
    let weights: Vec<f32> = scores.iter().map(|s| (s - origin).exp()).collect();
    let sum: f32 = weights.iter().sum();
    if sum == 0.0 {
        return f32::NEG_INFINITY;
    }
    for (weight, v) in weights.iter().zip(values) {
        let probability = weight / sum;
        for (o, v) in o.iter_mut().zip(v) {
            *o += probability * v.to_f32();
        }
    }
    origin + sum.ln()
}
