//! The CPU references of caches, masks, RoPE and quantisation against identities that hold for any correct one.

use aiter_kernels::reference::{
    AppendKv, Attention, AttentionOutput, E4m3, Element, KvLayout, Mask, Origin, Quantised, Rope, RopeStyle,
    Sequence, append_kv, attention, attention_over, quantise_per_token, query_positions, rope,
};
use half::bf16;
use numbers::numbers;

#[path = "support/numbers.rs"]
mod numbers;

const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const HEAD_DIM: usize = 8;

fn problem(sequences: &[(usize, usize)]) -> Attention {
    Attention {
        sequences: sequences.iter().map(|&(queries, keys)| Sequence { queries, keys }).collect(),
        heads: HEADS,
        kv_heads: KV_HEADS,
        head_dim: HEAD_DIM,
        scale: 0.35,
        logits_soft_cap: 0.0,
        mask: Mask::None,
    }
}

fn rows(p: &Attention) -> (usize, usize) {
    (p.sequences.iter().map(|s| s.queries).sum(), p.sequences.iter().map(|s| s.keys).sum())
}

fn tensors<T: Element>(p: &Attention) -> [Vec<T>; 3] {
    let (queries, keys) = rows(p);
    let kv = keys * KV_HEADS * HEAD_DIM;
    [numbers(queries * HEADS * HEAD_DIM, 1), numbers(kv, 2), numbers(kv, 3)]
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32], bound: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= bound || a == b, "element {i}: {a} against {b}");
    }
}

/// Softmax over all keys in f64, with the forbidden ones at minus infinity: masks as the papers write them.
fn masked_dense(
    p: &Attention,
    q: &[f32],
    k: &[f32],
    v: &[f32],
    sees: impl Fn(i64, i64) -> bool,
) -> AttentionOutput {
    let (queries, keys) = rows(p);
    let mut o = vec![0.0; q.len()];
    let mut lse = vec![f32::NEG_INFINITY; HEADS * queries];
    for head in 0..HEADS {
        for row in 0..queries {
            let at = |j: usize| (j * KV_HEADS + head * KV_HEADS / HEADS) * HEAD_DIM;
            let q = &q[(row * HEADS + head) * HEAD_DIM..][..HEAD_DIM];
            let weight = |j: usize| {
                let dot: f64 = (0..HEAD_DIM).map(|d| f64::from(q[d]) * f64::from(k[at(j) + d])).sum();
                let (score, cap) = (dot * f64::from(p.scale), f64::from(p.logits_soft_cap));
                let score = if cap > 0.0 { cap * (score / cap).tanh() } else { score };
                if sees(row as i64, j as i64) { score.exp() } else { 0.0 }
            };
            let weights: Vec<f64> = (0..keys).map(weight).collect();
            let sum: f64 = weights.iter().sum();
            if sum == 0.0 {
                continue;
            }
            lse[head * queries + row] = sum.ln() as f32;
            for d in 0..HEAD_DIM {
                let value: f64 = (0..keys).map(|j| weights[j] * f64::from(v[at(j) + d])).sum();
                o[(row * HEADS + head) * HEAD_DIM + d] = (value / sum) as f32;
            }
        }
    }
    AttentionOutput { o, lse }
}

#[test]
fn every_mask_is_dense_attention_with_forbidden_keys_at_minus_infinity() {
    use Origin::{BottomRight, TopLeft};
    for (queries, keys) in [(7, 7), (5, 11), (11, 5), (1, 9), (6, 1), (3, 0)] {
        for origin in [TopLeft, BottomRight] {
            for (left, right) in
                [(None, Some(0)), (Some(2), Some(0)), (Some(3), Some(2)), (Some(0), None), (None, None)]
            {
                for cap in [0.0, 0.7] {
                    let mask = Mask::Window { left, right, origin };
                    let p = Attention { mask, logits_soft_cap: cap, ..problem(&[(queries, keys)]) };
                    let [q, k, v] = tensors::<f32>(&p);
                    let shift = if origin == TopLeft { 0 } else { keys as i64 - queries as i64 };
                    let sees = |row: i64, key: i64| {
                        left.is_none_or(|left| key >= row + shift - left as i64)
                            && right.is_none_or(|right| key <= row + shift + right as i64)
                    };
                    let expected = masked_dense(&p, &q, &k, &v, sees);
                    let found = attention(&p, &q, &k, &v).expect("the shapes fit");
                    assert_close(&found.o, &expected.o, 2e-6);
                    assert_close(&found.lse, &expected.lse, 2e-6);
                }
            }
        }
    }
}

#[test]
fn a_soft_cap_bounds_the_scores_and_a_large_one_is_none() {
    let p = Attention { scale: 50.0, ..problem(&[(5, 9)]) };
    let [q, k, v] = tensors::<bf16>(&p);
    let with = |cap| attention(&Attention { logits_soft_cap: cap, ..p.clone() }, &q, &k, &v).expect("fits");
    let small = with(0.1);
    let (low, high) = ((9.0f32).ln() - 0.1, (9.0f32).ln() + 0.1);
    assert!(small.lse.iter().all(|&lse| low <= lse && lse <= high), "{:?}", small.lse);
    let (large, none) = (with(1e7), with(0.0));
    assert_close(&large.lse, &none.lse, 2e-2);
    assert!(with(30.0).lse.iter().zip(&none.lse).any(|(a, b)| (a - b).abs() > 1.0));
}

#[test]
fn a_window_as_wide_as_the_keys_is_no_window() {
    let p = problem(&[(6, 9), (0, 4), (3, 0), (2, 5)]);
    let [q, k, v] = tensors::<bf16>(&p);
    let open = attention(&p, &q, &k, &v).expect("fits");
    for origin in [Origin::TopLeft, Origin::BottomRight] {
        let mask = Mask::Window { left: Some(20), right: Some(20), origin };
        assert_eq!(attention(&Attention { mask, ..p.clone() }, &q, &k, &v), Ok(open.clone()));
    }
}

#[test]
fn the_result_does_not_depend_on_how_often_the_keys_are_split() {
    let p = Attention { logits_soft_cap: 0.9, ..problem(&[(3, 24)]) };
    let [q, k, v] = tensors::<f32>(&p);
    let whole = attention(&p, &q, &k, &v).expect("fits");
    let width = KV_HEADS * HEAD_DIM;
    for splits in [2, 3, 8, 24] {
        let keys = 24 / splits;
        let part = |i: usize| {
            let rows = i * keys * width..(i + 1) * keys * width;
            let p = Attention { sequences: vec![Sequence { queries: 3, keys }], ..p.clone() };
            attention(&p, &q, &k[rows.clone()], &v[rows]).expect("fits")
        };
        let parts: Vec<_> = (0..splits).map(part).collect();
        for head in 0..HEADS {
            for row in 0..3 {
                let i = head * 3 + row;
                let lse = parts.iter().map(|part| part.lse[i].exp()).sum::<f32>().ln();
                assert!((lse - whole.lse[i]).abs() < 2e-6);
                for d in (row * HEADS + head) * HEAD_DIM..(row * HEADS + head + 1) * HEAD_DIM {
                    let o: f32 = parts.iter().map(|part| part.o[d] * (part.lse[i] - lse).exp()).sum();
                    assert!((o - whole.o[d]).abs() < 2e-6);
                }
            }
        }
    }
}

/// A cache with the packed rows scattered over pages in an order that is not theirs, and its block table.
fn paged<T: Element>(packed: &[T], keys: &[usize], page_rows: usize, stride: usize) -> (Vec<T>, Vec<i32>) {
    let width = KV_HEADS * HEAD_DIM;
    let pages = keys.len() * stride + 3;
    let mut cache = vec![T::from_f32(f32::NAN); pages * page_rows * width];
    let mut table = vec![-1; keys.len() * stride];
    let (mut row, mut next) = (0, 0);
    for (i, &keys) in keys.iter().enumerate() {
        for j in 0..keys {
            if j % page_rows == 0 {
                next = (next + 5) % pages;
                table[i * stride + j / page_rows] = next as i32;
            }
            let place = (next * page_rows + j % page_rows) * width;
            cache[place..place + width].copy_from_slice(&packed[row * width..][..width]);
            row += 1;
        }
    }
    (cache, table)
}

#[test]
fn paged_is_dense_after_gather() {
    let p = Attention {
        mask: Mask::causal(Origin::BottomRight),
        ..problem(&[(3, 21), (1, 0), (0, 5), (4, 16), (2, 1)])
    };
    let [q, k, v] = tensors::<bf16>(&p);
    let packed = attention(&p, &q, &k, &v);
    let keys: Vec<usize> = p.sequences.iter().map(|s| s.keys).collect();
    for (page_rows, stride) in [(1, 21), (4, 6), (16, 2), (64, 1)] {
        // 5 and the number of pages have no common factor, so no page is used twice.
        assert_ne!((keys.len() * stride + 3) % 5, 0);
        let (k, block_table) = paged(&k, &keys, page_rows, stride);
        let (v, _) = paged(&v, &keys, page_rows, stride);
        let layout = KvLayout::Paged { page_rows, block_table: &block_table, block_table_stride: stride };
        assert_eq!(attention_over(&p, &q, &k, &v, &layout), packed, "pages of {page_rows}");
    }
}

#[test]
fn a_dense_cache_with_room_left_is_its_filled_rows() {
    let p = problem(&[(2, 3), (2, 5)]);
    let [q, k, v] = tensors::<bf16>(&p);
    let width = KV_HEADS * HEAD_DIM;
    let roomy = |packed: &[bf16]| {
        let gap = |rows: usize| vec![bf16::NAN; rows * width];
        [&packed[..3 * width], &gap(4), &packed[3 * width..], &gap(2)].concat()
    };
    let found = attention_over(&p, &q, &roomy(&k), &roomy(&v), &KvLayout::Dense { capacity: 7 });
    assert_eq!(found, attention(&p, &q, &k, &v));
}

fn tables(positions: usize, half: usize) -> [Vec<f32>; 2] {
    let angle = |i: usize| (i / half) as f64 / 10_000f64.powf((i % half) as f64 / half as f64);
    let table = |f: fn(f64) -> f64| (0..positions * half).map(|i| f(angle(i)) as f32).collect();
    [table(f64::cos), table(f64::sin)]
}

fn rotary<'a>([cos, sin]: &'a [Vec<f32>; 2], rotary_dim: usize, style: RopeStyle) -> Rope<'a, f32> {
    Rope { cos, sin, rotary_dim, style, nope_first: false }
}

#[test]
fn scores_of_rotated_heads_depend_on_the_distance_alone() {
    let tables = tables(64, HEAD_DIM / 2);
    let (q, k): (Vec<f32>, Vec<f32>) = (numbers(HEAD_DIM, 7), numbers(HEAD_DIM, 8));
    for style in [RopeStyle::Neox, RopeStyle::Interleaved] {
        let at = |x: &[f32], position| {
            rope(&rotary(&tables, HEAD_DIM, style), x, &[position], 1, HEAD_DIM).expect("the shapes fit")
        };
        let score = |i, j| at(&q, i).iter().zip(at(&k, j)).map(|(a, b)| a * b).sum::<f32>();
        assert!((score(3, 10) - score(50, 57)).abs() < 1e-4);
        assert!((score(3, 10) - score(3, 11)).abs() > 1e-3);
        assert_eq!(at(&q, 0), q, "position 0 turns nothing");
        let norm = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>();
        assert!((norm(&at(&q, 33)) - norm(&q)).abs() < 1e-5);
    }
}

#[test]
fn the_styles_differ_by_the_order_of_the_elements() {
    let tables = tables(9, HEAD_DIM / 2);
    let neox: Vec<f32> = numbers(2 * HEAD_DIM, 5);
    let order = |x: &[f32]| -> Vec<f32> {
        let of_head =
            |head: &[f32]| (0..HEAD_DIM).map(|i| head[i / 2 + i % 2 * HEAD_DIM / 2]).collect::<Vec<_>>();
        x.chunks(HEAD_DIM).flat_map(of_head).collect()
    };
    let run =
        |x: &[f32], style| rope(&rotary(&tables, HEAD_DIM, style), x, &[4, 8], 1, HEAD_DIM).expect("fits");
    assert_eq!(order(&run(&neox, RopeStyle::Neox)), run(&order(&neox), RopeStyle::Interleaved));
}

#[test]
fn what_is_not_rotated_stays_at_the_side_that_is_asked_for() {
    let tables = tables(9, 2);
    let x: Vec<f32> = numbers(HEAD_DIM, 5);
    let run = |nope_first| {
        let rotary = Rope { nope_first, ..rotary(&tables, 4, RopeStyle::Neox) };
        rope(&rotary, &x, &[6], 1, HEAD_DIM).expect("fits")
    };
    let part = rope(&rotary(&tables, 4, RopeStyle::Neox), &x[..4], &[6], 1, 4).expect("fits");
    assert_eq!(run(false), [&part, &x[4..]].concat());
    let part = rope(&rotary(&tables, 4, RopeStyle::Neox), &x[4..], &[6], 1, 4).expect("fits");
    assert_eq!(run(true), [&x[..4], &part].concat());
}

#[test]
fn keys_that_are_appended_one_by_one_are_the_rotated_whole() {
    let (keys, width) = ([13, 0, 6], KV_HEADS * HEAD_DIM);
    let k: Vec<bf16> = numbers(19 * width, 2);
    let v: Vec<bf16> = numbers(19 * width, 3);
    let tables = tables(13, HEAD_DIM / 2);
    for style in [RopeStyle::Neox, RopeStyle::Interleaved] {
        let turn = rotary(&tables, HEAD_DIM, style);
        let positions: Vec<usize> = keys.iter().flat_map(|&keys| 0..keys).collect();
        let whole = rope(&turn, &k, &positions, KV_HEADS, HEAD_DIM).expect("fits");
        let whole: Vec<bf16> = whole.into_iter().map(bf16::from_f32).collect();
        let stride = 4;
        let block_table = [9, 2, 5, 11, -1, -1, -1, -1, 3, 8, -1, -1];
        for layout in [
            KvLayout::Dense { capacity: 16 },
            KvLayout::Paged { page_rows: 4, block_table: &block_table, block_table_stride: stride },
        ] {
            let blank = vec![bf16::ZERO; 48 * width];
            let (mut k_cache, mut v_cache) = (blank.clone(), blank);
            for filled in 0..13 {
                let filled: Vec<usize> = keys.iter().map(|&keys| filled.min(keys)).collect();
                let added: Vec<usize> =
                    keys.iter().zip(&filled).map(|(keys, filled)| (keys - filled).min(1)).collect();
                let firsts = [0, 13, 13];
                let pick = |x: &[bf16]| -> Vec<bf16> {
                    let rows = (0..3).filter(|&i| added[i] > 0).map(|i| firsts[i] + filled[i]);
                    rows.flat_map(|row| x[row * width..][..width].to_vec()).collect()
                };
                let (k_new, v_new) = (pick(&k), pick(&v));
                let new = AppendKv {
                    filled,
                    added,
                    kv_heads: KV_HEADS,
                    head_dim: HEAD_DIM,
                    k_new: &k_new,
                    v_new: &v_new,
                    rope: Some(turn),
                };
                append_kv(&new, &layout, &mut k_cache, &mut v_cache).expect("it fits");
            }
            let places = layout.rows(&keys, 48).expect("it fits").concat();
            let gather = |x: &[bf16]| {
                places.iter().flat_map(|row| x[row * width..][..width].to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(gather(&k_cache), whole);
            assert_eq!(gather(&v_cache), v);
            let rest = |x: &[bf16]| x.iter().filter(|x| **x != bf16::ZERO).count();
            assert_eq!((rest(&k_cache), rest(&v_cache)), (rest(&whole), rest(&v)), "nothing else is written");
        }
    }
}

#[test]
fn what_does_not_fit_a_cache_is_refused_by_name_and_writes_nothing() {
    let width = KV_HEADS * HEAD_DIM;
    let new: Vec<f32> = numbers(3 * width, 1);
    let tables = tables(4, HEAD_DIM / 2);
    let try_append = |layout: KvLayout, filled: usize, k_new: &[f32], rotary_dim: usize| {
        let mut cache = [vec![0.0f32; 8 * width], vec![0.0; 8 * width]];
        let rope = Some(rotary(&tables, rotary_dim, RopeStyle::Neox));
        let new = AppendKv {
            filled: vec![filled],
            added: vec![3],
            kv_heads: KV_HEADS,
            head_dim: HEAD_DIM,
            k_new,
            v_new: &new,
            rope,
        };
        let [k, v] = &mut cache;
        let error = append_kv(&new, &layout, k, v).expect_err("refused");
        assert!(cache.concat().iter().all(|&x| x == 0.0));
        error.to_string()
    };
    let paged = |page_rows, block_table| KvLayout::Paged { page_rows, block_table, block_table_stride: 2 };
    for (found, expected) in [
        (try_append(KvLayout::Dense { capacity: 3 }, 1, &new, 8), "capacity: expected at least 4, found 3"),
        (try_append(paged(2, &[0, 4]), 0, &new, 8), "block_table: expected pages below 4, found 4"),
        (try_append(paged(2, &[0, -1]), 0, &new, 8), "block_table: expected pages below 4, found -1"),
        (try_append(paged(1, &[0, 1]), 0, &new, 8), "block_table_stride: expected at least 3, found 2"),
        (try_append(paged(2, &[0]), 0, &new, 8), "block_table: expected at least 2, found 1"),
        (try_append(paged(0, &[0]), 0, &new, 8), "page_rows: expected at least 1, found 0"),
        (
            try_append(KvLayout::Dense { capacity: 8 }, 0, &new[1..], 8),
            "k_new: expected 48 elements, found 47",
        ),
        (
            try_append(KvLayout::Dense { capacity: 8 }, 2, &new, 8),
            "positions: expected below the 4 of cos and sin, found 4",
        ),
        (
            try_append(KvLayout::Dense { capacity: 8 }, 0, &new, 7),
            "rotary_dim: expected an even number, at most the head dim of 8, found 7",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn queries_follow_what_the_cache_held() {
    assert_eq!(query_positions(&[5, 0], &[2, 3], true), [5, 6, 0, 1, 2]);
    assert_eq!(query_positions(&[5, 0], &[2, 3], false), [5, 5, 0, 0, 0]);
}

#[test]
fn quantised_rows_use_the_whole_range_and_come_back_within_half_a_step() {
    let input: Vec<bf16> = numbers(5 * 33, 9);
    let (bytes, scales) = quantise_per_token(Quantised::Int8, &input, 33).expect("whole rows");
    for (row, (bytes, scale)) in input.chunks(33).zip(bytes.chunks(33).zip(&scales)) {
        assert_eq!(bytes.iter().map(|&b| (b as i8).unsigned_abs()).max(), Some(127));
        for (x, &b) in row.iter().zip(bytes) {
            assert!((x.to_f32() - f32::from(b as i8) * scale).abs() <= 0.5001 * scale);
        }
    }
    let (bytes, scales) = quantise_per_token(Quantised::E4m3, &input, 33).expect("whole rows");
    for (row, (bytes, scale)) in input.chunks(33).zip(bytes.chunks(33).zip(&scales)) {
        let back: Vec<f32> = bytes.iter().map(|&b| E4m3::from_bits(b).to_f32() * scale).collect();
        let largest = |x: &[f32]| x.iter().map(|x| x.abs()).fold(0.0, f32::max);
        assert!((largest(&back) / scale - 448.0).abs() < 1e-3);
        for (x, back) in row.iter().zip(back) {
            assert!((x.to_f32() - back).abs() <= (x.to_f32().abs() / 16.0).max(scale / 1024.0));
        }
    }
}

#[test]
fn rows_of_zeros_and_no_rows_are_quantised() {
    let (bytes, scales) = quantise_per_token(Quantised::E4m3, &[0.0f32; 4], 2).expect("whole rows");
    assert_eq!((bytes, scales), (vec![0; 4], vec![1.0; 2]));
    assert_eq!(quantise_per_token::<f32>(Quantised::Int8, &[], 3), Ok((vec![], vec![])));
    assert!(quantise_per_token(Quantised::Int8, &[0.0f32; 4], 3).is_err());
}

#[test]
fn attention_of_fp8_is_that_of_its_numbers() {
    let p = problem(&[(4, 9)]);
    let [q, k, v] = tensors::<E4m3>(&p);
    let wide = |x: &[E4m3]| x.iter().map(|x| x.to_f32()).collect::<Vec<_>>();
    assert_eq!(attention(&p, &q, &k, &v), attention(&p, &wide(&q), &wide(&k), &wide(&v)));
}
