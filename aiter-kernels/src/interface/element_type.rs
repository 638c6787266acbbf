use half::{bf16, f16};

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// bfloat16.
    Bf16,
    /// IEEE half precision.
    F16,
    /// IEEE single precision.
    F32,
    /// 8-bit float of the OCP, 4 bits of exponent.
    E4m3,
    /// 8-bit integer.
    I8,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
}

impl ElementType {
    /// Bytes of one element.
    pub const fn size(self) -> usize {
        match self {
            Self::E4m3 | Self::I8 => 1,
            Self::Bf16 | Self::F16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::I64 => 8,
        }
    }

    /// As messages spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::E4m3 => "e4m3",
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::I64 => "i64",
        }
    }
}

/// A Rust type whose slices are tensors. 8-bit floats come as bytes: see [`super::Tensor::from_bytes`].
pub trait Scalar: bytemuck::Pod {
    /// The same as a value.
    const TYPE: ElementType;
}

impl Scalar for bf16 {
    const TYPE: ElementType = ElementType::Bf16;
}
impl Scalar for f16 {
    const TYPE: ElementType = ElementType::F16;
}
impl Scalar for f32 {
    const TYPE: ElementType = ElementType::F32;
}
impl Scalar for i8 {
    const TYPE: ElementType = ElementType::I8;
}
impl Scalar for i32 {
    const TYPE: ElementType = ElementType::I32;
}
impl Scalar for i64 {
    const TYPE: ElementType = ElementType::I64;
}
