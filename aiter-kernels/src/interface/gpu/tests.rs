//! What is launched, and with which argument block, without a card.

use super::{KernelCall, Plan, append_kv, attention, gated_activation, norm, quantise_per_token, rope};
use crate::args::{
    ActivationArgs, AppendKvArgs, FmhaCombineArgs, FmhaFwdArgs, FmhaPagedArgs, FmhaSplitKvArgs, NormArgs,
    QuantiseArgs, RopeArgs,
};
use crate::dispatch::Device;
use crate::interface::tensor::Memory;
use crate::interface::*;
use gfx::Target;

fn gpu(address: u64) -> Memory<'static> {
    Memory::Gpu { device: 0, address, bytes: 1 << 40 }
}

fn tensor(address: u64, element_type: ElementType, shape: &[usize]) -> Tensor<'static> {
    Tensor::new(gpu(address), element_type, shape)
}

fn out(address: u64, element_type: ElementType, shape: &[usize]) -> TensorMut<'static> {
    TensorMut::new(gpu(address), element_type, shape)
}

fn device(target: Target) -> Device {
    Device::new(target, None, None)
}

const BF16: ElementType = ElementType::Bf16;
const I32: ElementType = ElementType::I32;

fn dense() -> Attention<'static> {
    Attention {
        q: tensor(0x1000, BF16, &[2, 70, 8, 64]),
        k: tensor(0x2000, BF16, &[2, 101, 2, 64]),
        v: tensor(0x3000, BF16, &[2, 101, 2, 64]),
        out: out(0x4000, BF16, &[2, 70, 8, 64]),
        lse: None,
        sequences: Sequences::Dense,
        options: AttentionOptions::default(),
    }
}

fn paged(queries: usize, max_seqlen_q: usize) -> Attention<'static> {
    Attention {
        q: tensor(0x1000, BF16, &[queries, 8, 64]),
        k: tensor(0x2000, BF16, &[40, 16, 2, 64]),
        v: tensor(0x3000, BF16, &[40, 16, 2, 64]),
        out: out(0x4000, BF16, &[queries, 8, 64]),
        lse: None,
        sequences: Sequences::Paged {
            cu_seqlens_q: tensor(0x5000, I32, &[4]),
            seqlens_k: tensor(0x6000, I32, &[3]),
            block_table: tensor(0x7000, I32, &[3, 300]),
            limits: Limits { max_seqlen_q, max_seqlen_k: 4800, min_seqlen_q: 0 },
        },
        options: AttentionOptions::default(),
    }
}

fn plan(call: &Attention, target: Target, scratch: u64) -> Result<Plan, Error> {
    attention(call, &call.check()?, device(target), scratch)
}

fn arguments<A: bytemuck::Pod>(call: &KernelCall) -> A {
    bytemuck::pod_read_unaligned(&call.arguments)
}

#[test]
fn a_dense_call_is_one_launch_with_the_tensors_strides() {
    let mut call = dense();
    // q, k and v lie in one tensor of [batch, row, 12 heads, head dim].
    call.q = call.q.with_strides(&[70 * 768, 768, 64, 1]);
    call.options.causal = true;
    let Plan { calls, scratch } = plan(&call, Target::Gfx1201, 0x10_0000).expect("it fits");
    let [one] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(one.launch.instance.entry, "fmha_fwd_bf16_d64");
    let expected = FmhaFwdArgs {
        q: 0x1000,
        k: 0x2000,
        v: 0x3000,
        o: 0x4000,
        lse: 0x10_0000,
        seqlen_q: 70,
        seqlen_k: 101,
        heads: 8,
        heads_per_kv: 4,
        scale: 0.125,
        o_scale: 1.0,
        row_stride_q: 768,
        row_stride_k: 128,
        row_stride_v: 128,
        row_stride_o: 512,
        head_stride_q: 64,
        head_stride_k: 64,
        head_stride_v: 64,
        head_stride_o: 64,
        batch_stride_q: 70 * 768,
        batch_stride_k: 101 * 128,
        batch_stride_v: 101 * 128,
        batch_stride_o: 70 * 512,
        head_stride_lse: 70,
        batch_stride_lse: 560,
        window_left: -1,
        window_right: 0,
        mask_origin: 2,
        ..FmhaFwdArgs::default()
    };
    assert_eq!(arguments::<FmhaFwdArgs>(one), expected);
    assert_eq!(scratch, (2 * 70 * 8 * 4u64).next_multiple_of(256), "an LSE that nobody asked for");
}

#[test]
fn a_varlen_call_passes_the_row_offsets_and_the_callers_lse() {
    let call = Attention {
        q: tensor(0x1000, ElementType::F16, &[107, 2, 128]),
        k: tensor(0x2000, ElementType::F16, &[191, 1, 128]),
        v: tensor(0x3000, ElementType::F16, &[191, 1, 128]),
        out: out(0x4000, ElementType::F16, &[107, 2, 128]),
        lse: Some(out(0x8000, ElementType::F32, &[2, 107]).with_strides(&[128, 1])),
        sequences: Sequences::Varlen {
            cu_seqlens_q: tensor(0x5000, I32, &[3]),
            cu_seqlens_k: tensor(0x6000, I32, &[3]),
            limits: Limits { max_seqlen_q: 70, max_seqlen_k: 101, min_seqlen_q: 2 },
        },
        options: AttentionOptions {
            window_size: [5, 3],
            logits_soft_cap: 20.0,
            ..AttentionOptions::default()
        },
    };
    let Plan { calls, scratch } = plan(&call, Target::Gfx1100, 0).expect("it fits");
    let args = arguments::<FmhaFwdArgs>(&calls[0]);
    assert_eq!(calls[0].launch.instance.entry, "fmha_fwd_f16_d128");
    assert_eq!((args.cu_seqlens_q, args.cu_seqlens_k, args.lse), (0x5000, 0x6000, 0x8000));
    assert_eq!(args.min_seqlen_q, 2);
    assert_eq!((args.head_stride_lse, args.window_left, args.window_right), (128, 5, 3));
    assert_eq!((args.logits_cap, args.heads_per_kv, args.row_stride_q, scratch), (20.0, 2, 256, 0));
}

#[test]
fn one_query_a_sequence_is_split_and_combined_in_scratch_memory() {
    let call = paged(3, 1);
    let Plan { calls, scratch } = plan(&call, Target::Gfx1201, 0x10_0000).expect("it fits");
    let [parts, combine] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(parts.launch.instance.entry, "fmha_split_kv_bf16_d64");
    assert_eq!(combine.launch.instance.entry, "fmha_combine_bf16");
    let (split, combined) = (arguments::<FmhaSplitKvArgs>(parts), arguments::<FmhaCombineArgs>(combine));
    let splits = split.splits as u64;
    assert!(splits > 1);
    let lse = (3 * 8 * 4u64).next_multiple_of(256);
    let o_parts = (3 * 8 * splits * 64 * 4).next_multiple_of(256);
    let lse_parts = (3 * 8 * splits * 4).next_multiple_of(256);
    assert_eq!((split.o_parts, split.lse_parts), (0x10_0000 + lse, 0x10_0000 + lse + o_parts));
    assert_eq!(
        (combined.lse, combined.o_parts, combined.lse_parts),
        (0x10_0000, split.o_parts, split.lse_parts)
    );
    assert_eq!((combined.o, combined.row_stride_o, combined.head_stride_o), (0x4000, 512, 64));
    assert_eq!((split.cu_seqlens_q, combined.cu_seqlens_q, combined.head_stride_lse), (0x5000, 0x5000, 3));
    assert_eq!((split.page_rows, split.block_table, split.block_table_stride), (16, 0x7000, 300));
    assert_eq!(scratch, lse + o_parts + lse_parts);
}

#[test]
fn one_query_or_none_a_sequence_is_split_whatever_rows_and_lse_there_are() {
    let lse = out(0x8000, ElementType::F32, &[8, 5]).with_strides(&[8, 1]);
    // 3 sequences, and fewer rows, or rows behind them.
    for call in [paged(2, 1), Attention { lse: Some(lse), ..paged(5, 1) }] {
        let Plan { calls, scratch } = plan(&call, Target::Gfx1201, 0x10_0000).expect("it fits");
        let [parts, combine] = &calls[..] else { panic!("{calls:?}") };
        let (split, combined) = (arguments::<FmhaSplitKvArgs>(parts), arguments::<FmhaCombineArgs>(combine));
        assert_eq!((parts.launch.grid[2], combine.launch.grid[1]), (3, 3), "one a sequence");
        assert_eq!((split.cu_seqlens_q, split.row_stride_q), (0x5000, 512));
        let expected = if call.lse.is_some() { (0x8000, 8) } else { (0x10_0000, 2) };
        assert_eq!((combined.lse, combined.head_stride_lse), expected);
        assert!(scratch > 0);
    }
}

#[test]
fn what_split_kv_cannot_do_goes_to_the_paged_kernel() {
    let sliding = AttentionOptions { window_size: [5, 0], ..AttentionOptions::default() };
    for call in [Attention { options: sliding, ..paged(3, 1) }, paged(100, 50)] {
        let Plan { calls, .. } = plan(&call, Target::Gfx1201, 0).expect("it fits");
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].launch.instance.entry, "fmha_paged_bf16_d64_n16");
        let args = arguments::<FmhaPagedArgs>(&calls[0]);
        assert_eq!((args.page_stride_k, args.row_stride_k, args.head_stride_k), (2048, 128, 64));
        assert_eq!((args.cu_seqlens_q, args.seqlens_k, args.block_table), (0x5000, 0x6000, 0x7000));
    }
}

#[test]
fn sequences_of_too_few_queries_are_the_kernels_matter_and_no_launch_where_all_are() {
    for (max_seqlen_q, least, launches) in [(50, 1, 1), (50, 49, 1), (50, 50, 0), (1, 1, 0)] {
        let mut call = paged(100, max_seqlen_q);
        if let Sequences::Paged { limits, .. } = &mut call.sequences {
            limits.min_seqlen_q = least;
        }
        let Plan { calls, .. } = plan(&call, Target::Gfx1201, 0).expect("it fits");
        assert_eq!(calls.len(), launches, "{max_seqlen_q} queries at most, {least} left out");
        for call in calls {
            assert_eq!(arguments::<FmhaPagedArgs>(&call).min_seqlen_q, least as i32);
        }
    }
}

#[test]
fn a_side_of_the_window_beyond_all_keys_is_open() {
    for (window, expected) in [
        ([i32::MAX, i32::MAX], [-1, -1]),
        ([101, 100], [-1, 100]),
        ([100, 101], [100, -1]),
        ([-7, 0], [-1, 0]),
    ] {
        let mut call = dense();
        call.options.window_size = window;
        let Plan { calls, .. } = plan(&call, Target::Gfx1201, 0).expect("it fits");
        let args = arguments::<FmhaFwdArgs>(&calls[0]);
        assert_eq!([args.window_left, args.window_right], expected, "{window:?}");
    }
}

#[test]
fn rows_without_a_longest_sequence_are_refused() {
    let found = plan(&paged(3, 0), Target::Gfx1201, 0).expect_err("refused").to_string();
    assert_eq!(found, "max_seqlen_q: expected at least 1 where q has rows, found 0");
}

#[test]
fn nothing_to_compute_is_no_launch() {
    let mut call = dense();
    call.q = tensor(0x1000, BF16, &[2, 0, 8, 64]);
    call.out = out(0x4000, BF16, &[2, 0, 8, 64]);
    assert_eq!(plan(&call, Target::Gfx1201, 0).expect("it fits"), Plan::default());
}

fn of_e4m3(mut call: Attention<'static>) -> Attention<'static> {
    for tensor in [&mut call.q, &mut call.k, &mut call.v] {
        tensor.element_type = ElementType::E4m3;
    }
    call
}

#[test]
fn gfx12_has_attention_of_e4m3_with_the_factors_in_its_scales() {
    let mut call = of_e4m3(dense());
    call.options.descale = [2.0, 4.0, 3.0];
    for target in [Target::Gfx1200, Target::Gfx1201, Target::Gfx12Generic] {
        let Plan { calls, .. } = plan(&call, target, 0).expect("it fits");
        assert_eq!(calls[0].launch.instance.entry, "fmha_fwd_e4m3_d64");
        let args = arguments::<FmhaFwdArgs>(&calls[0]);
        assert_eq!((args.scale, args.o_scale), (0.125 * 8.0, 3.0));
    }
    call.out = out(0x4000, ElementType::F16, &[2, 70, 8, 64]);
    let message = |call: &Attention| plan(call, Target::Gfx1201, 0).expect_err("refused").to_string();
    assert_eq!(message(&call), "out: attention of e4m3 makes bf16 on a GPU, not f16");
    assert_eq!(message(&of_e4m3(paged(3, 1))), "data_type: fmha_split_kv has no e4m3 kernel");
}

#[test]
fn what_no_kernel_can_compute_is_never_launched() {
    let message = |call: &Attention, target| plan(call, target, 0).expect_err("refused").to_string();
    let fp8 = of_e4m3(dense());
    let found = message(&fp8, Target::Gfx1100);
    assert_eq!(found, "q: gfx1100 has no matrix instructions for e4m3; gfx1200 and gfx1201 have");
    let mut wide = dense();
    for tensor in [&mut wide.q, &mut wide.k, &mut wide.v, &mut wide.out.0] {
        tensor.element_type = ElementType::F32;
    }
    assert_eq!(message(&wide, Target::Gfx1201), "q: there is no attention kernel for f32 on a GPU");
    let mut small_pages = paged(3, 1);
    small_pages.k = tensor(0x2000, BF16, &[640, 8, 2, 64]);
    small_pages.v = tensor(0x3000, BF16, &[640, 8, 2, 64]);
    if let Sequences::Paged { limits, .. } = &mut small_pages.sequences {
        limits.max_seqlen_k = 2400;
    }
    let found = message(&small_pages, Target::Gfx1201);
    assert!(found.starts_with("page_rows: 8 is no multiple of 16"), "{found}");
    let mut large = dense();
    large.k = tensor(0x2000, BF16, &[2, 5_000_000, 2, 64]);
    large.v = tensor(0x3000, BF16, &[2, 5_000_000, 2, 64]);
    let expected = "k: its size in bytes is 2560000000, kernels count up to 2147483647";
    assert_eq!(message(&large, Target::Gfx1201), expected);
    let mut large_pool = paged(3, 1);
    for pool in [&mut large_pool.k, &mut large_pool.v] {
        *pool = tensor(0x2000, BF16, &[1_000_000, 16, 2, 64]);
    }
    let expected = "k: its size in bytes is 4096000000, kernels count up to 2147483647";
    assert_eq!(message(&large_pool, Target::Gfx1201), expected);
    let mut sparse = dense();
    sparse.q = sparse.q.with_strides(&[3_000_000_000, 512, 64, 1]);
    assert!(message(&sparse, Target::Gfx1201).starts_with("q: "), "{}", message(&sparse, Target::Gfx1201));
}

#[test]
fn rows_keep_their_strides() {
    let call = GatedActivation {
        activation: Activation::GeluTanh,
        out: out(0x1000, ElementType::F16, &[3, 5, 300]),
        input: tensor(0x2000, ElementType::F16, &[3, 5, 600]).with_strides(&[5 * 640, 640, 1]),
    };
    let sizes = call.check().expect("it fits");
    let Plan { calls, .. } = gated_activation(&call, &sizes, device(Target::Gfx1151)).expect("it fits");
    assert_eq!(calls[0].launch.instance.entry, "gelu_tanh_and_mul_f16");
    assert_eq!(calls[0].launch.grid[0], 15);
    let expected = ActivationArgs {
        out: 0x1000,
        input: 0x2000,
        out_row_stride: 300,
        input_row_stride: 640,
        width: 300,
        reserved: 0,
    };
    assert_eq!(arguments::<ActivationArgs>(&calls[0]), expected);

    let call = Norm {
        kind: NormKind::Layer,
        out: out(0x1000, BF16, &[7, 96]),
        input: tensor(0x2000, BF16, &[7, 96]),
        residual: Some(Residual {
            input: tensor(0x3000, BF16, &[7, 96]).with_strides(&[128, 1]),
            out: out(0x3800, BF16, &[7, 96]).with_strides(&[100, 1]),
        }),
        weight: Some(tensor(0x4000, BF16, &[96])),
        bias: None,
        epsilon: 1e-5,
    };
    let sizes = call.check().expect("it fits");
    let Plan { calls, .. } = norm(&call, &sizes, device(Target::Gfx1151)).expect("it fits");
    assert_eq!(calls[0].launch.instance.entry, "layer_norm_bf16");
    let args = arguments::<NormArgs>(&calls[0]);
    assert_eq!((args.residual_in, args.residual_in_row_stride), (0x3000, 128));
    assert_eq!((args.residual_out, args.residual_out_row_stride), (0x3800, 100));
    assert_eq!((args.weight, args.bias), (0x4000, 0));
    assert_eq!((args.width, args.epsilon), (96, 1e-5));
}

fn tables(element_type: ElementType) -> RopeTables<'static> {
    RopeTables {
        cos: tensor(0x5000, element_type, &[99, 1, 1, 32]),
        sin: tensor(0x6000, element_type, &[99, 1, 1, 32]),
        style: RopeStyle::Interleaved,
        nope_first: true,
    }
}

#[test]
fn rope_takes_its_rows_and_tables_as_the_kernel_reads_them() {
    let call = Rope {
        out: out(0x1000, BF16, &[5, 3, 4, 96]),
        // A part of a larger row.
        input: tensor(0x2000, BF16, &[5, 3, 4, 96]).with_strides(&[3 * 1000, 1000, 100, 1]),
        tables: tables(ElementType::F32),
        positions: Some(tensor(0x7000, I32, &[5, 3])),
    };
    let plan = |call: &Rope| call.check().and_then(|_| rope(call, device(Target::Gfx1201)));
    let Plan { calls, .. } = plan(&call).expect("it fits");
    assert_eq!((calls[0].launch.instance.entry, calls[0].launch.grid[0]), ("rope_bf16", 15));
    let expected = RopeArgs {
        out: 0x1000,
        input: 0x2000,
        cos: 0x5000,
        sin: 0x6000,
        positions: 0x7000,
        out_row_stride: 384,
        input_row_stride: 1000,
        out_head_stride: 96,
        input_head_stride: 100,
        heads: 4,
        head_dim: 96,
        rotary_dim: 64,
        first: 32,
        interleaved: 1,
        batch: 3,
    };
    assert_eq!(arguments::<RopeArgs>(&calls[0]), expected);
    let message = |call: Rope| plan(&call).expect_err("refused").to_string();
    let narrow = Rope { tables: tables(BF16), ..call.clone() };
    assert_eq!(message(narrow), "cos: expected f32, found bf16");
    let counted = Rope { positions: None, ..call.clone() };
    let args = arguments::<RopeArgs>(&plan(&counted).expect("it fits").calls[0]);
    assert_eq!((args.positions, args.batch), (0, 3), "the kernel counts");
    let input = call.input.clone().with_strides(&[3 * 1000 + 8, 1000, 100, 1]);
    let uneven = Rope { input, ..call.clone() };
    assert!(message(uneven).starts_with("input: expected rows at equal distances"));
}

#[test]
fn new_rows_go_into_pages_and_into_dense_caches() {
    let call = AppendKv {
        k_cache: out(0x1000, BF16, &[40, 16, 2, 64]),
        v_cache: out(0x2000, BF16, &[40, 16, 2, 64]),
        k: tensor(0x3000, BF16, &[3, 5, 2, 64]),
        v: tensor(0x4000, BF16, &[3, 5, 2, 64]),
        cache_seqlens: tensor(0x8000, I32, &[3]),
        block_table: Some(tensor(0x9000, I32, &[3, 7])),
        rope: Some(RopeTables { nope_first: false, ..tables(ElementType::F32) }),
    };
    let plan = |call: &AppendKv| append_kv(call, &call.check()?, device(Target::Gfx1100));
    let Plan { calls, .. } = plan(&call).expect("it fits");
    assert_eq!((calls[0].launch.instance.entry, calls[0].launch.grid), ("append_kv_bf16", [5, 3, 1]));
    let args = arguments::<AppendKvArgs>(&calls[0]);
    assert_eq!(
        (args.filled, args.block_table, args.block_table_stride, args.page_rows),
        (0x8000, 0x9000, 7, 16)
    );
    assert_eq!((args.page_stride_k, args.row_stride_k, args.head_stride_k), (2048, 128, 64));
    assert_eq!((args.new_row_stride_k, args.new_head_stride_k, args.added, args.cu_added), (128, 64, 5, 0));
    assert_eq!((args.cos, args.rotary_dim, args.interleaved), (0x5000, 64, 1));
    let dense = AppendKv {
        k_cache: out(0x1000, BF16, &[3, 128, 2, 64]),
        v_cache: out(0x2000, BF16, &[3, 128, 2, 64]),
        block_table: None,
        rope: None,
        ..call.clone()
    };
    let args = arguments::<AppendKvArgs>(&plan(&dense).expect("it fits").calls[0]);
    assert_eq!((args.block_table, args.cos, args.rotary_dim, args.page_stride_v), (0, 0, 0, 128 * 128));
    let nope = AppendKv { rope: Some(tables(ElementType::F32)), ..call.clone() };
    assert!(plan(&nope).expect_err("refused").to_string().starts_with("nope_first: "));
    let pool = || out(0x1000, BF16, &[1_000_000, 16, 2, 64]);
    let large = AppendKv { k_cache: pool(), v_cache: pool(), ..call };
    let expected = "k_cache: its size in bytes is 4096000000, kernels count up to 2147483647";
    assert_eq!(plan(&large).expect_err("refused").to_string(), expected);
}

#[test]
fn quantisation_is_one_launch_a_format() {
    for (element_type, entry) in
        [(ElementType::I8, "quantise_int8_f16"), (ElementType::E4m3, "quantise_e4m3_f16")]
    {
        let call = QuantisePerToken {
            out: out(0x1000, element_type, &[7, 130]),
            input: tensor(0x2000, ElementType::F16, &[7, 130]).with_strides(&[200, 1]),
            scales: out(0x3000, ElementType::F32, &[7, 1]),
        };
        let sizes = call.check().expect("it fits");
        let Plan { calls, .. } = quantise_per_token(&call, &sizes, device(Target::Gfx1100)).expect("it fits");
        assert_eq!(calls[0].launch.instance.entry, entry);
        let args = arguments::<QuantiseArgs>(&calls[0]);
        assert_eq!((args.out, args.input, args.scales), (0x1000, 0x2000, 0x3000));
        assert_eq!((args.out_row_stride, args.input_row_stride, args.width), (130, 200, 130));
    }
}
