use super::check::{aligned, dims, element_type, one_place, reachable, shape, tokens};
use super::rope::indices;
use super::tensor_io::{Stored, with_float};
use super::{ElementType, Error, Place, RopeTables, Tensor, TensorMut};
use crate::reference::{self, KvLayout};

/// Writes new keys and values behind those that a cache holds, rotating the keys on the way.
#[derive(Clone)]
pub struct AppendKv<'a> {
    /// `[batch, capacity, kv heads, head dim]`, or with a block table `[pages, page rows, kv heads, head dim]`.
    pub k_cache: TensorMut<'a>,
    /// As `k_cache`.
    pub v_cache: TensorMut<'a>,
    /// New keys, `[batch, new rows, kv heads, head dim]`.
    pub k: Tensor<'a>,
    /// New values, as `k`.
    pub v: Tensor<'a>,
    /// Keys that each sequence has in the cache already, i32 `[batch]`.
    pub cache_seqlens: Tensor<'a>,
    /// Pages of each sequence, i32 `[batch, pages of a sequence]`; `None`: the cache is dense.
    pub block_table: Option<Tensor<'a>>,
    /// Rotates the new keys by their place in the sequence.
    pub rope: Option<RopeTables<'a>>,
}

/// The sizes of a call that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AppendSizes {
    pub(super) place: Place,
    pub(super) batch: usize,
    pub(super) added: usize,
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
}

impl AppendKv<'_> {
    /// Every rule that does not depend on the content of a tensor.
    pub(super) fn check(&self) -> Result<AppendSizes, Error> {
        use ElementType::{Bf16, F16, F32, I32};
        let Self { k_cache, v_cache, k, v, cache_seqlens, block_table, rope } = self;
        let floats = [("k_cache", &k_cache.0), ("v_cache", &v_cache.0), ("k", k), ("v", v)];
        let mut integers = vec![("cache_seqlens", cache_seqlens)];
        integers.extend(block_table.iter().map(|table| ("block_table", table)));
        let mut tensors = [&floats[..], &integers].concat();
        tensors.extend(rope.iter().flat_map(|rope| [("cos", &rope.cos), ("sin", &rope.sin)]));
        tensors.iter().try_for_each(|(argument, tensor)| tensor.check(argument))?;
        k_cache.check("k_cache")?;
        v_cache.check("v_cache")?;
        let place = one_place(&tensors)?;
        let own = element_type("k_cache", &k_cache.0, &[Bf16, F16, F32])?;
        floats.iter().try_for_each(|(argument, tensor)| element_type(argument, tensor, &[own]).map(drop))?;
        integers
            .iter()
            .try_for_each(|(argument, tensor)| element_type(argument, tensor, &[I32]).map(drop))?;

        let [batch, added, kv_heads, head_dim] = dims("k", k, "[batch, new rows, kv_heads, head_dim]")?;
        shape("v", v, &k.shape)?;
        let [first, room, ..] = dims::<4>("k_cache", &k_cache.0, "[batch, capacity, kv_heads, head_dim]")?;
        let first = if block_table.is_some() { first } else { batch };
        shape("k_cache", &k_cache.0, &[first, room, kv_heads, head_dim])?;
        shape("v_cache", &v_cache.0, &k_cache.0.shape)?;
        shape("cache_seqlens", cache_seqlens, &[batch])?;
        if let Some(table) = block_table {
            let [_, pages] = dims("block_table", table, "[batch, pages of a sequence]")?;
            shape("block_table", table, &[batch, pages])?;
        }
        if let Some(rope) = rope {
            let rotary_dim = rope.check()?;
            if rope.nope_first {
                let reason = "the first elements of a head are rotated here".into();
                return Err(Error::Unsupported { argument: "nope_first", reason });
            }
            if rotary_dim > head_dim {
                let (expected, found) = (format!("at most {} columns", head_dim / 2), rope.cos.shape.clone());
                return Err(Error::Shape { argument: "cos", expected, found });
            }
        }
        tokens("k", k)?;
        tokens("v", v)?;
        for (argument, tensor) in floats {
            aligned(argument, tensor)?;
            if place != Place::Host {
                reachable(argument, tensor)?;
            }
        }
        Ok(AppendSizes { place, batch, added, kv_heads, head_dim })
    }

    /// Computes on the host.
    pub(super) fn compute(&self, sizes: &AppendSizes) -> Result<(), Error> {
        with_float!("k_cache", self.k_cache.0, T => self.compute_as::<T>(sizes))
    }

    fn compute_as<T: Stored>(&self, sizes: &AppendSizes) -> Result<(), Error> {
        let &AppendSizes { batch, added, kv_heads, head_dim, .. } = sizes;
        let room = self.k_cache.0.shape[1];
        let table = self.block_table.as_ref().map(|table| {
            let entries = table.read_integers().into_iter().map(|page| i32::try_from(page).unwrap_or(-1));
            (entries.collect::<Vec<i32>>(), table.shape[1])
        });
        let layout = match &table {
            None => KvLayout::Dense { capacity: room },
            Some((block_table, pages)) => {
                KvLayout::Paged { page_rows: room, block_table, block_table_stride: *pages }
            }
        };
        let (mut k_cache, mut v_cache) = (self.k_cache.0.read::<T>(), self.v_cache.0.read::<T>());
        let (k_new, v_new) = (self.k.read::<T>(), self.v.read::<T>());
        let new = reference::AppendKv::<T, f32> {
            filled: indices("cache_seqlens", &self.cache_seqlens)?,
            added: vec![added; batch],
            kv_heads,
            head_dim,
            k_new: &k_new,
            v_new: &v_new,
            rope: None,
        };
        match &self.rope {
            None => reference::append_kv(&new, &layout, &mut k_cache, &mut v_cache)?,
            Some(tables) => tables.with(|rope| {
                let new = reference::AppendKv { rope: Some(rope), ..new };
                reference::append_kv(&new, &layout, &mut k_cache, &mut v_cache)
            })?,
        }
        let encode = |numbers: &[T]| {
            let mut bytes = vec![0; numbers.len() * T::TYPE.size()];
            numbers.iter().zip(bytes.chunks_exact_mut(T::TYPE.size())).for_each(|(n, b)| n.put(b));
            bytes
        };
        self.k_cache.write_bytes(&encode(&k_cache));
        self.v_cache.write_bytes(&encode(&v_cache));
        Ok(())
    }
}
