//! The types of tensors that are supported, and their block sizes.

use serde::Serialize;

/// How the numbers of a tensor are stored. Numbers and layouts are those of ggml.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[allow(non_camel_case_types)] // the field's own names
pub enum TensorType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// Blocks of 32: an f16 scale and 32 nibbles less 8.
    Q4_0,
    /// Blocks of 32: an f16 scale and 32 i8.
    Q8_0,
    /// Blocks of 256 in eight groups with 6-bit scales and minima, 4 bits a number.
    Q4_K,
    /// As `Q4_K` with 5 bits a number.
    Q5_K,
    /// Blocks of 256 in sixteen groups with i8 scales, 6 bits a number.
    Q6_K,
    /// Blocks of 32: an f16 scale and 32 nibbles that index a table of 16 numbers.
    IQ4_NL,
    /// The upper half of an f32.
    BF16,
}

use TensorType::{BF16, F16, F32, IQ4_NL, Q4_0, Q4_K, Q5_K, Q6_K, Q8_0};

impl TensorType {
    /// All of them.
    pub const ALL: [Self; 9] = [F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q5_K, Q6_K, IQ4_NL];

    /// The type with ggml's number `id`.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// Its number in ggml.
    pub fn id(self) -> u32 {
        match self {
            F32 => 0,
            F16 => 1,
            Q4_0 => 2,
            Q8_0 => 8,
            Q4_K => 12,
            Q5_K => 13,
            Q6_K => 14,
            IQ4_NL => 20,
            BF16 => 30,
        }
    }

    /// Numbers and bytes of a block.
    pub fn block(self) -> (usize, usize) {
        match self {
            F32 => (1, 4),
            F16 | BF16 => (1, 2),
            Q4_0 | IQ4_NL => (32, 18),
            Q8_0 => (32, 34),
            Q4_K => (256, 144),
            Q5_K => (256, 176),
            Q6_K => (256, 210),
        }
    }

    /// Bytes of `columns` numbers, which must be whole blocks.
    pub fn row_bytes(self, columns: usize) -> usize {
        let (numbers, bytes) = self.block();
        columns / numbers * bytes
    }

    /// The name of a type that is known but not supported.
    pub fn name_of(id: u32) -> Option<&'static str> {
        const NAMES: [(u32, &str); 22] = [
            (3, "Q4_1"),
            (6, "Q5_0"),
            (7, "Q5_1"),
            (9, "Q8_1"),
            (10, "Q2_K"),
            (11, "Q3_K"),
            (15, "Q8_K"),
            (16, "IQ2_XXS"),
            (17, "IQ2_XS"),
            (18, "IQ3_XXS"),
            (19, "IQ1_S"),
            (21, "IQ3_S"),
            (22, "IQ2_S"),
            (23, "IQ4_XS"),
            (24, "I8"),
            (25, "I16"),
            (26, "I32"),
            (27, "I64"),
            (28, "F64"),
            (29, "IQ1_M"),
            (34, "TQ1_0"),
            (39, "MXFP4"),
        ];
        NAMES.into_iter().find(|(known, _)| *known == id).map(|(_, name)| name)
    }
}

impl std::fmt::Display for TensorType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}
