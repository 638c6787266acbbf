//! Sums, conversions, chosen rows, routing.

use super::super::{difference, relative, whole};
use super::{Case, Shape, Wanted, launch, outcomes};
use crate::sample::Sample;
use crate::{CodeObjects, Error, Measured, Outcome};
use engine::kernels::{Add, Conversion, Gather, Mix, Route, answer, convert, ring};
use gfx_sim::Memory;
use half::{bf16, f16};

pub(super) fn check(objects: &CodeObjects, wanted: Wanted<'_>) -> Result<Vec<Outcome>, Error> {
    let mut shapes = Vec::new();
    for (count, period) in [(1, 1), (1030, 1030), (2100, 300)] {
        let name = format!("{count} by {period}");
        shapes.push(Shape::new("add_f32", name, move || add(objects, count, period)));
    }
    for conversion in Conversion::ALL {
        let kernel = convert(conversion, 0, 0, 0).kernel;
        shapes.push(Shape::new(kernel, "1030", move || conversion_of(objects, conversion, 1030)));
    }
    for columns in [1, 300] {
        shapes.push(Shape::new("gather_f32", format!("3x{columns}"), move || gather(objects, columns)));
        shapes.push(Shape::new("mix_f32", format!("2x3x{columns}"), move || mix(objects, columns)));
    }
    for (count, used) in [(1, 1), (8, 2), (70, 5), (128, 128)] {
        let name = format!("{used} of {count}");
        shapes.push(Shape::new("route_f32", name, move || route(objects, count, used)));
    }
    for (count, used) in [(8, 2), (8, 8), (70, 5)] {
        let name = format!("{used} of {count}, no numbers");
        shapes.push(Shape::new("route_f32", name, move || route_no_numbers(objects, count, used)));
    }
    shapes.push(Shape::new("ring_u32", "7", move || ring_once(objects)));
    for (go, expected) in [(9, 9), (8, !9)] {
        shapes.push(Shape::new("answer_u32", format!("9 to {go}"), move || answer_to(objects, go, expected)));
    }
    Ok(outcomes(objects, wanted, &shapes))
}

fn ring_once(objects: &CodeObjects) -> Case {
    let mut memory = Memory::new();
    let (bell, value) = (memory.output::<u32>("bell", 1), memory.read_only::<u32>("value", &[7]));
    let counts = launch(objects, &mut memory, &ring(bell, value))?;
    Ok((word(&memory, bell, 7), counts))
}

/// What is there before the kernel starts is seen; what does not come is given up.
fn answer_to(objects: &CodeObjects, go: u32, expected: u32) -> Case {
    let mut memory = Memory::new();
    let (place, done) = (memory.read_only::<u32>("go", &[go]), memory.output::<u32>("done", 1));
    let counts = launch(objects, &mut memory, &answer(place, done, 9, 5))?;
    Ok((word(&memory, done, expected), counts))
}

fn word(memory: &Memory, address: u64, expected: u32) -> Vec<Measured> {
    let is_right = memory.stored::<u32>(address) == [true] && memory.numbers::<u32>(address) == [expected];
    vec![Measured { what: "wrong words", error: if is_right { 0.0 } else { 1.0 }, bound: 0.0 }]
}

fn numbers(seed: u64, count: usize) -> Vec<f32> {
    Sample::new(seed).numbers(count, 1.0, 0.0)
}

fn exact(found: &[f32], expected: &[f32]) -> Vec<Measured> {
    vec![Measured { what: "out", error: difference(found, expected), bound: 0.0 }]
}

/// In place, as the graph does it.
fn add(objects: &CodeObjects, count: usize, period: usize) -> Case {
    let (a, b) = (numbers(1, count), numbers(2, period));
    let mut memory = Memory::new();
    let place = memory.read_write("a", &a);
    let call = Add { out: place, a: place, b: memory.read_only("b", &b), count, period };
    let counts = launch(objects, &mut memory, &call.call())?;
    let expected: Vec<f32> = a.iter().zip(b.iter().cycle()).map(|(a, b)| a + b).collect();
    Ok((exact(&whole::<f32>(&memory, place)?, &expected), counts))
}

fn conversion_of(objects: &CodeObjects, conversion: Conversion, count: usize) -> Case {
    let mut floats = numbers(1, count);
    // Too large for f16, and between its smallest numbers.
    floats[..4].copy_from_slice(&[1e6, -1e6, 3e-6, -0.0]);
    let mut memory = Memory::new();
    let run =
        |memory: &mut Memory, out, input| launch(objects, memory, &convert(conversion, out, input, count));
    let half = |x: f32| f16::from_f32(x.clamp(-65504.0, 65504.0));
    let (found, expected, counts) = match conversion {
        Conversion::F32ToF16 => {
            let (out, input) = (memory.output::<f16>("out", count), memory.read_only("in", &floats));
            let counts = run(&mut memory, out, input)?;
            (whole::<f16>(&memory, out)?, floats.iter().map(|x| half(*x).to_f32()).collect(), counts)
        }
        Conversion::F32ToBf16 => {
            let (out, input) = (memory.output::<bf16>("out", count), memory.read_only("in", &floats));
            let counts = run(&mut memory, out, input)?;
            let expected = floats.iter().map(|x| bf16::from_f32(*x).to_f32()).collect();
            (whole::<bf16>(&memory, out)?, expected, counts)
        }
        Conversion::F16ToF32 => {
            let halves: Vec<f16> = floats.iter().map(|x| half(*x)).collect();
            let (out, input) = (memory.output::<f32>("out", count), memory.read_only("in", &halves));
            let counts = run(&mut memory, out, input)?;
            (whole::<f32>(&memory, out)?, halves.iter().map(|x| x.to_f32()).collect::<Vec<f32>>(), counts)
        }
    };
    Ok((exact(&found, &expected), counts))
}

fn gather(objects: &CodeObjects, columns: usize) -> Case {
    let (input, rows) = (numbers(1, 5 * columns), [4_u32, 0, 4]);
    let mut memory = Memory::new();
    let call = Gather {
        out: memory.output::<f32>("out", rows.len() * columns),
        input: memory.read_only("in", &input),
        rows: memory.read_only("rows", &rows),
        columns,
        count: rows.len(),
    };
    let counts = launch(objects, &mut memory, &call.call())?;
    let expected: Vec<f32> =
        rows.iter().flat_map(|row| &input[*row as usize * columns..][..columns]).copied().collect();
    Ok((exact(&whole::<f32>(&memory, call.out)?, &expected), counts))
}

fn mix(objects: &CodeObjects, columns: usize) -> Case {
    let (tokens, used) = (2, 3);
    let (y, weights) = (numbers(1, tokens * used * columns), numbers(2, tokens * used));
    let mut memory = Memory::new();
    let call = Mix {
        out: memory.output::<f32>("out", tokens * columns),
        y: memory.read_only("y", &y),
        weights: memory.read_only("weights", &weights),
        columns,
        used,
        tokens,
    };
    let counts = launch(objects, &mut memory, &call.call())?;
    let number = |i: usize| {
        let (token, column) = (i / columns, i % columns);
        let parts = (0..used).map(|k| token * used + k);
        parts.map(|row| f64::from(weights[row]) * f64::from(y[row * columns + column])).sum::<f64>() as f32
    };
    let expected: Vec<f32> = (0..tokens * columns).map(number).collect();
    let error = difference(&whole::<f32>(&memory, call.out)?, &expected);
    Ok((vec![Measured { what: "out", error, bound: 2e-6 }], counts))
}

fn route(objects: &CodeObjects, count: usize, used: usize) -> Case {
    let mut scores = numbers(1, TOKENS * count);
    // Equal scores: the first expert is the better one. No -0, which the sort below would not take as equal to 0.
    scores[count..].iter_mut().for_each(|score| *score = (*score * 2.0).round() + 0.0);
    routed(objects, &scores, [count, used])
}

/// Of the first token the best score is no number, of the second none is, of the third all but one.
fn route_no_numbers(objects: &CodeObjects, count: usize, used: usize) -> Case {
    let mut scores = numbers(1, TOKENS * count);
    scores[3] = f32::NAN;
    scores[count..].fill(f32::NAN);
    scores[2 * count + 5] = 1.0;
    routed(objects, &scores, [count, used])
}

const TOKENS: usize = 3;

fn routed(objects: &CodeObjects, scores: &[f32], [count, used]: [usize; 2]) -> Case {
    let mut memory = Memory::new();
    let call = Route {
        experts: memory.output::<i32>("experts", TOKENS * used),
        weights: memory.output::<f32>("weights", TOKENS * used),
        scores: memory.read_only("scores", scores),
        count,
        used,
        tokens: TOKENS,
    };
    let counts = launch(objects, &mut memory, &call.call())?;
    let (mut experts, mut weights) = (Vec::new(), Vec::new());
    let ordered: Vec<f32> =
        scores.iter().map(|score| if score.is_nan() { f32::NEG_INFINITY } else { *score }).collect();
    for scores in ordered.chunks_exact(count) {
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let of = |expert: &usize| f64::from(scores[*expert] - scores[order[0]]).exp();
        let sum: f64 = order[..used].iter().map(of).sum();
        experts.extend(order[..used].iter().map(|expert| *expert as i32));
        weights.extend(order[..used].iter().map(|expert| (of(expert) / sum) as f32));
    }
    let wrong = memory.numbers::<i32>(call.experts).iter().zip(&experts).filter(|(a, b)| a != b).count();
    let mut found = whole::<f32>(&memory, call.weights)?;
    // No number is right where none is expected.
    for (found, expected) in found.iter_mut().zip(&mut weights).filter(|(a, b)| a.is_nan() && b.is_nan()) {
        (*found, *expected) = (0.0, 0.0);
    }
    let error = relative(&found, &weights, 1e-6);
    let chosen = Measured { what: "experts", error: wrong as f64, bound: 0.0 };
    Ok((vec![chosen, Measured { what: "weights", error, bound: 1e-5 }], counts))
}
