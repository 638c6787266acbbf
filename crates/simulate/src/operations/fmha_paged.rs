//! Attention over a paged KV cache.

use super::attention::{CAUSAL_BOTTOM, CAUSAL_TOP, Gaps, OPEN, Problem, SLIDING, problem, scale};
use super::paged_cache::PagedCache;
use super::{Case, Kernel, Number, of_type, rows_of};
use crate::{Error, Outcome};
use aiter_kernels::args::FmhaPagedArgs;
use gfx_sim::Memory;

/// With the tiles of keys of a page.
const PROBLEMS: [(Problem, usize); 6] = [
    (problem((2, 1), &[(37, 190), (70, 101)], CAUSAL_BOTTOM, 2.0), 1),
    (problem((2, 2), &[(20, 77), (1, 130)], OPEN, 0.0), 3),
    (problem((3, 1), &[(65, 70), (3, 40)], SLIDING, 0.0), 2),
    (problem((2, 1), &[(9, 0), (0, 20), (6, 33)], CAUSAL_TOP, 0.0), 1),
    (problem((1, 1), &[(5, 300)], CAUSAL_BOTTOM, 0.0), 8),
    (problem((2, 1), &[(5, 21), (0, 3), (1, 20)], CAUSAL_BOTTOM, 0.0).without(1), 1),
];

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let rows = |tiles: usize| tiles * kernel.instance.tile.n as usize;
    let name = |(problem, tiles): &(Problem, usize)| format!("pages of {} {problem}", rows(*tiles));
    Ok(kernel.outcomes(&PROBLEMS, name, |(problem, tiles)| {
        of_type!(kernel.instance.data_type, run(kernel, problem, rows(*tiles)))
    }))
}

fn run<T: Number>(kernel: &Kernel<'_>, problem: &Problem, page_rows: usize) -> Case {
    let attention = kernel.instance.attention.expect("an attention kernel");
    let head_dim = attention.head_dim as usize;
    let Problem { heads, kv_heads, .. } = *problem;
    let tensors = problem.tensors::<T>(head_dim);
    let (rows, gaps) = (problem.queries(), Gaps::new(heads, head_dim));
    let (window_left, window_right, mask_origin) = problem.window();

    let mut memory = Memory::new();
    let cache = PagedCache::new(&mut memory, problem, &tensors, head_dim, page_rows);
    let arguments = FmhaPagedArgs {
        q: memory.read_only("q", &gaps.spread(&tensors.q)),
        k: cache.k,
        v: cache.v,
        o: memory.output::<T>("o", rows * gaps.row()),
        lse: memory.output::<f32>("lse", heads * rows),
        cu_seqlens_q: memory.read_only("cu_seqlens_q", &problem.offsets(|s| s.0)),
        seqlens_k: cache.seqlens,
        block_table: cache.table,
        heads: heads as i32,
        heads_per_kv: (heads / kv_heads) as i32,
        page_rows: page_rows as i32,
        block_table_stride: cache.table_stride as i32,
        scale: scale(head_dim),
        logits_cap: problem.cap,
        row_stride_q: gaps.row() as i32,
        row_stride_k: cache.row_stride as i32,
        row_stride_v: cache.row_stride as i32,
        row_stride_o: gaps.row() as i32,
        head_stride_q: gaps.head() as i32,
        head_stride_k: cache.head_stride as i32,
        head_stride_v: cache.head_stride as i32,
        head_stride_o: gaps.head() as i32,
        page_stride_k: cache.page_stride as i32,
        page_stride_v: cache.page_stride as i32,
        head_stride_lse: rows as i32,
        window_left,
        window_right,
        mask_origin,
        min_seqlen_q: problem.min_queries as i32,
        reserved: 0,
    };
    let tiles = (problem.longest().0 as u32).div_ceil(kernel.instance.tile.m);
    let grid = [heads as u32 * attention.value_parts(), problem.sequences.len() as u32, tiles];
    let counts = kernel.launch(&mut memory, grid, &arguments)?;
    let o = gaps.gathered::<T>(&memory, arguments.o, problem.written())?;
    let lse = rows_of::<f32>(&memory, arguments.lse, problem.written(), rows)?;
    Ok((problem.judge(kernel.instance.data_type, head_dim, &tensors, &o, &lse)?, counts))
}
