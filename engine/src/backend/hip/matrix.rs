//! Weight matrices on a card, and the rule that chooses the kernel for a product.

use super::blas::MANY;
use super::buffer::Buffer;
use super::card::Card;
use super::error::Error;
use crate::gguf::{Gguf, Tensor, TensorType};
use crate::kernels::{Conversion, Embed, MultiplyMatrix, MultiplyVector, has_matrix_kernel};
use hip::{BlasElement, BlasProduct, DeviceBuffer};

/// A matrix, or one an expert, as the file stores it.
pub struct Matrix {
    /// Which card, by its place among those that are used.
    pub(super) card: usize,
    pub(super) kind: TensorType,
    pub(super) columns: usize,
    /// Of one expert's matrix, or of the matrix.
    pub(super) rows: usize,
    memory: DeviceBuffer,
}

/// How a product is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    /// Row by row: the weights are read for each, and the caches help.
    Vector,
    /// On the matrix instructions, with activations in this type.
    Matrix(Conversion),
    /// By hipBLASLt.
    Blas(Conversion, BlasElement),
}

/// Rows of activations up to which the vector kernel reads the weights again for each. Not measured: no GPU at hand.
const FEW: usize = 4;

impl Product {
    /// The rule: few rows, and what the matrix instructions do not take, row by row; many rows of halves by hipBLASLt, where it is.
    pub(super) fn of(kind: TensorType, columns: usize, count: usize, has_blas: bool) -> Self {
        if count <= FEW || !has_matrix_kernel(kind, columns) {
            return Self::Vector;
        }
        let has_blas = has_blas && count >= MANY;
        match kind {
            TensorType::F16 if has_blas => Self::Blas(Conversion::F32ToF16, BlasElement::F16),
            TensorType::BF16 if has_blas => Self::Blas(Conversion::F32ToBf16, BlasElement::Bf16),
            TensorType::BF16 => Self::Matrix(Conversion::F32ToBf16),
            _ => Self::Matrix(Conversion::F32ToF16),
        }
    }
}

/// Where results go: rows whose begins are `stride` numbers apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) address: u64,
    pub(super) stride: usize,
}

impl Output {
    /// All of a buffer with rows of `width` numbers.
    pub(super) fn of(buffer: &Buffer, width: usize) -> Self {
        Self { address: buffer.address(), stride: width }
    }

    /// One half of each row of a buffer that holds two of `width` numbers side by side, as the activation takes gate and up.
    pub(super) fn half(buffer: &Buffer, number: usize, width: usize) -> Self {
        Self { address: buffer.address() + (number * width * 4) as u64, stride: 2 * width }
    }
}

impl Matrix {
    pub(super) fn new(place: usize, card: &Card, gguf: &Gguf, tensor: &Tensor) -> Result<Self, Error> {
        Ok(Self {
            card: place,
            kind: tensor.kind,
            columns: tensor.sizes[0] as usize,
            rows: tensor.sizes.get(1).map_or(1, |rows| *rows as usize),
            memory: card.upload(gguf.bytes(tensor))?,
        })
    }

    /// The matrices of these experts of a tensor, one behind the other.
    pub(super) fn of_experts(
        place: usize,
        card: &Card,
        gguf: &Gguf,
        tensor: &Tensor,
        experts: &[usize],
    ) -> Result<Self, Error> {
        let [columns, rows] = [tensor.sizes[0] as usize, tensor.sizes[1] as usize];
        let size = rows * tensor.kind.row_bytes(columns);
        let bytes = gguf.bytes(tensor);
        let in_order = experts.iter().enumerate().all(|(place, expert)| place == *expert);
        let memory = if in_order {
            card.upload(&bytes[..experts.len() * size])?
        } else {
            let chosen: Vec<&[u8]> = experts.iter().map(|expert| &bytes[expert * size..][..size]).collect();
            card.upload(&chosen.concat())?
        };
        Ok(Self { card: place, kind: tensor.kind, columns, rows, memory })
    }

    fn vector(&self, x: u64, count: usize, out: Output) -> MultiplyVector {
        MultiplyVector {
            out: out.address,
            weights: self.memory.address(),
            x,
            experts: 0,
            expert_bytes: (self.rows * self.kind.row_bytes(self.columns)) as u64,
            columns: self.columns,
            rows: self.rows,
            out_stride: out.stride,
            share: 1,
            count,
        }
    }

    /// Each row of `x` times the matrix.
    pub(super) fn multiply(&self, card: &Card, x: &Buffer, out: Output) -> Result<(), Error> {
        let count = x.len / self.columns;
        let (conversion, element) = match Product::of(self.kind, self.columns, count, card.blas.is_some()) {
            Product::Vector => return card.launch(&self.vector(x.address(), count, out).call(self.kind)),
            Product::Matrix(conversion) => (conversion, None),
            Product::Blas(conversion, element) => (conversion, Some(element)),
        };
        let halves = card.converted(x, conversion)?;
        if let Some(element) = element
            && self.multiply_by_blas(card, element, [halves.address(), count as u64], out)?
        {
            return Ok(());
        }
        let call = MultiplyMatrix {
            out: out.address,
            weights: self.memory.address(),
            x: halves.address(),
            columns: self.columns,
            rows: self.rows,
            count,
            out_stride: out.stride,
        };
        card.launch(&call.call(self.kind))
    }

    /// Whether hipBLASLt takes this product; then it is queued.
    fn multiply_by_blas(
        &self,
        card: &Card,
        element: BlasElement,
        [x, count]: [u64; 2],
        out: Output,
    ) -> Result<bool, Error> {
        let Some(blas) = &card.blas else { return Ok(false) };
        card.enter()?;
        let product = BlasProduct {
            element,
            out: out.address,
            weights: self.memory.address(),
            x,
            columns: self.columns,
            rows: self.rows,
            count: count as usize,
            out_stride: out.stride,
        };
        blas.multiply(&card.stream, &product).map_err(|why| Error::Blas { device: card.number, why })
    }

    /// Each of `count` rows at `x` times the matrices of `share` experts, whose numbers lie at `experts`; below 0: 0.
    pub(super) fn multiply_experts(
        &self,
        card: &Card,
        experts: u64,
        [x, count, share]: [u64; 3],
        out: Output,
    ) -> Result<(), Error> {
        let call = MultiplyVector { experts, share: share as usize, ..self.vector(x, count as usize, out) };
        card.launch(&call.call(self.kind))
    }

    /// The rows that the tokens at `tokens` name.
    pub(super) fn embed(&self, card: &Card, tokens: u64, count: usize, out: u64) -> Result<(), Error> {
        let call = Embed { out, table: self.memory.address(), tokens, columns: self.columns, count };
        card.launch(&call.call(self.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TensorType::{BF16, F16, F32, Q4_K};

    #[test]
    fn the_shape_and_the_type_choose_the_kernel() {
        let f16 = Product::Blas(Conversion::F32ToF16, BlasElement::F16);
        let bf16 = Product::Blas(Conversion::F32ToBf16, BlasElement::Bf16);
        let table = [
            (Q4_K, 4096, 1, true, Product::Vector),
            (Q4_K, 4096, 4, true, Product::Vector),
            (Q4_K, 4096, 5, true, Product::Matrix(Conversion::F32ToF16)),
            (BF16, 4096, 512, false, Product::Matrix(Conversion::F32ToBf16)),
            (BF16, 4096, 63, true, Product::Matrix(Conversion::F32ToBf16)),
            (BF16, 4096, 64, true, bf16),
            (F16, 4096, 512, true, f16),
            (F16, 4096, 4, true, Product::Vector),
            (BF16, 4095, 512, true, Product::Vector),
            (F32, 4096, 512, true, Product::Vector),
        ];
        for (kind, columns, count, has_blas, expected) in table {
            assert_eq!(Product::of(kind, columns, count, has_blas), expected, "{kind} {columns} {count}");
        }
    }
}
