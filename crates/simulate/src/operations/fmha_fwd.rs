//! Attention over contiguous keys, dense and varlen.

use super::attention::{CAUSAL_BOTTOM, CAUSAL_TOP, Gaps, OPEN, Problem, SLIDING, problem, scale};
use super::fp8::Fp8;
use super::{Case, Kernel, Number, rows_of};
use crate::{Error, Outcome};
use aiter_kernels::args::FmhaFwdArgs;
use aiter_kernels::catalogue::{DataType, Mode};
use gfx_sim::Memory;
use half::{bf16, f16};

/// More and fewer keys than queries, lengths below, at and above a tile, empty sequences and sequences left out, GQA, MQA, windows, soft cap.
const PROBLEMS: [(Mode, Problem); 10] = [
    (Mode::Dense, problem((2, 1), &[(70, 101)], OPEN, 0.0)),
    (Mode::Dense, problem((4, 2), &[(33, 65), (33, 65)], CAUSAL_BOTTOM, 0.0)),
    (Mode::Dense, problem((1, 1), &[(70, 37)], CAUSAL_BOTTOM, 2.0)),
    (Mode::Dense, problem((1, 1), &[(130, 140)], CAUSAL_TOP, 0.0)),
    (Mode::Dense, problem((3, 1), &[(1, 130)], SLIDING, 30.0)),
    (Mode::Dense, problem((1, 1), &[(64, 64)], OPEN, 0.0)),
    (Mode::Varlen, problem((2, 1), &[(37, 90), (70, 101)], CAUSAL_BOTTOM, 2.0)),
    (Mode::Varlen, problem((4, 2), &[(70, 3), (0, 40), (5, 0)], SLIDING, 0.0)),
    (Mode::Varlen, problem((1, 1), &[(9, 0), (131, 33)], CAUSAL_TOP, 0.0)),
    (Mode::Varlen, problem((2, 1), &[(38, 21), (0, 3), (37, 20), (5, 9)], OPEN, 0.0).without(37)),
];

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let attention = kernel.instance.attention.expect("the catalogue says what an attention kernel does");
    let fits = |(mode, problem): &&(Mode, Problem)| {
        attention.modes.contains(mode)
            && (attention.masked || problem.mask == OPEN)
            && (attention.soft_cap || problem.cap == 0.0)
    };
    let cases: Vec<_> = PROBLEMS.iter().filter(fits).copied().collect();
    let name = |(mode, problem): &(Mode, Problem)| format!("{} {problem}", mode.name());
    let run = match kernel.instance.data_type {
        DataType::Bf16 => run::<bf16, bf16>,
        DataType::F16 => run::<f16, f16>,
        DataType::F32 => run::<f32, f32>,
        DataType::E4m3 => run::<Fp8, bf16>,
    };
    Ok(kernel.outcomes(&cases, name, |(mode, problem)| run(kernel, *mode == Mode::Varlen, problem)))
}

/// With q, k and v of `T`, and o of `O`.
fn run<T: Number, O: Number>(kernel: &Kernel<'_>, is_varlen: bool, problem: &Problem) -> Case {
    let attention = kernel.instance.attention.expect("an attention kernel");
    let head_dim = attention.head_dim as usize;
    let Problem { heads, kv_heads, .. } = *problem;
    let tensors = problem.tensors::<T>(head_dim);
    let (queries, keys) = problem.longest();
    let (rows, batch) = (problem.queries(), problem.sequences.len());
    let (gaps, kv_gaps) = (Gaps::new(heads, head_dim), Gaps::new(kv_heads, head_dim));
    let (row, kv_row) = (gaps.row(), kv_gaps.row());
    let (window_left, window_right, mask_origin) = problem.window();
    let o_scale = if kernel.instance.data_type == DataType::E4m3 { 2.0 } else { 1.0 };

    let mut memory = Memory::new();
    let mut offsets = |name: &str, of: fn(&(usize, usize)) -> usize| match is_varlen {
        true => memory.read_only(name, &problem.offsets(of)),
        false => 0,
    };
    let (cu_seqlens_q, cu_seqlens_k) = (offsets("cu_seqlens_q", |s| s.0), offsets("cu_seqlens_k", |s| s.1));
    let arguments = FmhaFwdArgs {
        q: memory.read_only("q", &gaps.spread(&tensors.q)),
        k: memory.read_only("k", &kv_gaps.spread(&tensors.k)),
        v: memory.read_only("v", &kv_gaps.spread(&tensors.v)),
        o: memory.output::<O>("o", rows * row),
        lse: memory.output::<f32>("lse", heads * rows),
        cu_seqlens_q,
        cu_seqlens_k,
        seqlen_q: queries as i32,
        seqlen_k: keys as i32,
        heads: heads as i32,
        heads_per_kv: (heads / kv_heads) as i32,
        scale: scale(head_dim),
        logits_cap: problem.cap,
        row_stride_q: row as i32,
        row_stride_k: kv_row as i32,
        row_stride_v: kv_row as i32,
        row_stride_o: row as i32,
        head_stride_q: gaps.head() as i32,
        head_stride_k: kv_gaps.head() as i32,
        head_stride_v: kv_gaps.head() as i32,
        head_stride_o: gaps.head() as i32,
        batch_stride_q: (queries * row) as i32,
        batch_stride_k: (keys * kv_row) as i32,
        batch_stride_v: (keys * kv_row) as i32,
        batch_stride_o: (queries * row) as i32,
        head_stride_lse: if is_varlen { rows } else { queries } as i32,
        batch_stride_lse: (heads * queries) as i32,
        window_left,
        window_right,
        mask_origin,
        o_scale,
        min_seqlen_q: problem.min_queries as i32,
        reserved: 0,
    };
    let grid = [
        heads as u32 * attention.value_parts(),
        (queries as u32).div_ceil(kernel.instance.tile.m),
        batch as u32,
    ];
    let counts = kernel.launch(&mut memory, grid, &arguments)?;
    let o: Vec<f32> =
        gaps.gathered::<O>(&memory, arguments.o, problem.written())?.iter().map(|o| o / o_scale).collect();
    let mut lse = rows_of::<f32>(&memory, arguments.lse, problem.written(), rows)?;
    if !is_varlen {
        // From [batch, head, row] to [head, row of all sequences].
        let place = |head: usize, row: usize| (row / queries * heads + head) * queries + row % queries;
        lse = (0..heads)
            .flat_map(|head| (0..rows).map(move |row| (head, row)))
            .map(|(h, r)| lse[place(h, r)])
            .collect();
    }
    Ok((problem.judge(kernel.instance.data_type, head_dim, &tensors, &o, &lse)?, counts))
}
