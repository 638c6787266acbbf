//! A paged KV cache: the pages of the sequences lie shuffled among others. Wherever there is no key is no number either: in the other pages,
//! between heads and rows, and behind the last key.

use super::Number;
use super::attention::{Gaps, Problem, Tensors};
use crate::sample::Sample;
use gfx_sim::Memory;

pub(super) struct PagedCache {
    pub(super) k: u64,
    pub(super) v: u64,
    /// Keys of each sequence, and its pages.
    pub(super) seqlens: u64,
    pub(super) table: u64,
    pub(super) table_stride: usize,
    /// In elements.
    pub(super) head_stride: usize,
    pub(super) row_stride: usize,
    pub(super) page_stride: usize,
}

impl PagedCache {
    pub(super) fn new<T: Number>(
        memory: &mut Memory,
        problem: &Problem,
        tensors: &Tensors<T>,
        head_dim: usize,
        page_rows: usize,
    ) -> Self {
        let pages: Vec<usize> = problem.sequences.iter().map(|(_, keys)| keys.div_ceil(page_rows)).collect();
        let all = pages.iter().sum::<usize>() + 3;
        let gaps = Gaps::new(problem.kv_heads, head_dim);
        let (width, row_stride) = (problem.kv_heads * head_dim, gaps.row());
        let page_stride = page_rows * row_stride;
        let table_stride = pages.iter().copied().max().unwrap_or(0).max(1);
        let mut order = Sample::new(11).order(all).into_iter();
        let mut pools: [Vec<T>; 2] = std::array::from_fn(|_| vec![T::from_f32(f32::NAN); all * page_stride]);
        // -1 where there is no page: a kernel that follows it faults.
        let mut table = vec![-1i32; problem.sequences.len() * table_stride];
        let mut first = 0;
        for (sequence, (_, keys)) in problem.sequences.iter().enumerate() {
            for (page, place) in (0..pages[sequence]).zip(&mut order) {
                table[sequence * table_stride + page] = place as i32;
                let rows = first + page * page_rows..first + keys.min(&((page + 1) * page_rows));
                for (pool, tensor) in pools.iter_mut().zip([&tensors.k, &tensors.v]) {
                    let numbers = gaps.spread(&tensor[rows.start * width..rows.end * width]);
                    pool[place * page_stride..][..numbers.len()].copy_from_slice(&numbers);
                }
            }
            first += keys;
        }
        let [k, v] = pools;
        Self {
            k: memory.read_only("k", &k),
            v: memory.read_only("v", &v),
            seqlens: memory.read_only("seqlens_k", &problem.keys()),
            table: memory.read_only("block_table", &table),
            table_stride,
            head_stride: gaps.head(),
            row_stride,
            page_stride,
        }
    }
}
