//! The CPU reference against closed formulas and identities, so that it can be trusted to judge the kernels.

use aiter_kernels::reference::{
    Activation, Attention, AttentionOutput, Element, Mask, Norm, NormInputs, Origin, Sequence, attention,
    gated_activation, norm,
};
use half::{bf16, f16};
use numbers::numbers;

#[path = "support/numbers.rs"]
mod numbers;

fn problem(sequences: &[(usize, usize)], heads: usize, kv_heads: usize, head_dim: usize) -> Attention {
    Attention {
        sequences: sequences.iter().map(|&(queries, keys)| Sequence { queries, keys }).collect(),
        heads,
        kv_heads,
        head_dim,
        scale: (head_dim as f32).sqrt().recip(),
        logits_soft_cap: 0.0,
        mask: Mask::None,
    }
}

fn tensors<T: Element>(p: &Attention) -> [Vec<T>; 3] {
    let queries: usize = p.sequences.iter().map(|s| s.queries).sum();
    let keys: usize = p.sequences.iter().map(|s| s.keys).sum();
    let kv = keys * p.kv_heads * p.head_dim;
    [numbers(queries * p.heads * p.head_dim, 1), numbers(kv, 2), numbers(kv, 3)]
}

fn run<T: Element>(p: &Attention) -> AttentionOutput {
    let [q, k, v] = tensors::<T>(p);
    attention(p, &q, &k, &v).expect("the shapes fit")
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32], bound: f32) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= bound || a == b, "element {i}: {a} against {b}");
    }
}

#[test]
fn rows_of_the_softmax_sum_to_one() {
    let p = problem(&[(7, 13), (3, 5)], 4, 2, 16);
    let [q, k, v] = tensors::<bf16>(&p);
    let ones = vec![bf16::ONE; v.len()];
    let o = attention(&p, &q, &k, &ones).expect("the shapes fit").o;
    assert_close(&o, &vec![1.0; o.len()], 1e-6);
}

#[test]
fn equal_scores_give_the_mean_and_the_logarithm_of_the_count() {
    let p = problem(&[(2, 10)], 1, 1, 4);
    let [_, k, v] = tensors::<f32>(&p);
    let out = attention(&p, &[0.0; 8], &k, &v).expect("the shapes fit");
    let mean: Vec<f32> = (0..4).map(|d| (0..10).map(|key| v[key * 4 + d]).sum::<f32>() / 10.0).collect();
    assert_close(&out.o[..4], &mean, 1e-6);
    assert_close(&out.lse, &[10f32.ln(); 2], 1e-6);
}

#[test]
fn it_is_the_formula_in_f64() {
    let p = problem(&[(5, 9)], 2, 1, 8);
    let [q, k, v] = tensors::<f16>(&p);
    let out = attention(&p, &q, &k, &v).expect("the shapes fit");
    for row in 0..5 {
        for head in 0..2 {
            let at = |t: &[f16], place: usize, d: usize| f64::from(t[place * 8 + d]);
            let score = |key: usize| (0..8).map(|d| at(&q, row * 2 + head, d) * at(&k, key, d)).sum::<f64>();
            let weights: Vec<f64> = (0..9).map(|key| (score(key) / 8f64.sqrt()).exp()).collect();
            let sum: f64 = weights.iter().sum();
            assert!((f64::from(out.lse[head * 5 + row]) - sum.ln()).abs() < 1e-5);
            for d in 0..8 {
                let expected = (0..9).map(|key| weights[key] * at(&v, key, d)).sum::<f64>() / sum;
                assert!((f64::from(out.o[(row * 2 + head) * 8 + d]) - expected).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn large_scores_do_not_overflow() {
    let mut p = problem(&[(3, 6)], 1, 1, 8);
    p.scale = 1000.0;
    let out = run::<f32>(&p);
    assert!(out.o.iter().chain(&out.lse).all(|x| x.is_finite()));
}

#[test]
fn a_group_of_heads_is_its_kv_head_repeated() {
    let grouped = problem(&[(6, 11)], 4, 2, 8);
    let full = problem(&[(6, 11)], 4, 4, 8);
    let [q, k, v] = tensors::<bf16>(&grouped);
    let repeat = |t: &[bf16]| t.chunks(8).flat_map(|head| [head, head].concat()).collect::<Vec<_>>();
    let expected = attention(&full, &q, &repeat(&k), &repeat(&v)).expect("the shapes fit");
    assert_eq!(attention(&grouped, &q, &k, &v), Ok(expected));
}

#[test]
fn sequences_do_not_see_each_other() {
    let both = problem(&[(4, 7), (5, 3)], 2, 1, 8);
    let [q, k, v] = tensors::<bf16>(&both);
    let together = attention(&both, &q, &k, &v).expect("the shapes fit");
    let first = attention(&problem(&[(4, 7)], 2, 1, 8), &q[..4 * 16], &k[..7 * 8], &v[..7 * 8]);
    let second = attention(&problem(&[(5, 3)], 2, 1, 8), &q[4 * 16..], &k[7 * 8..], &v[7 * 8..]);
    let (first, second) = (first.expect("the shapes fit"), second.expect("the shapes fit"));
    assert_eq!(together.o, [first.o, second.o].concat());
    let lse = [&first.lse[..4], &second.lse[..5], &first.lse[4..], &second.lse[5..]].concat();
    assert_eq!(together.lse, lse);
}

#[test]
fn splits_of_the_keys_combine_to_the_whole_by_their_lse() {
    let whole = problem(&[(4, 12)], 1, 1, 8);
    let [q, k, v] = tensors::<f32>(&whole);
    let part = |keys: std::ops::Range<usize>| {
        let p = problem(&[(4, keys.len())], 1, 1, 8);
        attention(&p, &q, &k[keys.start * 8..keys.end * 8], &v[keys.start * 8..keys.end * 8]).expect("fits")
    };
    let (a, b, whole) = (part(0..5), part(5..12), attention(&whole, &q, &k, &v).expect("fits"));
    for row in 0..4 {
        let lse = (a.lse[row].exp() + b.lse[row].exp()).ln();
        assert!((lse - whole.lse[row]).abs() < 1e-5);
        let combined = |d: usize| {
            a.o[row * 8 + d] * (a.lse[row] - lse).exp() + b.o[row * 8 + d] * (b.lse[row] - lse).exp()
        };
        assert_close(&(0..8).map(combined).collect::<Vec<_>>(), &whole.o[row * 8..][..8], 1e-5);
    }
}

#[test]
fn masks_show_the_keys_of_their_diagonal() {
    let top = Mask::causal(Origin::TopLeft);
    let bottom = Mask::causal(Origin::BottomRight);
    assert_eq!([0, 1, 4].map(|row| top.visible(row, 5, 3)), [0..1, 0..2, 0..3]);
    assert_eq!([0, 1].map(|row| bottom.visible(row, 2, 5)), [0..4, 0..5]);
    assert!(bottom.visible(0, 5, 3).is_empty(), "more queries than keys: the first ones see nothing");
    let window = Mask::Window { left: Some(2), right: Some(1), origin: Origin::TopLeft };
    assert_eq!([0, 4, 9].map(|row| window.visible(row, 10, 10)), [0..2, 2..6, 7..10]);
    assert_eq!(Mask::None.visible(3, 5, 7), 0..7);
}

#[test]
fn causal_is_attention_over_the_visible_prefix() {
    let mut p = problem(&[(6, 6)], 1, 1, 8);
    let [q, k, v] = tensors::<bf16>(&p);
    p.mask = Mask::causal(Origin::TopLeft);
    let causal = attention(&p, &q, &k, &v).expect("the shapes fit");
    for row in 0..6 {
        let keys = row + 1;
        let prefix = problem(&[(1, keys)], 1, 1, 8);
        let expected = attention(&prefix, &q[row * 8..][..8], &k[..keys * 8], &v[..keys * 8]).expect("fits");
        assert_eq!(causal.o[row * 8..][..8], expected.o);
        assert_eq!(causal.lse[row], expected.lse[0]);
    }
}

#[test]
fn a_query_without_keys_gives_zero_and_minus_infinity() {
    let out = run::<bf16>(&problem(&[(3, 0)], 2, 1, 8));
    assert!(out.o.iter().all(|&o| o == 0.0));
    assert!(out.lse.iter().all(|&lse| lse == f32::NEG_INFINITY));
    let none = run::<bf16>(&problem(&[(0, 4), (0, 0)], 2, 1, 8));
    assert!(none.o.is_empty() && none.lse.is_empty());
}

#[test]
fn activations_are_their_formulas_in_f64() {
    let sqrt_2_over_pi = (2.0 / std::f64::consts::PI).sqrt();
    for i in -200..=200 {
        let x = i as f32 / 16.0;
        let d = f64::from(x);
        let silu = d / (1.0 + (-d).exp());
        let gelu = 0.5 * d * (1.0 + (sqrt_2_over_pi * (d + 0.044715 * d.powi(3))).tanh());
        assert!(
            (f64::from(Activation::Silu.apply(x)) - silu).abs() <= 2e-6 * silu.abs() + 1e-12,
            "silu({x})"
        );
        assert!(
            (f64::from(Activation::GeluTanh.apply(x)) - gelu).abs() <= 2e-6 * d.abs() + 1e-12,
            "gelu({x})"
        );
    }
}

#[test]
fn activations_at_the_ends() {
    for f in [Activation::Silu, Activation::Gelu, Activation::GeluTanh] {
        assert_eq!(f.apply(0.0), 0.0);
        assert_eq!(f.apply(100.0), 100.0);
        assert_eq!(f.apply(-200.0), 0.0);
        assert!(f.apply(f32::NAN).is_nan());
    }
}

#[test]
fn the_gate_is_the_first_half_of_a_row() {
    let input = [1.0f32, 2.0, 10.0, 20.0, 0.0, -1.0, 3.0, 4.0];
    let out = gated_activation(Activation::Silu, &input, 2, 2).expect("the shapes fit");
    let silu = |x: f32| Activation::Silu.apply(x);
    assert_eq!(out, [silu(1.0) * 10.0, silu(2.0) * 20.0, 0.0, silu(-1.0) * 4.0]);
    assert_eq!(gated_activation::<f32>(Activation::Silu, &[], 0, 5), Ok(vec![]));
    assert_eq!(gated_activation::<f32>(Activation::Silu, &[], 5, 0), Ok(vec![]));
}

#[test]
fn a_wrong_size_names_the_argument() {
    let p = problem(&[(2, 3)], 2, 1, 4);
    let [q, k, v] = tensors::<f32>(&p);
    let message = |result: Result<AttentionOutput, _>| {
        result.map_err(|e: aiter_kernels::reference::ShapeError| e.to_string())
    };
    assert_eq!(message(attention(&p, &q[1..], &k, &v)), Err("q: expected 16 elements, found 15".into()));
    assert_eq!(message(attention(&p, &q, &k, &v[..4])), Err("v: expected 12 elements, found 4".into()));
    let odd = Attention { kv_heads: 3, ..p };
    assert_eq!(
        message(attention(&odd, &q, &k, &v)),
        Err("kv_heads: expected a divisor of 2 heads, found 3".into())
    );
    assert!(gated_activation(Activation::Silu, &[0.0f32; 3], 1, 2).is_err());
}

fn plain<T>(input: &[T]) -> NormInputs<'_, T> {
    NormInputs { input, residual: None, weight: None, bias: None }
}

#[test]
fn norms_have_the_moments_they_promise() {
    let rows: Vec<f32> = numbers(3 * 50, 4);
    let moments = |row: &[f32]| {
        let mean = row.iter().sum::<f32>() / 50.0;
        (mean, row.iter().map(|x| x * x).sum::<f32>() / 50.0)
    };
    let (rms, _) = norm(Norm::Rms { epsilon: 0.0 }, plain(&rows), 50).expect("the shapes fit");
    let (layer, _) = norm(Norm::Layer { epsilon: 0.0 }, plain(&rows), 50).expect("the shapes fit");
    let (softmax, _) = norm(Norm::Softmax, plain(&rows), 50).expect("the shapes fit");
    for i in (0..150).step_by(50) {
        assert!((moments(&rms[i..i + 50]).1 - 1.0).abs() < 1e-5);
        let (mean, square) = moments(&layer[i..i + 50]);
        assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-5);
        assert!((softmax[i..i + 50].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_norm_adds_the_residual_first_and_the_bias_last() {
    let inputs = NormInputs {
        input: &[1.0f32, 2.0],
        residual: Some(&[2.0, 2.0]),
        weight: Some(&[10.0, 100.0]),
        bias: Some(&[1.0, 2.0]),
    };
    let (out, sum) = norm(Norm::Rms { epsilon: 3.5 }, inputs, 2).expect("the shapes fit");
    assert_eq!(sum, [3.0, 4.0]);
    // mean square 12.5, and with epsilon 16.
    assert_eq!(out, [3.0 / 4.0 * 10.0 + 1.0, 4.0 / 4.0 * 100.0 + 2.0]);
}

#[test]
fn the_sum_with_the_residual_is_rounded_to_the_type() {
    let (one, small) = ([bf16::ONE], [bf16::from_f32(1.0 / 1024.0)]);
    let inputs = NormInputs { residual: Some(&small), ..plain(&one) };
    let (_, sum) = norm(Norm::Softmax, inputs, 1).expect("the shapes fit");
    assert_eq!(sum, [1.0]);
}

#[test]
fn softmax_of_large_numbers_stays_finite_and_a_norm_of_nothing_is_nothing() {
    assert_eq!(norm(Norm::Softmax, plain(&[1e30f32, 0.0]), 2), Ok((vec![1.0, 0.0], vec![1e30, 0.0])));
    assert_eq!(norm::<f32>(Norm::Softmax, plain(&[]), 4), Ok((vec![], vec![])));
    let error = norm(Norm::Softmax, plain(&[0.0f32; 5]), 2).map_err(|e| e.to_string());
    assert_eq!(error, Err("input: expected 4 elements, found 5".into()));
}
