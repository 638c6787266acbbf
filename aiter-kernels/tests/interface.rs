//! The interface on the host: results are the reference's, and what does not fit is refused by name with nothing written.

use aiter_kernels::interface::{
    Activation, AppendKv, Attention, AttentionOptions, ElementType, GatedActivation, Kernels, Limits, Norm,
    NormKind, QuantisePerToken, Residual, Rope, RopeStyle, RopeTables, Sequences, Tensor, TensorMut,
};
use aiter_kernels::reference::{self, Element, Mask, Origin};
use half::{bf16, f16};
use numbers::numbers;

#[path = "support/numbers.rs"]
mod numbers;

fn kernels() -> Kernels {
    Kernels::new(None)
}

fn rounded<T: Element>(numbers: &[f32]) -> Vec<f32> {
    numbers.iter().map(|&x| T::from_f32(x).to_f32()).collect()
}

fn wide<T: Element>(numbers: &[T]) -> Vec<f32> {
    numbers.iter().map(|x| x.to_f32()).collect()
}

#[test]
fn dense_attention_reads_strides_and_orders_the_lse_by_batch() {
    let (batch, rows, heads, d) = (2, 3, 2, 8);
    // q, k and v in one tensor, as a fused projection makes them.
    let qkv: Vec<bf16> = numbers(batch * rows * 3 * heads * d, 1);
    let part = |i: usize| {
        let strides = [(rows * 3 * heads * d) as i64, (3 * heads * d) as i64, d as i64, 1];
        Tensor::of(&qkv, &[batch, rows, heads, d]).with_strides(&strides).at(i * heads * d)
    };
    let (mut o, mut lse) = (vec![bf16::ZERO; batch * rows * heads * d], vec![0.0f32; batch * heads * rows]);
    let call = Attention {
        q: part(0),
        k: part(1),
        v: part(2),
        out: TensorMut::of(&mut o, &[batch, rows, heads, d]),
        lse: Some(TensorMut::of(&mut lse, &[batch, heads, rows])),
        sequences: Sequences::Dense,
        options: AttentionOptions { causal: true, ..AttentionOptions::default() },
    };
    kernels().attention(&call, None).expect("it fits");

    let pick = |i: usize| -> Vec<bf16> {
        let row = |row: usize| qkv[(row * 3 + i) * heads * d..][..heads * d].to_vec();
        (0..batch * rows).flat_map(row).collect()
    };
    let problem = reference::Attention {
        sequences: vec![reference::Sequence { queries: rows, keys: rows }; batch],
        heads,
        kv_heads: heads,
        head_dim: d,
        scale: (d as f32).sqrt().recip(),
        logits_soft_cap: 0.0,
        mask: Mask::causal(Origin::BottomRight),
    };
    let expected = reference::attention(&problem, &pick(0), &pick(1), &pick(2)).expect("it fits");
    assert_eq!(wide(&o), rounded::<bf16>(&expected.o));
    for (b, head, row) in [(0, 0, 2), (1, 0, 1), (1, 1, 2)] {
        assert_eq!(lse[(b * heads + head) * rows + row], expected.lse[head * batch * rows + b * rows + row]);
    }
}

/// Tensors of a varlen call: three sequences, of 2 and 5, 0 and 1, 3 and 3 rows, and rows behind them that belong to none.
struct Varlen {
    q: Vec<f16>,
    k: Vec<f16>,
    v: Vec<f16>,
    cu_q: [i32; 4],
    cu_k: [i32; 4],
}

const HEADS: usize = 2;
const D: usize = 8;

/// Of the sequences below.
const LIMITS: Limits = Limits { max_seqlen_q: 3, max_seqlen_k: 5, min_seqlen_q: 0 };

impl Varlen {
    fn new() -> Self {
        let (q, kv) = (7 * HEADS * D, 9 * D);
        Self {
            q: numbers(q, 1),
            k: numbers(kv, 2),
            v: numbers(kv, 3),
            cu_q: [0, 2, 2, 5],
            cu_k: [0, 5, 6, 9],
        }
    }

    fn call<'a>(&'a self, o: &'a mut [f16]) -> Attention<'a> {
        Attention {
            q: Tensor::of(&self.q, &[7, HEADS, D]),
            k: Tensor::of(&self.k, &[9, 1, D]),
            v: Tensor::of(&self.v, &[9, 1, D]),
            out: TensorMut::of(o, &[7, HEADS, D]),
            lse: None,
            sequences: Sequences::Varlen {
                cu_seqlens_q: Tensor::of(&self.cu_q, &[4]),
                cu_seqlens_k: Tensor::of(&self.cu_k, &[4]),
                limits: LIMITS,
            },
            options: AttentionOptions::default(),
        }
    }

    /// The same queries over pages of 4 rows.
    fn paged_call<'a>(
        &'a self,
        o: &'a mut [f16],
        (k, v): (&'a [f16], &'a [f16]),
        table: &'a [i32; 6],
        limits: Limits,
    ) -> Attention<'a> {
        Attention {
            k: Tensor::of(k, &[5, 4, 1, D]),
            v: Tensor::of(v, &[5, 4, 1, D]),
            sequences: Sequences::Paged {
                cu_seqlens_q: Tensor::of(&self.cu_q, &[4]),
                seqlens_k: Tensor::of(&[5, 1, 3], &[3]),
                block_table: Tensor::of(table, &[3, 2]),
                limits,
            },
            ..self.call(o)
        }
    }
}

#[test]
fn varlen_attention_leaves_rows_behind_the_last_sequence_alone() {
    let tensors = Varlen::new();
    let mut o = vec![f16::NAN; 7 * HEADS * D];
    kernels().attention(&tensors.call(&mut o), None).expect("it fits");
    assert!(o[..5 * HEADS * D].iter().all(|x| x.is_finite()));
    assert!(o[5 * HEADS * D..].iter().all(|x| x.is_nan()));
}

#[test]
fn sequences_of_min_seqlen_q_queries_are_left_out() {
    let tensors = Varlen::new();
    let run = |least: usize| {
        let (mut o, mut lse) = (vec![f16::NAN; 7 * HEADS * D], vec![f32::NAN; HEADS * 7]);
        let mut call = tensors.call(&mut o);
        if let Sequences::Varlen { limits, .. } = &mut call.sequences {
            limits.min_seqlen_q = least;
        }
        call.lse = Some(TensorMut::of(&mut lse, &[HEADS, 7]));
        kernels().attention(&call, None).expect("it fits");
        (o, lse)
    };
    // The sequences have 2, 0 and 3 queries.
    let ((all, all_lse), (some, some_lse), (none, none_lse)) = (run(0), run(2), run(3));
    let rows = 2 * HEADS * D..5 * HEADS * D;
    assert_eq!(some[rows.clone()], all[rows]);
    assert!(some[..2 * HEADS * D].iter().all(|x| x.is_nan()), "left out");
    for (all, some) in all_lse.chunks(7).zip(some_lse.chunks(7)) {
        assert_eq!(some[2..5], all[2..5]);
        assert!(some[..2].iter().chain(&some[5..]).all(|x| x.is_nan()), "left out");
    }
    assert!(none.iter().all(|x| x.is_nan()) && none_lse.iter().all(|x| x.is_nan()), "all are");
}

#[test]
fn pages_of_sequences_without_anything_to_compute_are_not_looked_at() {
    let tensors = Varlen::new();
    let mut o = vec![f16::NAN; 7 * HEADS * D];
    let kv = vec![f16::ONE; 5 * 4 * D];
    // The sequences have 2, 0 and 3 queries: the first is left out.
    let (table, limits) = ([-1, -1, 99, 99, 0, -1], Limits { min_seqlen_q: 2, ..LIMITS });
    let call = tensors.paged_call(&mut o, (&kv, &kv), &table, limits);
    kernels().attention(&call, None).expect("it fits");
    assert!(o[2 * HEADS * D..5 * HEADS * D].iter().all(|x| *x == f16::ONE));
    assert!(o[..2 * HEADS * D].iter().chain(&o[5 * HEADS * D..]).all(|x| x.is_nan()));
}

#[test]
fn no_heads_are_nothing_to_compute() {
    let tensors = Varlen::new();
    let (mut o, mut lse) = (Vec::<f16>::new(), Vec::<f32>::new());
    let call = Attention {
        q: Tensor::of::<f16>(&[], &[7, 0, D]),
        lse: Some(TensorMut::of(&mut lse, &[0, 7])),
        out: TensorMut::of(&mut o, &[7, 0, D]),
        ..tensors.call(&mut [])
    };
    kernels().attention(&call, None).expect("it fits");
}

#[test]
fn paged_attention_is_varlen_attention_after_gather() {
    let tensors = Varlen::new();
    let (mut o, mut paged_o) = (vec![f16::ZERO; 7 * HEADS * D], vec![f16::ZERO; 7 * HEADS * D]);
    kernels().attention(&tensors.call(&mut o), None).expect("it fits");
    // Pages of 4 rows: the sequences have 2, 1 and 1 of them.
    let table = [3, 1, 4, -1, 0, -1];
    let scatter = |packed: &[f16]| {
        let mut cache = vec![f16::NAN; 5 * 4 * D];
        let places = [12, 13, 14, 15, 4, 16, 0, 1, 2];
        for (i, row) in places.into_iter().enumerate() {
            cache[row * D..][..D].copy_from_slice(&packed[i * D..][..D]);
        }
        cache
    };
    let (k, v) = (scatter(&tensors.k), scatter(&tensors.v));
    let call = tensors.paged_call(&mut paged_o, (&k, &v), &table, LIMITS);
    kernels().attention(&call, None).expect("it fits");
    assert_eq!(o, paged_o);
}

#[test]
fn whatever_does_not_fit_attention_is_named() {
    // Leaked, so that a change of a call can hold them whatever the call's lifetime.
    let tensors: &'static Varlen = Box::leak(Box::new(Varlen::new()));
    let spare: &'static mut [f16] = vec![f16::ZERO; 64].leak();
    let f32s: &'static [f32] = vec![0.0; 256].leak();
    let spare = TensorMut::of(spare, &[2, 16]);
    type Change = Box<dyn Fn(&mut Attention<'_>)>;
    let wrong: Vec<(&str, Change)> = vec![
        (
            "q: expected the shape [total_q, heads, head_dim], found [14, 8]",
            Box::new(move |c| {
                c.q = Tensor::of(&tensors.q, &[14, 8]);
            }),
        ),
        (
            "k: expected the shape [9, 1, 8], found [9, 1, 4]",
            Box::new(move |c| c.k = Tensor::of(&tensors.k, &[9, 1, 4])),
        ),
        ("k: expected f16, found f32", Box::new(move |c| c.k = Tensor::of(f32s, &[9, 1, D]))),
        (
            "v: expected the shape [9, 1, 8], found [8, 1, 8]",
            Box::new(move |c| c.v = Tensor::of(&tensors.v, &[8, 1, D])),
        ),
        (
            "k: expected as many heads as divide the 2 of q, found 3",
            Box::new(move |c| {
                c.k = Tensor::of(&tensors.k, &[3, 3, D]);
            }),
        ),
        ("out: expected the shape [7, 2, 8], found [2, 16]", {
            let spare = spare.clone();
            Box::new(move |c| c.out = spare.clone())
        }),
        (
            "q: its shape reaches over 224 bytes, its memory has 222",
            Box::new(move |c| c.q = c.q.clone().at(1)),
        ),
        (
            "q: expected a contiguous last dimension, found the strides [16, 8, 2]",
            Box::new(move |c| {
                c.q = c.q.clone().with_strides(&[16, 8, 2]);
            }),
        ),
        (
            "q: expected strides that are not negative, found the strides [-16, 8, 1]",
            Box::new(move |c| {
                c.q = c.q.clone().with_strides(&[-16, 8, 1]);
            }),
        ),
        (
            "q: expected one stride for each dimension, found the strides [1]",
            Box::new(move |c| {
                c.q = c.q.clone().with_strides(&[1]);
            }),
        ),
        (
            "q: each stride but the last must be a multiple of 16 bytes, found 14",
            Box::new(move |c| {
                c.q = c.q.clone().with_strides(&[8, 7, 1]);
            }),
        ),
        (
            "out: expected elements that do not overlap, found the strides [0, 8, 1]",
            Box::new(move |c| {
                c.out = c.out.clone().with_strides(&[0, 8, 1]);
            }),
        ),
        ("lse: expected f32, found f16", Box::new(move |c| c.lse = Some(spare.clone()))),
        (
            "dropout_p: there is no dropout here (found 0.1); call with 0.0",
            Box::new(move |c| c.options.dropout_p = 0.1),
        ),
        (
            "logits_soft_cap: expected 0 or a positive number, found -1",
            Box::new(move |c| {
                c.options.logits_soft_cap = -1.0;
            }),
        ),
        (
            "softmax_scale: expected a finite number, found NaN",
            Box::new(move |c| {
                c.options.softmax_scale = Some(f32::NAN);
            }),
        ),
        (
            "cu_seqlens_k: expected the shape [4], found [3]",
            Box::new(move |c| {
                if let Sequences::Varlen { cu_seqlens_k, .. } = &mut c.sequences {
                    *cu_seqlens_k = Tensor::of(&[0i32, 1, 2], &[3]);
                }
            }),
        ),
        (
            "cu_seqlens_q: expected i32, found f32",
            Box::new(move |c| {
                if let Sequences::Varlen { cu_seqlens_q, .. } = &mut c.sequences {
                    *cu_seqlens_q = Tensor::of(&[0.0f32; 4], &[4]);
                }
            }),
        ),
        (
            "cu_seqlens_q: expected offsets that start at 0, found 1",
            Box::new(move |c| offsets(c, &[1, 2, 2, 5])),
        ),
        (
            "cu_seqlens_q: expected offsets that never fall, found 1",
            Box::new(move |c| offsets(c, &[0, 2, 1, 5])),
        ),
        (
            "cu_seqlens_q: expected offsets up to 7, the rows of the tensor, found 8",
            Box::new(move |c| {
                offsets(c, &[0, 2, 5, 8]);
            }),
        ),
        (
            "max_seqlen_q: expected at least 4, which the longest sequence has, found 3",
            Box::new(move |c| {
                offsets(c, &[0, 4, 4, 5]);
            }),
        ),
    ];
    for (expected, change) in wrong {
        let mut o = vec![f16::NAN; 7 * HEADS * D];
        let mut call = tensors.call(&mut o);
        change(&mut call);
        let found = kernels().attention(&call, None).expect_err(expected).to_string();
        assert_eq!(found, expected);
        drop(call);
        assert!(o.iter().all(|x| x.is_nan()), "{expected}: an output was written");
    }
}

fn offsets(call: &mut Attention<'_>, offsets: &'static [i32]) {
    if let Sequences::Varlen { cu_seqlens_q, .. } = &mut call.sequences {
        *cu_seqlens_q = Tensor::of(offsets, &[offsets.len()]);
    }
}

#[test]
fn an_address_between_two_vectors_is_refused() {
    let tensors = Varlen::new();
    let mut o = vec![f16::ZERO; 7 * HEADS * D];
    let bytes: Vec<f16> = numbers(7 * HEADS * D + 8, 1);
    let first = (0..8).find(|i| (bytes[*i..].as_ptr().addr()).is_multiple_of(16)).expect("one of eight");
    for (skip, fits) in [(first, true), (first + 1, false)] {
        let call = Attention { q: Tensor::of(&bytes[skip..], &[7, HEADS, D]), ..tensors.call(&mut o) };
        match kernels().attention(&call, None) {
            Ok(()) => assert!(fits),
            Err(error) => {
                let message = error.to_string();
                assert!(
                    !fits && message.starts_with("q: the address must be a multiple of 16 bytes"),
                    "{message}"
                );
            }
        }
    }
}

#[test]
fn fp8_takes_its_factors_and_gives_bf16() {
    const D: usize = 16;
    let bits: Vec<u8> =
        numbers::<reference::E4m3>(6 * D, 4).into_iter().map(reference::E4m3::to_bits).collect();
    let tensor = || Tensor::from_bytes(ElementType::E4m3, &bits[..2 * D], &[1, 2, 1, D]);
    let (mut o, mut plain) = (vec![bf16::ZERO; 2 * D], vec![bf16::ZERO; 2 * D]);
    let numbers: Vec<bf16> =
        bits[..2 * D].iter().map(|&b| bf16::from_f32(reference::E4m3::from_bits(b).to_f32() * 2.0)).collect();
    let call = Attention {
        q: tensor(),
        k: tensor(),
        v: tensor(),
        out: TensorMut::of(&mut o, &[1, 2, 1, D]),
        lse: None,
        sequences: Sequences::Dense,
        options: AttentionOptions { descale: [2.0; 3], ..AttentionOptions::default() },
    };
    kernels().attention(&call, None).expect("it fits");
    let of = || Tensor::of(&numbers, &[1, 2, 1, D]);
    let options = AttentionOptions::default();
    let out = TensorMut::of(&mut plain, &[1, 2, 1, D]);
    let call = Attention { q: of(), k: of(), v: of(), out, options, ..call };
    kernels().attention(&call, None).expect("it fits");
    assert_eq!(o, plain);
}

#[test]
fn activations_take_rows_at_a_distance_and_nothing_else() {
    let input: Vec<f16> = numbers(2 * 3 * 16, 5);
    let mut o = vec![f16::ZERO; 2 * 3 * 4];
    let strides = [48, 16, 1];
    let call = GatedActivation {
        activation: Activation::Silu,
        out: TensorMut::of(&mut o, &[2, 3, 4]),
        input: Tensor::of(&input, &[2, 3, 8]).with_strides(&strides),
    };
    kernels().gated_activation(&call, None).expect("it fits");
    let message =
        |call: &GatedActivation| kernels().gated_activation(call, None).expect_err("refused").to_string();
    let uneven = GatedActivation { input: call.input.clone().with_strides(&[40, 16, 1]), ..call.clone() };
    assert_eq!(message(&uneven), "input: expected rows at equal distances, found the strides [40, 16, 1]");
    let narrow = GatedActivation { input: Tensor::of(&input, &[2, 3, 6]), ..call.clone() };
    assert_eq!(message(&narrow), "input: expected the shape [2, 3, 8], found [2, 3, 6]");
    drop((call, uneven, narrow));
    let rows: Vec<f16> = input.chunks(16).flat_map(|row| row[..8].to_vec()).collect();
    let expected = reference::gated_activation(Activation::Silu, &rows, 6, 4).expect("it fits");
    assert_eq!(wide(&o), rounded::<f16>(&expected));
}

#[test]
fn a_norm_updates_its_residual_and_names_what_is_wrong() {
    let (input, weight): (Vec<bf16>, Vec<bf16>) = (numbers(12, 1), numbers(4, 2));
    let before: Vec<bf16> = numbers(12, 3);
    let (mut o, mut sums) = (vec![bf16::ZERO; 12], vec![bf16::ZERO; 12]);
    let call = Norm {
        kind: NormKind::Rms,
        out: TensorMut::of(&mut o, &[3, 4]),
        input: Tensor::of(&input, &[3, 4]),
        residual: Some(Residual {
            input: Tensor::of(&before, &[3, 4]),
            out: TensorMut::of(&mut sums, &[3, 4]),
        }),
        weight: Some(Tensor::of(&weight, &[4])),
        bias: None,
        epsilon: 1e-6,
    };
    kernels().norm(&call, None).expect("it fits");
    let message = |call: &Norm| kernels().norm(call, None).expect_err("refused").to_string();
    let softmax = Norm { kind: NormKind::Softmax, ..call.clone() };
    assert_eq!(message(&softmax), "weight: softmax takes none");
    let short = Norm { weight: Some(Tensor::of(&weight, &[3])), ..call.clone() };
    assert_eq!(message(&short), "weight: expected the shape [4], found [3]");
    let odd = Norm { epsilon: -1.0, ..call.clone() };
    assert_eq!(message(&odd), "epsilon: expected 0 or a positive number, found -1");
    drop((call, softmax, short, odd));
    let inputs =
        reference::NormInputs { input: &input, residual: Some(&before), weight: Some(&weight), bias: None };
    let (expected, sum) =
        reference::norm(reference::Norm::Rms { epsilon: 1e-6 }, inputs, 4).expect("it fits");
    assert_eq!((wide(&o), wide(&sums)), (rounded::<bf16>(&expected), sum));
}

#[test]
fn rope_works_in_place_with_and_without_positions() {
    let (s, heads, d) = (5, 2, 8);
    let input: Vec<f32> = numbers(s * heads * d, 1);
    let (cos, sin): (Vec<f32>, Vec<f32>) = (numbers(9 * 4, 2), numbers(9 * 4, 3));
    let positions = [8, 0, 3, 3, 1];
    let run = |positions: Option<&[i32]>| {
        let mut out = input.clone();
        let read = input.clone();
        let call = Rope {
            out: TensorMut::of(&mut out, &[s, 1, heads, d]),
            input: Tensor::of(&read, &[s, 1, heads, d]),
            tables: RopeTables {
                cos: Tensor::of(&cos, &[9, 1, 1, 4]),
                sin: Tensor::of(&sin, &[9, 1, 1, 4]),
                style: RopeStyle::Neox,
                nope_first: false,
            },
            positions: positions.map(|positions| Tensor::of(positions, &[s, 1])),
        };
        kernels().rope(&call, None).map(|()| out).map_err(|error| error.to_string())
    };
    let rotary =
        reference::Rope { cos: &cos, sin: &sin, rotary_dim: 8, style: RopeStyle::Neox, nope_first: false };
    let expected =
        |positions: &[usize]| reference::rope(&rotary, &input, positions, heads, d).expect("it fits");
    assert_eq!(run(Some(&positions)), Ok(expected(&[8, 0, 3, 3, 1])));
    assert_eq!(run(None), Ok(expected(&[0, 1, 2, 3, 4])));
    assert_eq!(
        run(Some(&[9, 0, 0, 0, 0])),
        Err("positions: expected below the 9 of cos and sin, found 9".into())
    );
    assert_eq!(
        run(Some(&[-1, 0, 0, 0, 0])),
        Err("positions: expected numbers that are not negative, found -1".into())
    );
}

#[test]
fn rope_on_the_host_takes_what_kernels_take() {
    let (input, mut out): (Vec<f32>, Vec<f32>) = (numbers(64, 1), vec![f32::NAN; 64]);
    let (table, halves): (Vec<f32>, Vec<f16>) = (numbers(64, 2), numbers(64, 2));
    let call = Rope {
        out: TensorMut::of(&mut out, &[2, 2, 2, 8]),
        input: Tensor::of(&input, &[2, 2, 2, 8]),
        tables: RopeTables {
            cos: Tensor::of(&table, &[9, 4]),
            sin: Tensor::of(&table, &[9, 4]),
            style: RopeStyle::Neox,
            nope_first: false,
        },
        positions: Some(Tensor::of(&[0i32, 1, 2, 3], &[2, 2])),
    };
    let message = |call: &Rope| kernels().rope(call, None).expect_err("refused").to_string();
    let uneven = Rope { input: call.input.clone().with_strides(&[16, 32, 8, 1]), ..call.clone() };
    let expected = "input: expected rows at equal distances, found the strides [16, 32, 8, 1]";
    assert_eq!(message(&uneven), expected);
    let mut tables = RopeTables { sin: Tensor::of(&halves, &[9, 4]), ..call.tables.clone() };
    assert_eq!(message(&Rope { tables: tables.clone(), ..call.clone() }), "sin: expected f32, found f16");
    tables.sin = Tensor::of(&table, &[9, 4]).with_strides(&[5, 1]);
    let expected = "sin: expected no gaps between rows, found the strides [5, 1]";
    assert_eq!(message(&Rope { tables, ..call.clone() }), expected);
    let long = Rope { positions: Some(Tensor::of(&[0i64, 1, 2, 3], &[2, 2])), ..call.clone() };
    assert_eq!(message(&long), "positions: expected i32, found i64");
}

#[test]
fn a_check_of_attention_refuses_the_same_and_writes_nothing() {
    let tensors = Varlen::new();
    let mut o = vec![f16::NAN; 7 * HEADS * D];
    let mut call = tensors.call(&mut o);
    kernels().check_attention(&call).expect("it fits");
    offsets(&mut call, &[0, 2, 5, 8]);
    let [checked, computed] = [kernels().check_attention(&call), kernels().attention(&call, None)];
    assert_eq!(checked.expect_err("refused").to_string(), computed.expect_err("refused").to_string());
    drop(call);
    assert!(o.iter().all(|x| x.is_nan()));
}

#[test]
fn what_is_no_number_is_not_hidden() {
    let mut tensors = Varlen::new();
    tensors.q[0] = f16::NAN;
    let (mut o, mut lse) = (vec![f16::ZERO; 7 * HEADS * D], vec![0.0f32; HEADS * 7]);
    let lse_of = TensorMut::of(&mut lse, &[HEADS, 7]);
    let call = Attention { lse: Some(lse_of), ..tensors.call(&mut o) };
    kernels().attention(&call, None).expect("it fits");
    drop(call);
    assert!(o[..D].iter().all(|x| x.is_nan()) && lse[0].is_nan(), "the query's own head");
    assert!(o[D..5 * HEADS * D].iter().all(|x| x.is_finite()) && lse[1].is_finite());
}

#[test]
fn quantised_rows_have_one_scale_each() {
    let input: Vec<bf16> = numbers(3 * 20, 1);
    let (mut bytes, mut scales) = (vec![0u8; 60], vec![0.0f32; 3]);
    let call = QuantisePerToken {
        out: TensorMut::from_bytes(ElementType::E4m3, &mut bytes, &[3, 20]),
        input: Tensor::of(&input, &[3, 20]),
        scales: TensorMut::of(&mut scales, &[3, 1]),
    };
    kernels().quantise_per_token(&call, None).expect("it fits");
    drop(call);
    let expected = reference::quantise_per_token(reference::Quantised::E4m3, &input, 20).expect("it fits");
    assert_eq!((bytes, scales), expected);
    let (mut bytes, mut scales) = (vec![0i8; 60], vec![0.0f32; 2]);
    let call = QuantisePerToken {
        out: TensorMut::of(&mut bytes, &[3, 20]),
        input: Tensor::of(&input, &[3, 20]),
        scales: TensorMut::of(&mut scales, &[2]),
    };
    let found = kernels().quantise_per_token(&call, None).expect_err("refused").to_string();
    assert_eq!(found, "scales: expected the shape [3], contiguous, found [2]");
}

#[test]
fn a_cache_takes_new_rows_and_refuses_what_it_has_no_room_for() {
    let (k_new, v_new): (Vec<f16>, Vec<f16>) = (numbers(2 * 2 * D, 1), numbers(2 * 2 * D, 2));
    let run = |filled: &[i32]| {
        let (mut k, mut v) = (vec![f16::ZERO; 2 * 6 * D], vec![f16::ZERO; 2 * 6 * D]);
        let call = AppendKv {
            k_cache: TensorMut::of(&mut k, &[2, 6, 1, D]),
            v_cache: TensorMut::of(&mut v, &[2, 6, 1, D]),
            k: Tensor::of(&k_new, &[2, 2, 1, D]),
            v: Tensor::of(&v_new, &[2, 2, 1, D]),
            cache_seqlens: Tensor::of(filled, &[filled.len()]),
            block_table: None,
            rope: None,
        };
        kernels().append_kv(&call, None).map(|()| (k, v)).map_err(|error| error.to_string())
    };
    let (k, v) = run(&[3, 0]).expect("it fits");
    assert_eq!((&k[3 * D..5 * D], &k[6 * D..8 * D]), (&k_new[..2 * D], &k_new[2 * D..]));
    assert_eq!((&v[3 * D..5 * D], &v[6 * D..8 * D]), (&v_new[..2 * D], &v_new[2 * D..]));
    assert_eq!(run(&[5, 0]), Err("capacity: expected at least 7, found 6".into()));
    assert_eq!(run(&[-1, 0]), Err("cache_seqlens: expected numbers that are not negative, found -1".into()));
    assert_eq!(run(&[0]), Err("cache_seqlens: expected the shape [2], found [1]".into()));
}
