//! Tables of problems and the launches they become.

use aiter_kernels::catalogue::{DataType, Operation};
use aiter_kernels::dispatch::{
    AttentionPlan, AttentionProblem, Device, DispatchError, Layout, Window, append_kv, attention,
    environment, row_wise,
};
use aiter_kernels::reference::Origin;
use gfx::Target;

const CAUSAL: Window = Window::causal(Origin::BottomRight);

fn device(target: Target) -> Device {
    Device::new(target, None, None)
}

/// Llama 3 8B: 32 query heads on 8 kv heads of 128, four sequences.
fn problem(layout: Layout, window: Window, max_queries: u32, max_keys: u32) -> AttentionProblem {
    AttentionProblem {
        data_type: DataType::Bf16,
        head_dim: 128,
        heads: 32,
        kv_heads: 8,
        batch: 4,
        max_queries,
        max_keys,
        layout,
        window,
        soft_cap: false,
    }
}

fn single(problem: &AttentionProblem) -> (&'static str, [u32; 3]) {
    match attention(device(Target::Gfx1201), problem) {
        Ok(AttentionPlan::Single(launch)) => (launch.instance.entry, launch.grid),
        other => panic!("one launch expected: {other:?}"),
    }
}

#[test]
fn contiguous_problems() {
    let sliding = Window::Window { left: Some(4096), right: Some(0), origin: Origin::BottomRight };
    for layout in [Layout::Dense, Layout::Varlen] {
        for (window, queries, tiles) in [(Window::None, 1000, 8), (CAUSAL, 64, 1), (sliding, 129, 2)] {
            for soft_cap in [false, true] {
                let problem = AttentionProblem { soft_cap, ..problem(layout, window, queries, 1000) };
                assert_eq!(single(&problem), ("fmha_fwd_bf16_d128", [32, tiles, 4]), "{problem:?}");
            }
        }
    }
}

#[test]
fn every_head_dim_has_every_mode_and_wide_heads_are_shared() {
    let table = [(32, 64, 1), (64, 64, 1), (96, 64, 1), (128, 128, 1), (256, 64, 2)];
    for (head_dim, rows, parts) in table {
        for (data_type, name) in [(DataType::Bf16, "bf16"), (DataType::F16, "f16")] {
            let shape = |layout, queries| AttentionProblem {
                head_dim,
                data_type,
                ..problem(layout, CAUSAL, queries, 4096)
            };
            let (entry, grid) = single(&shape(Layout::Varlen, 1024));
            assert_eq!(entry, format!("fmha_fwd_{name}_d{head_dim}"));
            assert_eq!(grid, [32 * parts, 1024 / rows, 4]);
            for page_rows in [16, 32, 256] {
                let (_, grid) = single(&shape(Layout::Paged { page_rows }, 1024));
                assert_eq!(grid[..2], [32 * parts, 4]);
            }
            let decode = attention(device(Target::Gfx1100), &shape(Layout::Paged { page_rows: 16 }, 1));
            let Ok(AttentionPlan::Split { splits, parts: launch, .. }) = decode else { panic!("{decode:?}") };
            assert_eq!(launch.grid, [parts * splits, 8, 4]);
        }
    }
}

#[test]
fn pages_take_the_largest_tile_that_they_hold_whole() {
    for (page_rows, tile) in [(16, 16), (32, 32), (48, 16), (64, 32), (256, 32)] {
        let (entry, grid) = single(&problem(Layout::Paged { page_rows }, CAUSAL, 100, 1000));
        assert_eq!(entry, format!("fmha_paged_bf16_d128_n{tile}"), "pages of {page_rows}");
        assert_eq!(grid, [32, 4, if tile == 16 { 2 } else { 1 }]);
    }
    for page_rows in [0, 1, 8, 24] {
        let plan =
            attention(device(Target::Gfx1100), &problem(Layout::Paged { page_rows }, CAUSAL, 100, 1000));
        assert_eq!(plan, Err(DispatchError::PageRows { page_rows, smallest: 16 }));
    }
}

#[test]
fn one_query_that_sees_every_key_is_a_decode() {
    let paged = Layout::Paged { page_rows: 16 };
    for window in [Window::None, CAUSAL] {
        let plan = attention(device(Target::Gfx1201), &problem(paged, window, 1, 4096)).expect("a plan");
        let AttentionPlan::Split { splits, parts, combine, o_parts } = plan else { panic!("{plan:?}") };
        // 64 CUs of 8 waves over 8 heads of 4 sequences.
        assert_eq!(splits, 16);
        assert_eq!((parts.instance.entry, parts.grid), ("fmha_split_kv_bf16_d128", [16, 8, 4]));
        assert_eq!((parts.threads(), combine.threads()), (32, 64));
        assert_eq!((combine.instance.entry, combine.grid), ("fmha_combine_bf16", [32, 4, 1]));
        assert_eq!(o_parts, 4 * 32 * 16 * 128);
    }
    let sliding = Window::Window { left: Some(128), right: Some(0), origin: Origin::BottomRight };
    for window in [sliding, Window::causal(Origin::TopLeft)] {
        assert_eq!(single(&problem(paged, window, 1, 4096)).0, "fmha_paged_bf16_d128_n16");
    }
}

#[test]
fn splits_fill_the_device_and_no_more() {
    let splits = |device, heads, kv_heads, batch, max_keys| {
        let paged = Layout::Paged { page_rows: 16 };
        let problem = AttentionProblem { heads, kv_heads, batch, ..problem(paged, CAUSAL, 1, max_keys) };
        match attention(device, &problem) {
            Ok(AttentionPlan::Split { splits, parts, .. }) => (splits, parts.grid[0]),
            other => panic!("{other:?}"),
        }
    };
    let w7900 = device(Target::Gfx1100);
    assert_eq!(splits(w7900, 32, 8, 1, 100_000), (96, 96), "96 CUs of 8 waves over 8 heads");
    assert_eq!(splits(w7900, 32, 8, 1, 1000), (7, 7), "128 keys each");
    assert_eq!(splits(w7900, 32, 8, 1, 5), (1, 1));
    assert_eq!(splits(w7900, 32, 8, 1, 0), (1, 1), "an empty cache is written as such");
    assert_eq!(splits(w7900, 32, 8, 1000, 100_000), (1, 1), "the batch alone fills it");
    assert_eq!(splits(w7900, 40, 1, 1, 1_000_000), (128, 3 * 128), "40 heads are three tiles of 16");
    assert_eq!(splits(Device::new(Target::Gfx1103, None, None), 32, 8, 1, 100_000), (12, 12));
}

#[test]
fn compute_units_count_double_what_the_runtime_reports() {
    let units = |target, reported, cu_num| Device::new(target, reported, cu_num).compute_units;
    assert_eq!(units(Target::Gfx1101, Some(30), None), 60);
    assert_eq!(units(Target::Gfx1151, Some(20), None), 40);
    assert_eq!(units(Target::Gfx1201, Some(32), Some(56)), 56, "CU_NUM wins");
    assert_eq!(units(Target::Gfx1201, Some(0), Some(0)), 64, "zero is no answer");
    assert_eq!(units(Target::Gfx12Generic, None, None), 16);
}

#[test]
fn what_no_kernel_computes_is_refused_by_name() {
    let good = problem(Layout::Dense, Window::None, 10, 10);
    let table = [
        (
            AttentionProblem { head_dim: 80, ..good },
            "head_dim: fmha_fwd has no bf16 kernel for a head dim of 80; it has [32, 64, 96, 128, 256]",
        ),
        (AttentionProblem { data_type: DataType::F32, ..good }, "data_type: fmha_fwd has no f32 kernel"),
        (AttentionProblem { kv_heads: 5, ..good }, "kv_heads: 5 does not divide 32 query heads"),
        (AttentionProblem { kv_heads: 0, ..good }, "kv_heads: 0 does not divide 32 query heads"),
        (AttentionProblem { batch: 0, ..good }, "batch: must not be zero"),
        (AttentionProblem { max_queries: 0, ..good }, "max_queries: must not be zero"),
        (AttentionProblem { batch: 70_000, ..good }, "batch: 70000 work-groups, a grid has at most 65535"),
        (
            AttentionProblem { layout: Layout::Paged { page_rows: 8 }, ..good },
            "page_rows: 8 is no multiple of 16, the smallest tile of keys",
        ),
    ];
    for (problem, message) in table {
        let error = attention(device(Target::Gfx1100), &problem).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
    let error = attention(device(Target::Gfx1030), &good).expect_err("no WMMA");
    assert_eq!(error, DispatchError::Target { target: Target::Gfx1030 });
}

#[test]
fn rows_are_shared_out_by_activations_and_not_by_norms() {
    let launch = |operation, data_type, rows, width| {
        row_wise(device(Target::Gfx1100), operation, data_type, rows, width)
            .map(|l| (l.instance.entry, l.grid))
    };
    let table = [
        (Operation::SiluAndMul, DataType::Bf16, 7, 14336, ("silu_and_mul_bf16", [7, 7, 1])),
        (Operation::GeluAndMul, DataType::F32, 1, 1025, ("gelu_and_mul_f32", [1, 2, 1])),
        (Operation::RmsNorm, DataType::F16, 7, 14336, ("rms_norm_f16", [7, 1, 1])),
        (Operation::Softmax, DataType::F32, 1_000_000, 3, ("softmax_f32", [1_000_000, 1, 1])),
        (Operation::QuantiseInt8, DataType::Bf16, 7, 14336, ("quantise_int8_bf16", [7, 1, 1])),
        (Operation::QuantiseE4m3, DataType::F32, 2, 1, ("quantise_e4m3_f32", [2, 1, 1])),
        (Operation::Rope, DataType::F16, 9, 4096, ("rope_f16", [9, 1, 1])),
    ];
    for (operation, data_type, rows, width, expected) in table {
        assert_eq!(launch(operation, data_type, rows, width), Ok(expected));
    }
    assert_eq!(
        launch(Operation::SiluAndMul, DataType::Bf16, 0, 4),
        Err(DispatchError::Zero { argument: "rows" })
    );
    assert!(matches!(
        launch(Operation::RmsNorm, DataType::F32, u32::MAX, 4),
        Err(DispatchError::Grid { dimension: "rows", .. })
    ));
    assert!(launch(Operation::FmhaFwd, DataType::Bf16, 1, 1).is_err());
}

#[test]
fn new_rows_have_a_work_group_each() {
    let launch = |data_type, max_added, batch| {
        append_kv(device(Target::Gfx1151), data_type, max_added, batch).map(|l| (l.instance.entry, l.grid))
    };
    assert_eq!(launch(DataType::Bf16, 512, 3), Ok(("append_kv_bf16", [512, 3, 1])));
    assert_eq!(launch(DataType::Bf16, 0, 3), Err(DispatchError::Zero { argument: "max_added" }));
    let error = launch(DataType::F32, 1, 1).map_err(|error| error.to_string());
    assert_eq!(error, Err("data_type: append_kv has no f32 kernel".into()));
}

#[test]
fn variables_keep_their_upstream_meaning() {
    use environment::{cu_num, native_kernels};
    assert_eq!(
        [None, Some(""), Some("0"), Some(" 56 ")].map(cu_num),
        [Ok(None), Ok(None), Ok(None), Ok(Some(56))]
    );
    let error = cu_num(Some("many")).map_err(|e| e.to_string());
    assert_eq!(error, Err("CU_NUM: expected a number of compute units, found `many`".into()));

    assert!(native_kernels(None, false, false) && native_kernels(Some("0"), false, false));
    let windows = |value, bundled| native_kernels(value, true, bundled);
    assert_eq!([windows(None, false), windows(Some("1"), false), windows(None, true)], [false, true, true]);
    assert!(!windows(Some("0"), true));
}
