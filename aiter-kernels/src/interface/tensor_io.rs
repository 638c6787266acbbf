//! Tensors of the host as the references take and give them: row by row, without gaps.

use super::tensor::Memory;
use super::{ElementType, Error, Tensor, TensorMut};
use crate::reference::{E4m3, Element};
use half::{bf16, f16};

/// A number as it lies in memory.
pub(super) trait Stored: Element {
    const TYPE: ElementType;
    fn from_bytes(bytes: &[u8]) -> Self;
    fn put(self, bytes: &mut [u8]);
}

macro_rules! stored {
    ($($number:ty = $variant:ident;)*) => {$(
        impl Stored for $number {
            const TYPE: ElementType = ElementType::$variant;
            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(std::array::from_fn(|i| bytes[i]))
            }
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

stored! { bf16 = Bf16; f16 = F16; f32 = F32; }

impl Stored for E4m3 {
    const TYPE: ElementType = ElementType::E4m3;
    fn from_bytes(bytes: &[u8]) -> Self {
        Self::from_bits(bytes[0])
    }
    fn put(self, bytes: &mut [u8]) {
        bytes[0] = self.to_bits();
    }
}

/// Runs `$body` with `$number` as the Rust type of a float tensor's elements; another type is an error that names `$argument`.
macro_rules! with_float {
    ($argument:literal, $tensor:expr, $number:ident => $body:expr) => {
        match $tensor.element_type {
            ElementType::Bf16 => {
                type $number = half::bf16;
                $body
            }
            ElementType::F16 => {
                type $number = half::f16;
                $body
            }
            ElementType::F32 => {
                type $number = f32;
                $body
            }
            ElementType::E4m3 => {
                type $number = crate::reference::E4m3;
                $body
            }
            found => {
                Err(Error::Type { argument: $argument, expected: "a float".into(), found: found.name() })
            }
        }
    };
}
pub(super) use with_float;

impl Tensor<'_> {
    /// Byte offsets of the rows (the last dimension), in order.
    fn rows(&self) -> Vec<usize> {
        let size = self.element_type.size();
        let mut offsets = vec![0];
        let outer = self.shape.len().saturating_sub(1);
        for (&count, &stride) in self.shape[..outer].iter().zip(&self.strides) {
            let stride = usize::try_from(stride).unwrap_or(0) * size;
            offsets = offsets.iter().flat_map(|first| (0..count).map(move |i| first + i * stride)).collect();
        }
        if self.len() == 0 { Vec::new() } else { offsets }
    }

    fn row_bytes(&self) -> usize {
        self.shape.last().copied().unwrap_or(1) * self.element_type.size()
    }

    /// All elements, in order. Empty for memory of a GPU, which no caller asks for.
    pub(super) fn read<T: Stored>(&self) -> Vec<T> {
        self.bytes().chunks_exact(T::TYPE.size()).map(T::from_bytes).collect()
    }

    /// All elements of an integer tensor, in order.
    pub(super) fn read_integers(&self) -> Vec<i64> {
        let word = |bytes: &[u8]| std::array::from_fn(|i| bytes[i]);
        let bytes = self.bytes();
        match self.element_type {
            ElementType::I64 => {
                bytes.chunks_exact(8).map(|b| i64::from_le_bytes(std::array::from_fn(|i| b[i]))).collect()
            }
            _ => bytes.chunks_exact(4).map(|b| i32::from_le_bytes(word(b)).into()).collect(),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let len = self.row_bytes();
        let mut all = Vec::with_capacity(self.len() * self.element_type.size());
        for row in self.rows() {
            match self.memory {
                Memory::Host(bytes) => all.extend_from_slice(&bytes[row..row + len]),
                Memory::HostMut(cells) => all.extend(cells[row..row + len].iter().map(std::cell::Cell::get)),
                Memory::Gpu { .. } => {}
            }
        }
        all
    }
}

impl TensorMut<'_> {
    /// Rounds numbers to the tensor's type and writes them, in order.
    pub(super) fn write(&self, numbers: &[f32]) -> Result<(), Error> {
        with_float!("out", self.0, T => {
            let mut bytes = vec![0; numbers.len() * T::TYPE.size()];
            for (number, bytes) in numbers.iter().zip(bytes.chunks_exact_mut(T::TYPE.size())) {
                T::from_f32(*number).put(bytes);
            }
            self.write_bytes(&bytes);
            Ok(())
        })
    }

    /// Writes elements as they lie in memory, in order.
    pub(super) fn write_bytes(&self, bytes: &[u8]) {
        let Memory::HostMut(cells) = self.0.memory else { return };
        let len = self.0.row_bytes().max(1);
        for (row, bytes) in self.0.rows().into_iter().zip(bytes.chunks_exact(len)) {
            for (cell, &byte) in cells[row..row + len].iter().zip(bytes) {
                cell.set(byte);
            }
        }
    }
}
