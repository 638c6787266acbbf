use half::{bf16, f16};

/// A number as a kernel's tensors hold it.
pub trait Element: Copy + Send + Sync {
    /// Exact.
    fn to_f32(self) -> f32;
    /// Rounded to nearest, ties to even.
    fn from_f32(value: f32) -> Self;
}

impl Element for bf16 {
    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

impl Element for f16 {
    fn to_f32(self) -> f32 {
        Self::to_f32(self)
    }
    fn from_f32(value: f32) -> Self {
        Self::from_f32(value)
    }
}

impl Element for f32 {
    fn to_f32(self) -> f32 {
        self
    }
    fn from_f32(value: f32) -> Self {
        value
    }
}
