//! The product itself, over bytes.

use half::{bf16, f16};
use std::ffi::c_int;
use std::fmt;

/// `hipDataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F16,
    Bf16,
}

impl Element {
    pub(crate) fn of(kind: c_int) -> Option<Self> {
        match kind {
            0 => Some(Self::F32),
            2 => Some(Self::F16),
            14 => Some(Self::Bf16),
            _ => None,
        }
    }

    fn bytes(self) -> usize {
        if self == Self::F32 { 4 } else { 2 }
    }

    fn number(self, bytes: &[u8], at: usize) -> f32 {
        let half = || [bytes[2 * at], bytes[2 * at + 1]];
        match self {
            Self::F32 => f32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[4 * at + byte])),
            Self::F16 => f16::from_le_bytes(half()).to_f32(),
            Self::Bf16 => bf16::from_le_bytes(half()).to_f32(),
        }
    }
}

/// A matrix, column by column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) element: Element,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Numbers from one column to the next.
    pub(crate) stride: usize,
}

impl Layout {
    /// Bytes from its first number to its last.
    pub(crate) fn bytes(&self) -> usize {
        (self.columns.saturating_sub(1) * self.stride + self.rows) * self.element.bytes()
    }
}

/// `d = aᵀ · b`.
pub(crate) struct Product<'a> {
    pub(crate) a: &'a Layout,
    pub(crate) b: &'a Layout,
    pub(crate) d: &'a Layout,
}

impl fmt::Display for Product<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.d.rows, self.a.rows, self.d.columns)
    }
}

impl Product<'_> {
    /// Whether types and sizes go together.
    pub(crate) fn is_possible(&self) -> bool {
        let Self { a, b, d } = self;
        a.element == b.element
            && a.element != Element::F32
            && d.element == Element::F32
            && (a.rows, d.rows, d.columns) == (b.rows, a.columns, b.columns)
            && [a, b, d].iter().all(|layout| layout.stride >= layout.rows)
    }

    /// The columns of `d`, one after the other without gaps.
    pub(crate) fn compute(&self, a: &[u8], b: &[u8]) -> Vec<f32> {
        let numbers = |layout: &Layout, bytes: &[u8]| -> Vec<Vec<f32>> {
            let column = |column| {
                let number = |row| layout.element.number(bytes, column * layout.stride + row);
                (0..layout.rows).map(number).collect()
            };
            (0..layout.columns).map(column).collect()
        };
        let (a, b) = (numbers(self.a, a), numbers(self.b, b));
        let dot = |a: &Vec<f32>, b: &Vec<f32>| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        b.iter().flat_map(|b| a.iter().map(move |a| dot(a, b))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matrix_is_transposed_and_columns_have_gaps() {
        let layout = |element, rows, columns, stride| Layout { element, rows, columns, stride };
        let (a, b) = (layout(Element::F16, 2, 2, 3), layout(Element::F16, 2, 1, 2));
        let d = layout(Element::F32, 2, 1, 4);
        let product = Product { a: &a, b: &b, d: &d };
        let halves = |numbers: &[f32]| -> Vec<u8> {
            numbers.iter().flat_map(|number| f16::from_f32(*number).to_le_bytes()).collect()
        };
        assert_eq!(product.compute(&halves(&[1.0, 2.0, 9.0, 3.0, 4.0]), &halves(&[5.0, -1.0])), [3.0, 11.0]);
        assert!(product.is_possible() && product.to_string() == "2x2x1");
        let narrow = layout(Element::F32, 2, 1, 1);
        assert!(!Product { d: &narrow, ..product }.is_possible());
    }
}
