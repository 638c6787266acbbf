//! Decode: the keys of a sequence in parts, then the parts together, as a launcher does it.

use super::attention::{Gaps, OPEN, Problem, problem, scale};
use super::paged_cache::PagedCache;
use super::{Case, Kernel, Number, launch, of_type, rows_of};
use crate::arguments::Block;
use crate::{Error, Outcome};
use aiter_kernels::args::{FmhaCombineArgs, FmhaSplitKvArgs};
use aiter_kernels::catalogue::{Instance, Operation, instances};
use gfx_sim::Memory;

/// With the splits and the rows of a page: a whole tile of heads, more heads than a tile, more splits than keys, a sequence without keys, and
/// sequences without a query, so that a sequence and its row have different numbers.
const PROBLEMS: [(Problem, usize, usize); 6] = [
    (problem((8, 2), &[(1, 470), (1, 333)], OPEN, 2.0), 3, 16),
    (problem((16, 1), &[(1, 1), (1, 0), (1, 90)], OPEN, 0.0), 5, 48),
    (problem((20, 1), &[(1, 65)], OPEN, 0.0), 2, 64),
    (problem((2, 2), &[(1, 3), (1, 200)], OPEN, 0.0), 9, 32),
    (problem((4, 2), &[(1, 300)], OPEN, 0.0), 1, 256),
    (problem((4, 1), &[(0, 40), (1, 70), (0, 0), (1, 33)], OPEN, 0.0), 2, 16),
];

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let combine = of_operation(kernel, Operation::FmhaCombine);
    check_both(kernel, kernel.instance, combine)
}

/// The combine kernel, behind the split kernel of the smallest head dim.
pub(super) fn check_combine(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    check_both(kernel, of_operation(kernel, Operation::FmhaSplitKv), kernel.instance)
}

fn of_operation(kernel: &Kernel<'_>, operation: Operation) -> &'static Instance {
    let wmma = kernel.objects.target().wmma().expect("a target with kernels has matrix instructions");
    let of_type = instances(operation, wmma).filter(|i| i.data_type == kernel.instance.data_type);
    let smallest = of_type.min_by_key(|i| i.attention.map_or(0, |attention| attention.head_dim));
    smallest.expect("the catalogue has a split and a combine kernel for a type, or none")
}

fn check_both(
    kernel: &Kernel<'_>,
    split: &'static Instance,
    combine: &'static Instance,
) -> Result<Vec<Outcome>, Error> {
    let split = Kernel {
        objects: kernel.objects,
        program: kernel.objects.program(split.code_object)?,
        instance: split,
    };
    let combine = Kernel {
        objects: kernel.objects,
        program: kernel.objects.program(combine.code_object)?,
        instance: combine,
    };
    let name = |(problem, splits, page_rows): &(Problem, usize, usize)| {
        format!("{splits} splits pages of {page_rows} {problem}")
    };
    Ok(kernel.outcomes(&PROBLEMS, name, |(problem, splits, page_rows)| {
        of_type!(kernel.instance.data_type, run(&split, &combine, problem, *splits, *page_rows))
    }))
}

fn run<T: Number>(
    split: &Kernel<'_>,
    combine: &Kernel<'_>,
    problem: &Problem,
    splits: usize,
    page_rows: usize,
) -> Case {
    let attention = split.instance.attention.expect("an attention kernel");
    let head_dim = attention.head_dim as usize;
    let Problem { heads, kv_heads, .. } = *problem;
    let (batch, group) = (problem.sequences.len(), heads / kv_heads);
    let gaps = Gaps::new(heads, head_dim);
    // A spare one, as a padded batch has: it belongs to no sequence, and is neither read nor written.
    let rows = problem.queries() + 1;
    let tensors = problem.tensors::<T>(head_dim);

    let mut memory = Memory::new();
    let cache = PagedCache::new(&mut memory, problem, &tensors, head_dim, page_rows);
    let parts = batch * heads * splits;
    let mut q = gaps.spread(&tensors.q);
    q.resize(rows * gaps.row(), T::from_f32(f32::NAN));
    let cu_seqlens_q = memory.read_only("cu_seqlens_q", &problem.offsets(|s| s.0));
    let arguments = FmhaSplitKvArgs {
        q: memory.read_only("q", &q),
        k: cache.k,
        v: cache.v,
        o_parts: memory.output::<f32>("o_parts", parts * head_dim),
        lse_parts: memory.output::<f32>("lse_parts", parts),
        cu_seqlens_q,
        seqlens_k: cache.seqlens,
        block_table: cache.table,
        heads: heads as i32,
        heads_per_kv: group as i32,
        splits: splits as i32,
        page_rows: page_rows as i32,
        block_table_stride: cache.table_stride as i32,
        scale: scale(head_dim),
        logits_cap: problem.cap,
        row_stride_q: gaps.row() as i32,
        head_stride_q: gaps.head() as i32,
        row_stride_k: cache.row_stride as i32,
        row_stride_v: cache.row_stride as i32,
        head_stride_k: cache.head_stride as i32,
        head_stride_v: cache.head_stride as i32,
        page_stride_k: cache.page_stride as i32,
        page_stride_v: cache.page_stride as i32,
        reserved: 0,
    };
    let tiles = (group as u32).div_ceil(split.instance.tile.m) * attention.value_parts();
    let mut counts =
        split.launch(&mut memory, [tiles * splits as u32, kv_heads as u32, batch as u32], &arguments)?;

    let arguments = FmhaCombineArgs {
        o: memory.output::<T>("o", rows * gaps.row()),
        lse: memory.output::<f32>("lse", rows * heads),
        cu_seqlens_q,
        o_parts: arguments.o_parts,
        lse_parts: arguments.lse_parts,
        heads: heads as i32,
        splits: splits as i32,
        head_dim: head_dim as i32,
        row_stride_o: gaps.row() as i32,
        head_stride_o: gaps.head() as i32,
        head_stride_lse: rows as i32,
    };
    let grid = [heads as u32, batch as u32, 1];
    let (entry, threads) = (combine.instance.entry, combine.instance.warps * 32);
    counts += &launch(combine.program, entry, &mut memory, grid, threads, &arguments.bytes())?;
    let o = gaps.gathered::<T>(&memory, arguments.o, rows - 1)?;
    let lse: Vec<f32> = rows_of::<f32>(&memory, arguments.lse, rows - 1, rows)?;
    Ok((problem.judge(split.instance.data_type, head_dim, &tensors, &o, &lse)?, counts))
}
