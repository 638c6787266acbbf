//! Inputs of tests.

use aiter_kernels::reference::Element;

/// Numbers in -2..2 from a linear congruence: reproducible, without a dependency.
pub(crate) fn numbers<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f32((state >> 40) as f32 / (1 << 22) as f32 - 2.0)
    };
    (0..count).map(|_| next()).collect()
}
