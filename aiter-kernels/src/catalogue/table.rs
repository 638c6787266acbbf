//! The table. A row's budget is what the pinned compiler needs on gfx1100 and gfx1201, rounded up to a step of eight registers, and one step more on
//! gfx11, whose chips differ; the targets with 1,536 registers a SIMD (gfx1100, gfx1101, gfx1151, gfx12) get more from the compiler than those with 1,024.

use super::{ArgumentBlock, Attention, Budget, DataType, Exception, Instance, Mode, Operation, Tile};
use DataType::{Bf16, E4m3, F16, F32};
use Operation::{
    AppendKv, FmhaFwd, FmhaPaged, FmhaSplitKv, GeluAndMul, GeluTanhAndMul, LayerNorm, QuantiseE4m3,
    QuantiseInt8, RmsNorm, Rope, SiluAndMul, Softmax,
};
use gfx::Target::{Gfx1102, Gfx1103, Gfx1150, Gfx1152, Gfx1153};
use gfx::{Target, Wmma};

/// Every kernel of this crate.
pub const INSTANCES: &[Instance] = &[
    fmha("fmha_fwd_bf16_d32", FmhaFwd, Bf16, D32),
    fmha("fmha_fwd_f16_d32", FmhaFwd, F16, D32),
    fmha("fmha_fwd_bf16_d64", FmhaFwd, Bf16, D64),
    fmha("fmha_fwd_f16_d64", FmhaFwd, F16, D64),
    fmha("fmha_fwd_bf16_d96", FmhaFwd, Bf16, D96),
    fmha("fmha_fwd_f16_d96", FmhaFwd, F16, D96),
    fmha("fmha_fwd_bf16_d128", FmhaFwd, Bf16, D128),
    fmha("fmha_fwd_f16_d128", FmhaFwd, F16, D128),
    fmha("fmha_fwd_bf16_d256", FmhaFwd, Bf16, D256),
    fmha("fmha_fwd_f16_d256", FmhaFwd, F16, D256),
    fmha("fmha_fwd_e4m3_d64", FmhaFwd, E4m3, D64_E4M3),
    fmha("fmha_fwd_e4m3_d128", FmhaFwd, E4m3, D128_E4M3),
    fmha("fmha_fwd_e4m3_d256", FmhaFwd, E4m3, D256_E4M3),
    fmha("fmha_paged_bf16_d32_n16", FmhaPaged, Bf16, D32_N16),
    fmha("fmha_paged_bf16_d32_n32", FmhaPaged, Bf16, D32_N32),
    fmha("fmha_paged_f16_d32_n16", FmhaPaged, F16, D32_N16),
    fmha("fmha_paged_f16_d32_n32", FmhaPaged, F16, D32_N32),
    fmha("fmha_paged_bf16_d64_n16", FmhaPaged, Bf16, D64_N16),
    fmha("fmha_paged_bf16_d64_n32", FmhaPaged, Bf16, D64_N32),
    fmha("fmha_paged_f16_d64_n16", FmhaPaged, F16, D64_N16),
    fmha("fmha_paged_f16_d64_n32", FmhaPaged, F16, D64_N32),
    fmha("fmha_paged_bf16_d96_n16", FmhaPaged, Bf16, D96_N16),
    fmha("fmha_paged_bf16_d96_n32", FmhaPaged, Bf16, D96_N32),
    fmha("fmha_paged_f16_d96_n16", FmhaPaged, F16, D96_N16),
    fmha("fmha_paged_f16_d96_n32", FmhaPaged, F16, D96_N32),
    fmha("fmha_paged_bf16_d128_n16", FmhaPaged, Bf16, D128_N16),
    fmha("fmha_paged_bf16_d128_n32", FmhaPaged, Bf16, D128_N32),
    fmha("fmha_paged_f16_d128_n16", FmhaPaged, F16, D128_N16),
    fmha("fmha_paged_f16_d128_n32", FmhaPaged, F16, D128_N32),
    fmha("fmha_paged_bf16_d256_n16", FmhaPaged, Bf16, D256_N16),
    fmha("fmha_paged_f16_d256_n16", FmhaPaged, F16, D256_N16),
    fmha("fmha_split_kv_bf16_d32", FmhaSplitKv, Bf16, D32_ONE_WAVE),
    fmha("fmha_split_kv_f16_d32", FmhaSplitKv, F16, D32_ONE_WAVE),
    fmha("fmha_split_kv_bf16_d64", FmhaSplitKv, Bf16, D64_ONE_WAVE),
    fmha("fmha_split_kv_f16_d64", FmhaSplitKv, F16, D64_ONE_WAVE),
    fmha("fmha_split_kv_bf16_d96", FmhaSplitKv, Bf16, D96_ONE_WAVE),
    fmha("fmha_split_kv_f16_d96", FmhaSplitKv, F16, D96_ONE_WAVE),
    fmha("fmha_split_kv_bf16_d128", FmhaSplitKv, Bf16, D128_ONE_WAVE),
    fmha("fmha_split_kv_f16_d128", FmhaSplitKv, F16, D128_ONE_WAVE),
    fmha("fmha_split_kv_bf16_d256", FmhaSplitKv, Bf16, D256_ONE_WAVE),
    fmha("fmha_split_kv_f16_d256", FmhaSplitKv, F16, D256_ONE_WAVE),
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
    quantise("quantise_int8_bf16", QuantiseInt8, Bf16),
    quantise("quantise_int8_f16", QuantiseInt8, F16),
    quantise("quantise_int8_f32", QuantiseInt8, F32),
    quantise("quantise_e4m3_bf16", QuantiseE4m3, Bf16),
    quantise("quantise_e4m3_f16", QuantiseE4m3, F16),
    quantise("quantise_e4m3_f32", QuantiseE4m3, F32),
    position("rope_bf16", Rope, Bf16),
    position("rope_f16", Rope, F16),
    position("rope_f32", Rope, F32),
    position("append_kv_bf16", AppendKv, Bf16),
    position("append_kv_f16", AppendKv, F16),
];

/// The targets with 1,024 registers a SIMD: LLVM 22 hides less latency in fewer waves, and spills a little where gfx1100 does not.
const SMALL_REGISTER_FILE: &[Target] = &[Gfx1102, Gfx1103, Gfx1150, Gfx1152, Gfx1153];

/// Kernels that take more on some targets than on gfx1100.
pub const EXCEPTIONS: &[Exception] = &[
    exception(SMALL_REGISTER_FILE, &["fmha_split_kv_bf16_d128", "fmha_split_kv_f16_d128"], 240, 0),
    exception(SMALL_REGISTER_FILE, &["fmha_split_kv_bf16_d256", "fmha_split_kv_f16_d256"], 256, 208),
    exception(&[Gfx1102, Gfx1103], &["fmha_fwd_f16_d64"], 256, 8),
];

const fn exception(
    targets: &'static [Target],
    entries: &'static [&'static str],
    vgprs: u32,
    scratch_bytes: u32,
) -> Exception {
    Exception { targets, entries, vgprs, scratch_bytes }
}

/// The part of an attention kernel that its head dim and its tile of keys decide.
struct Shape {
    head_dim: u32,
    warps: u32,
    keys: u32,
    k0: u32,
    k1: [u32; 2],
    budgets: &'static [Budget],
}

/// The first product has at least two steps along the head dim.
const D32: Shape =
    Shape { head_dim: 32, warps: 4, keys: 64, k0: 16, k1: [32, 32], budgets: &both(176, 136, 2304) };
const D32_N32: Shape = Shape { keys: 32, budgets: &both(136, 88, 2304), ..D32 };
const D32_N16: Shape = Shape { keys: 16, k1: [16, 16], budgets: &both(104, 80, 1152), ..D32 };
const D32_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(112, 72, 1152), ..D32_N16 };

const D64: Shape =
    Shape { head_dim: 64, warps: 4, keys: 64, k0: 32, k1: [32, 32], budgets: &both(256, 176, 4608) };
const D64_N32: Shape = Shape { keys: 32, budgets: &both(184, 136, 4608), ..D64 };
/// For pages of 16 rows.
const D64_N16: Shape = Shape { keys: 16, k1: [16, 16], budgets: &both(152, 104, 2304), ..D64 };
/// The rows are the query heads of one kv head: rarely more than one wave takes.
const D64_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(152, 112, 2304), ..D64_N16 };

const D96: Shape = Shape { head_dim: 96, keys: 32, budgets: &both(256, 168, 9216), ..D64 };
const D96_N32: Shape = D96;
const D96_N16: Shape = Shape { keys: 16, k1: [16, 16], budgets: &both(200, 144, 4608), ..D96 };
const D96_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(216, 160, 4608), ..D96_N16 };

/// Eight waves share a tile of keys, so that each holds less of the next one; with four, gfx11 spills, and with 64 keys even with eight. With 32
/// keys of v in registers it spills on most targets of gfx11.
const D128: Shape = Shape { head_dim: 128, warps: 8, keys: 32, k1: [16, 32], budgets: D128_BUDGETS, ..D64 };
const D128_BUDGETS: &[Budget] = &[
    Budget { wmma: Wmma::Gfx11, vgprs: 256, lds_bytes: 4608, scratch_bytes: 0 },
    Budget { wmma: Wmma::Gfx12, vgprs: 208, lds_bytes: 9216, scratch_bytes: 0 },
];
const D128_N32: Shape = Shape { k1: [32, 32], budgets: &both(256, 208, 9216), ..D128 };
const D128_N16: Shape = Shape { warps: 4, keys: 16, k1: [16, 16], budgets: &both(248, 176, 4608), ..D128 };
const D128_ONE_WAVE: Shape = Shape { warps: 1, budgets: &both(232, 184, 4608), ..D128_N16 };

/// Half of the columns of v a work-group, and still no room for more than 16 keys.
const D256: Shape =
    Shape { head_dim: 256, warps: 4, keys: 16, k1: [16, 16], budgets: &both(256, 216, 4608), ..D64 };
const D256_N16: Shape = D256;
/// On gfx11 it spills on every target: one wave holds the next tile of k and v alone.
const D256_ONE_WAVE: Shape = Shape { warps: 1, budgets: &with_scratch(256, 216, 4608, 160), ..D256 };

/// gfx11 has no matrix instructions for 8-bit floats. They take half the registers of 16 bits, so that there is room for wider tiles.
const D64_E4M3: Shape = Shape { budgets: &[gfx12_alone(136, 2304)], ..D64 };
const D128_E4M3: Shape =
    Shape { warps: 4, keys: 64, k1: [32, 32], budgets: &[gfx12_alone(192, 4608)], ..D128 };
const D256_E4M3: Shape = Shape { keys: 32, k1: [32, 32], budgets: &[gfx12_alone(200, 4608)], ..D256 };

/// Registers and LDS of a kernel that gfx11 does not have.
const fn gfx12_alone(vgprs: u32, lds_bytes: u32) -> Budget {
    Budget { wmma: Wmma::Gfx12, vgprs, lds_bytes, scratch_bytes: 0 }
}

/// Budgets without scratch: registers on gfx11 and on gfx12, and LDS.
const fn both(gfx11: u32, gfx12: u32, lds_bytes: u32) -> [Budget; 2] {
    [
        Budget { wmma: Wmma::Gfx11, vgprs: gfx11, lds_bytes, scratch_bytes: 0 },
        Budget { wmma: Wmma::Gfx12, vgprs: gfx12, lds_bytes, scratch_bytes: 0 },
    ]
}

/// [`both`], with bytes of scratch on gfx11.
const fn with_scratch(gfx11: u32, gfx12: u32, lds_bytes: u32, scratch_bytes: u32) -> [Budget; 2] {
    let [first, second] = both(gfx11, gfx12, lds_bytes);
    [Budget { scratch_bytes, ..first }, second]
}

/// 16 rows of queries a wave; one object for all kernels of a head dim. The first of them takes 16 seconds to compile, each further one 4:
/// what they have in common is instantiated once.
const fn fmha(entry: &'static str, operation: Operation, data_type: DataType, shape: Shape) -> Instance {
    let Shape { head_dim, warps, keys, k0, k1, budgets } = shape;
    let (arguments, modes): (_, &[Mode]) = match operation {
        FmhaPaged => (ArgumentBlock::FmhaPaged, &[Mode::Paged]),
        FmhaSplitKv => (ArgumentBlock::FmhaSplitKv, &[Mode::Paged]),
        _ => (ArgumentBlock::FmhaFwd, &[Mode::Dense, Mode::Varlen]),
    };
    Instance {
        entry,
        code_object: match head_dim {
            32 => "attention_d32",
            64 => "attention_d64",
            96 => "attention_d96",
            128 => "attention_d128",
            _ => "attention_d256",
        },
        operation,
        data_type,
        tile: Tile { m: 16 * warps, n: keys },
        warps,
        attention: Some(Attention {
            head_dim,
            modes,
            masked: !matches!(operation, FmhaSplitKv),
            soft_cap: true,
            k0,
            k1,
        }),
        arguments,
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

/// As a norm: two passes over a row, and the largest magnitude of eight waves in LDS.
const fn quantise(entry: &'static str, operation: Operation, data_type: DataType) -> Instance {
    const BUDGETS: &[Budget] = &both(48, 48, 32);
    row_wise(entry, "quantise", operation, data_type, ArgumentBlock::Quantise, BUDGETS)
}

/// A row of heads a work-group, 16 bytes or one pair of elements a lane.
const fn position(entry: &'static str, operation: Operation, data_type: DataType) -> Instance {
    const BUDGETS: &[Budget] = &both(80, 80, 0);
    match operation {
        Rope => row_wise(entry, "rope", operation, data_type, ArgumentBlock::Rope, BUDGETS),
        _ => row_wise(entry, "append_kv", operation, data_type, ArgumentBlock::AppendKv, BUDGETS),
    }
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
