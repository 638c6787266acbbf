//! The table. A row's budget is what the pinned compiler needs on the family's hungriest target, rounded up to a step of eight registers;
//! the targets with 1,536 registers a SIMD (gfx1100, gfx1101, gfx1151, gfx12) get more from the compiler than those with 1,024.

use super::{ArgumentBlock, Attention, Budget, DataType, Instance, Mode, Operation, Tile};
use DataType::{Bf16, F16, F32};
use Mode::{Dense, Varlen};
use Operation::{
    FmhaFwd, FmhaPaged, FmhaSplitKv, GeluAndMul, GeluTanhAndMul, LayerNorm, RmsNorm, SiluAndMul, Softmax,
};
use gfx::Wmma;

/// Every kernel of this crate.
pub const INSTANCES: &[Instance] = &[
    fmha("fmha_fwd_bf16_d64_dense", FmhaFwd, Bf16, Dense, false, D64),
    fmha("fmha_fwd_bf16_d64_dense_masked", FmhaFwd, Bf16, Dense, true, D64),
    fmha("fmha_fwd_bf16_d64_varlen_masked", FmhaFwd, Bf16, Varlen, true, D64),
    fmha("fmha_fwd_bf16_d128_dense", FmhaFwd, Bf16, Dense, false, D128),
    fmha("fmha_fwd_bf16_d128_dense_masked", FmhaFwd, Bf16, Dense, true, D128),
    fmha("fmha_fwd_bf16_d128_varlen_masked", FmhaFwd, Bf16, Varlen, true, D128),
    fmha("fmha_fwd_f16_d64_dense", FmhaFwd, F16, Dense, false, D64),
    fmha("fmha_fwd_f16_d64_dense_masked", FmhaFwd, F16, Dense, true, D64),
    fmha("fmha_fwd_f16_d64_varlen_masked", FmhaFwd, F16, Varlen, true, D64),
    fmha("fmha_fwd_f16_d128_dense", FmhaFwd, F16, Dense, false, D128),
    fmha("fmha_fwd_f16_d128_dense_masked", FmhaFwd, F16, Dense, true, D128),
    fmha("fmha_fwd_f16_d128_varlen_masked", FmhaFwd, F16, Varlen, true, D128),
    fmha("fmha_paged_bf16_d64_n16", FmhaPaged, Bf16, Mode::Paged, true, D64_N16),
    fmha("fmha_paged_bf16_d64_n32", FmhaPaged, Bf16, Mode::Paged, true, D64_N32),
    fmha("fmha_paged_bf16_d128_n16", FmhaPaged, Bf16, Mode::Paged, true, D128_N16),
    fmha("fmha_paged_bf16_d128_n32", FmhaPaged, Bf16, Mode::Paged, true, D128),
    fmha("fmha_paged_f16_d64_n16", FmhaPaged, F16, Mode::Paged, true, D64_N16),
    fmha("fmha_paged_f16_d64_n32", FmhaPaged, F16, Mode::Paged, true, D64_N32),
    fmha("fmha_paged_f16_d128_n16", FmhaPaged, F16, Mode::Paged, true, D128_N16),
    fmha("fmha_paged_f16_d128_n32", FmhaPaged, F16, Mode::Paged, true, D128),
    fmha("fmha_split_kv_bf16_d64", FmhaSplitKv, Bf16, Mode::Paged, false, D64_ONE_WAVE),
    fmha("fmha_split_kv_bf16_d128", FmhaSplitKv, Bf16, Mode::Paged, false, D128_ONE_WAVE),
    fmha("fmha_split_kv_f16_d64", FmhaSplitKv, F16, Mode::Paged, false, D64_ONE_WAVE),
    fmha("fmha_split_kv_f16_d128", FmhaSplitKv, F16, Mode::Paged, false, D128_ONE_WAVE),
    combine("fmha_combine_bf16", Bf16),
    combine("fmha_combine_f16", F16),
    activation("silu_and_mul_bf16", SiluAndMul, Bf16),
    activation("silu_and_mul_f16", SiluAndMul, F16),
    activation("silu_and_mul_f32", SiluAndMul, F32),
    activation("gelu_and_mul_bf16", GeluAndMul, Bf16),
    activation("gelu_and_mul_f16", GeluAndMul, F16),
    activation("gelu_and_mul_f32", GeluAndMul, F32),
    activation("gelu_tanh_and_mul_bf16", GeluTanhAndMul, Bf16),
    activation("gelu_tanh_and_mul_f16", GeluTanhAndMul, F16),
    activation("gelu_tanh_and_mul_f32", GeluTanhAndMul, F32),
    norm("rms_norm_bf16", RmsNorm, Bf16),
    norm("rms_norm_f16", RmsNorm, F16),
    norm("rms_norm_f32", RmsNorm, F32),
    norm("layer_norm_bf16", LayerNorm, Bf16),
    norm("layer_norm_f16", LayerNorm, F16),
    norm("layer_norm_f32", LayerNorm, F32),
    norm("softmax_bf16", Softmax, Bf16),
    norm("softmax_f16", Softmax, F16),
    norm("softmax_f32", Softmax, F32),
];

/// The part of an attention kernel that its head dim and its tile of keys decide.
struct Shape {
    head_dim: u32,
    warps: u32,
    keys: u32,
    budgets: &'static [Budget],
}

const D64: Shape = Shape { head_dim: 64, warps: 4, keys: 64, budgets: &both(224, 152, 4608) };
const D64_N32: Shape = Shape { keys: 32, budgets: &both(192, 128, 4608), ..D64 };
/// For pages of 16 rows.
const D64_N16: Shape = Shape { keys: 16, budgets: &both(144, 104, 2304), ..D64 };
/// The rows are the query heads of one kv head: rarely more than one wave takes.
const D64_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(160, 128, 2304), ..D64_N16 };
/// A step of 64 keys would need more than 256 registers on gfx11 and spill.
const D128: Shape = Shape { head_dim: 128, warps: 4, keys: 32, budgets: &both(256, 208, 9216) };
const D128_N16: Shape = Shape { keys: 16, budgets: &both(240, 176, 4608), ..D128 };
const D128_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(256, 192, 4608), ..D128_N16 };

/// Budgets without scratch: registers on gfx11 and on gfx12, and LDS.
const fn both(gfx11: u32, gfx12: u32, lds_bytes: u32) -> [Budget; 2] {
    [
        Budget { wmma: Wmma::Gfx11, vgprs: gfx11, lds_bytes, scratch_bytes: 0 },
        Budget { wmma: Wmma::Gfx12, vgprs: gfx12, lds_bytes, scratch_bytes: 0 },
    ]
}

/// 16 rows of queries a wave; one object for all kernels of an operation and a head dim. The first of them takes 16 seconds to compile, each
/// further one 3: what they have in common is instantiated once.
const fn fmha(
    entry: &'static str,
    operation: Operation,
    data_type: DataType,
    mode: Mode,
    masked: bool,
    shape: Shape,
) -> Instance {
    let Shape { head_dim, warps, keys, budgets } = shape;
    let code_object = match (operation, head_dim) {
        (FmhaFwd, 64) => "fmha_fwd_d64",
        (FmhaFwd, _) => "fmha_fwd_d128",
        (FmhaPaged, 64) => "fmha_paged_d64",
        (FmhaPaged, _) => "fmha_paged_d128",
        (_, 64) => "fmha_split_kv_d64",
        (_, _) => "fmha_split_kv_d128",
    };
    let k1 = if keys < 32 { keys } else { 32 };
    Instance {
        entry,
        code_object,
        operation,
        data_type,
        tile: Tile { m: 16 * warps, n: keys },
        warps,
        attention: Some(Attention { head_dim, mode, masked, k0: 32, k1 }),
        arguments: match operation {
            FmhaPaged => ArgumentBlock::FmhaPaged,
            FmhaSplitKv => ArgumentBlock::FmhaSplitKv,
            _ => ArgumentBlock::FmhaFwd,
        },
        budgets,
    }
}

/// 64 lanes over the head dim of one query.
const fn combine(entry: &'static str, data_type: DataType) -> Instance {
    Instance {
        entry,
        code_object: "fmha_combine",
        operation: Operation::FmhaCombine,
        data_type,
        tile: Tile { m: 1, n: 64 },
        warps: 2,
        attention: None,
        arguments: ArgumentBlock::FmhaCombine,
        budgets: SMALL,
    }
}

const SMALL: &[Budget] = &both(32, 32, 0);

/// 256 lanes, each with 16 bytes of a row; all of them in one object, because together they take a tenth of a second.
const fn activation(entry: &'static str, operation: Operation, data_type: DataType) -> Instance {
    const GELU: &[Budget] = &both(56, 56, 0);
    let budgets = if matches!(operation, GeluAndMul) { GELU } else { SMALL };
    row_wise(entry, "activation", operation, data_type, ArgumentBlock::Activation, budgets)
}

/// The same, with the partial results of eight waves in LDS.
const fn norm(entry: &'static str, operation: Operation, data_type: DataType) -> Instance {
    const BUDGETS: &[Budget] = &both(32, 32, 32);
    row_wise(entry, "norm", operation, data_type, ArgumentBlock::Norm, BUDGETS)
}

const fn row_wise(
    entry: &'static str,
    code_object: &'static str,
    operation: Operation,
    data_type: DataType,
    arguments: ArgumentBlock,
    budgets: &'static [Budget],
) -> Instance {
    Instance {
        entry,
        code_object,
        operation,
        data_type,
        tile: Tile { m: 1, n: 256 * 16 / data_type.size() },
        warps: 8,
        attention: None,
        arguments,
        budgets,
    }
}
