//! 8-bit floats in the memory of a kernel.

use aiter_kernels::reference::{E4m3, Element};
use gfx_sim::Plain;

/// An e4m3 number of the references, as memory holds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fp8(E4m3);

impl Element for Fp8 {
    fn to_f32(self) -> f32 {
        self.0.to_f32()
    }
    fn from_f32(value: f32) -> Self {
        Self(E4m3::from_f32(value))
    }
}

impl Plain for Fp8 {
    const BYTES: usize = 1;
    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(self.0.to_bits());
    }
    fn get(bytes: &[u8]) -> Self {
        Self(E4m3::from_bits(bytes[0]))
    }
}
