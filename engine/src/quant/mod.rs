//! Quantised weights: to f32, and times rows of activations.

mod activations;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dequantise;
#[cfg(feature = "models")]
mod panels;
pub(crate) mod portable;

pub use activations::{Activations, Block256, Form};
pub use dequantise::dequantise;
#[cfg(feature = "models")]
pub use panels::{Tiles, panel_products, panel_rows};

use crate::gguf::TensorType;

/// Which code computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// Plain Rust in f32.
    Portable,
    /// AVX2, FMA and F16C; quantised types in integers.
    Avx2,
    /// As `Avx2`, and the K types with AVX-512 and VNNI.
    Avx512,
}

impl Code {
    /// The fastest that this processor has.
    pub fn best() -> Self {
        *Self::there().last().unwrap_or(&Self::Portable)
    }

    /// All that this processor has, the fastest last.
    pub fn there() -> Vec<Self> {
        let mut there = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            there.extend(avx2::is_there().then_some(Self::Avx2));
            there.extend(avx512::is_there().then_some(Self::Avx512));
        }
        there
    }

    /// The form of activations that it takes for weights of `kind`.
    pub fn form(self, kind: TensorType) -> Form {
        match self {
            Self::Portable => Form::Float,
            Self::Avx2 | Self::Avx512 => Form::of(kind),
        }
    }
}

/// Rows of activations that are computed at once: as many as sums fit into registers.
#[cfg(target_arch = "x86_64")]
mod at_once {
    pub(super) const AVX2: usize = 4;
    pub(super) const AVX512: usize = 8;
}

/// Multiplies rows of weights, `bytes` of `kind`, with all rows of `x`: `out[weight row][activation row]`.
///
/// # Panics
/// When the lengths do not fit together.
#[allow(unsafe_code)]
pub fn products(code: Code, kind: TensorType, bytes: &[u8], x: &Activations<'_>, out: &mut [f32]) {
    let row_bytes = kind.row_bytes(x.columns);
    let count = x.rows();
    assert_eq!(bytes.len() / row_bytes * count, out.len(), "a place for each product");
    match code {
        // SAFETY: these are made by `Code::there` alone, after a look at the processor.
        #[cfg(target_arch = "x86_64")]
        Code::Avx2 => by_dots::<{ at_once::AVX2 }>(
            bytes,
            row_bytes,
            count,
            out,
            |row, first| unsafe { avx2::dot(kind, row, x, first) },
            |row, first| unsafe { avx2::dot(kind, row, x, first) },
        ),
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Code::Avx512 => by_dots::<{ at_once::AVX512 }>(
            bytes,
            row_bytes,
            count,
            out,
            |row, first| unsafe { avx512::dot(kind, row, x, first) },
            |row, first| unsafe { avx512::dot(kind, row, x, first) },
        ),
        _ => {
            let mut scratch = Vec::new();
            for (row, out) in bytes.chunks_exact(row_bytes).zip(out.chunks_exact_mut(count)) {
                portable::dots(kind, row, x.floats, x.columns, &mut scratch, out);
            }
        }
    }
}

/// Each row of weights with several rows of activations at once, then with what is left over one by one.
#[cfg(target_arch = "x86_64")]
fn by_dots<const N: usize>(
    bytes: &[u8],
    row_bytes: usize,
    count: usize,
    out: &mut [f32],
    several: impl Fn(&[u8], usize) -> [f32; N],
    one: impl Fn(&[u8], usize) -> [f32; 1],
) {
    let (mut first, whole) = (0, count / N * N);
    while first < count {
        for (row, out) in bytes.chunks_exact(row_bytes).zip(out.chunks_exact_mut(count)) {
            if first < whole {
                out[first..first + N].copy_from_slice(&several(row, first));
            } else {
                [out[first]] = one(row, first);
            }
        }
        first += if first < whole { N } else { 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    /// Numbers from -1 to 1 that are the same on every machine.
    fn noise(seed: u64) -> impl Iterator<Item = f32> {
        let mut state = seed;
        std::iter::from_fn(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Some((state >> 40) as f32 / (1 << 23) as f32 - 1.0)
        })
    }

    /// Blocks of any bytes, but with scales that are numbers.
    fn blocks(kind: TensorType, count: usize) -> Vec<u8> {
        let (_, size) = kind.block();
        let mut bytes: Vec<u8> = noise(7).map(|x| (x * 128.0 + 128.0) as u8).take(count * size).collect();
        let scales: &[usize] = match kind {
            TensorType::F32 | TensorType::F16 | TensorType::BF16 => &[],
            TensorType::Q4_K | TensorType::Q5_K => &[0, 2],
            TensorType::Q6_K => &[208],
            _ => &[0],
        };
        for (i, block) in bytes.chunks_exact_mut(size).enumerate() {
            let number = noise(i as u64 + 1).next().expect("endless");
            match kind {
                TensorType::F32 => block.copy_from_slice(&number.to_le_bytes()),
                TensorType::F16 => block.copy_from_slice(&f16::from_f32(number).to_le_bytes()),
                TensorType::BF16 => block.copy_from_slice(&half::bf16::from_f32(number).to_le_bytes()),
                _ => {}
            }
            for at in scales {
                block[*at..at + 2].copy_from_slice(&f16::from_f32(number * 0.01).to_le_bytes());
            }
        }
        bytes
    }

    #[test]
    fn the_fast_code_agrees_with_the_definition() {
        // On a processor without vectors there is nothing to compare.
        for code in Code::there().into_iter().skip(1) {
            agrees(code);
        }
    }

    fn agrees(code: Code) {
        for kind in TensorType::ALL {
            for columns in [256, 512, 4096] {
                let (rows, count) = (3, 14);
                let bytes = blocks(kind, rows * columns / kind.block().0);
                let floats: Vec<f32> = noise(3).take(count * columns).collect();
                let [fast, slow] = [code, Code::Portable].map(|code| {
                    let x = Activations::new(code.form(kind), &floats, columns);
                    let mut out = vec![0.0; rows * count];
                    products(code, kind, &bytes, &x, &mut out);
                    out
                });
                // Against the size of what is summed: rounding to 8 bits is off by half a step a number.
                let mut row = vec![0.0; columns];
                for (i, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
                    let size = kind.row_bytes(columns);
                    dequantise(kind, &bytes[i / count * size..][..size], &mut row);
                    let norm = row.iter().map(|w| w * w).sum::<f32>().sqrt();
                    let bound = if Form::of(kind) == Form::Float { 2e-6 } else { 0.004 } * (norm + 1e-6);
                    let bound = bound * (columns as f32).sqrt().min(4.0);
                    assert!(
                        (fast - slow).abs() <= bound,
                        "{code:?} {kind} {columns} {i}: {fast} {slow} {bound}"
                    );
                }
            }
        }
    }

    #[cfg(feature = "models")]
    #[test]
    fn panels_give_what_single_rows_give() {
        for (code, kind) in
            Code::there().into_iter().skip(1).flat_map(|code| TensorType::ALL.map(|kind| (code, kind)))
        {
            let (rows, count, columns) = (5, 37, 768);
            let bytes = blocks(kind, rows * columns / kind.block().0);
            let floats: Vec<f32> = noise(3).take(count * columns).collect();
            let mut single = vec![0.0; rows * count];
            products(code, kind, &bytes, &Activations::new(code.form(kind), &floats, columns), &mut single);
            let width = panel_rows(code, kind, columns, count).expect("enough rows for a panel");
            let mut panel = vec![0.0; width * count];
            panel_products(code, kind, &bytes, &Tiles::new(kind, &floats, columns), &mut panel);
            let size = single.iter().map(|x| x * x).sum::<f32>().sqrt() / (single.len() as f32).sqrt();
            for (i, of_panel) in panel.iter().enumerate() {
                let expected = if i % width < rows { single[i % width * count + i / width] } else { 0.0 };
                assert!(
                    (of_panel - expected).abs() <= 3e-6 * size,
                    "{code:?} {kind} {i}: {of_panel} {expected} {size}"
                );
            }
        }
    }

    #[test]
    fn columns_that_are_no_whole_vectors() {
        let floats: Vec<f32> = noise(3).take(2 * 13).collect();
        for kind in [TensorType::F32, TensorType::F16, TensorType::BF16] {
            let bytes = blocks(kind, 13);
            let [fast, slow] = [Code::best(), Code::Portable].map(|code| {
                let mut out = vec![0.0; 2];
                products(code, kind, &bytes, &Activations::new(Form::Float, &floats, 13), &mut out);
                out
            });
            assert!(fast.iter().zip(&slow).all(|(fast, slow)| (fast - slow).abs() < 1e-5), "{kind}");
        }
    }
}
