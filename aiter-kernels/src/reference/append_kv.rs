use super::{Element, KvLayout, Rope, ShapeError};

/// New keys and values for the sequences of a cache.
#[derive(Debug, Clone)]
pub struct AppendKv<'a, T, C> {
    /// Keys of each sequence that the cache holds already.
    pub filled: Vec<usize>,
    /// Keys of each sequence that are added.
    pub added: Vec<usize>,
    /// Heads of k and v.
    pub kv_heads: usize,
    /// Elements of one head.
    pub head_dim: usize,
    /// `[added row of all sequences, kv head, head dim]`.
    pub k_new: &'a [T],
    /// As `k_new`; never rotated.
    pub v_new: &'a [T],
    /// Rotates the new keys: the first one of a sequence has the position `filled`.
    pub rope: Option<Rope<'a, C>>,
}

/// Writes the new rows behind those that each sequence has in the cache. Rotated keys are rounded to the cache's type.
///
/// # Errors
/// [`ShapeError`] that names the argument; the caches are as they were then.
pub fn append_kv<T: Element, C: Element>(
    new: &AppendKv<'_, T, C>,
    layout: &KvLayout<'_>,
    k_cache: &mut [T],
    v_cache: &mut [T],
) -> Result<(), ShapeError> {
    let &AppendKv { ref filled, ref added, kv_heads, head_dim, k_new, v_new, ref rope } = new;
    let width = kv_heads * head_dim;
    let total: usize = added.iter().sum();
    ShapeError::length("added", filled.len(), added.len())?;
    ShapeError::length("k_new", total * width, k_new.len())?;
    ShapeError::length("v_new", total * width, v_new.len())?;
    ShapeError::length("v_cache", k_cache.len(), v_cache.len())?;
    let keys: Vec<usize> = filled.iter().zip(added).map(|(filled, added)| filled + added).collect();
    if let Some(rope) = rope {
        let last = keys.iter().zip(added).filter(|&(_, &added)| added > 0).map(|(keys, _)| keys - 1).max();
        rope.check(head_dim, last)?;
    }
    let available = k_cache.len().checked_div(width).unwrap_or(0);
    let rows = layout.rows(&keys, available)?;
    let places = rows.iter().zip(filled).flat_map(|(rows, &filled)| {
        rows[filled..].iter().enumerate().map(move |(i, &row)| (filled + i, row))
    });
    for (i, (position, row)) in places.enumerate() {
        let place = row * width..(row + 1) * width;
        v_cache[place.clone()].copy_from_slice(&v_new[i * width..][..width]);
        for (out, head) in k_cache[place].chunks_mut(head_dim).zip(k_new[i * width..].chunks(head_dim)) {
            let mut rotated: Vec<f32> = head.iter().map(|x| x.to_f32()).collect();
            rope.iter().for_each(|rope| rope.rotate(position, &mut rotated));
            out.iter_mut().zip(rotated).for_each(|(out, x)| *out = T::from_f32(x));
        }
    }
    Ok(())
}

/// The position of each query row, for [`super::rope()`], as upstream's kernels count them: the queries of a sequence follow the keys that the
/// cache held before. With a mask each has its own position; without one all of a sequence have that of the first.
pub fn query_positions(filled: &[usize], queries: &[usize], masked: bool) -> Vec<usize> {
    let of_sequence = |(&filled, &queries): (&usize, &usize)| {
        (0..queries).map(move |row| filled + if masked { row } else { 0 })
    };
    filled.iter().zip(queries).flat_map(of_sequence).collect()
}
