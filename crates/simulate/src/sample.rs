//! Numbers to compute with: the same on every machine.

use aiter_kernels::reference::Element;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Sample(u64);

impl Sample {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64 (Steele, Lea, Flood 2014).
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// With mean 0 and variance 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// `count` normal numbers times `scale` plus `offset`, rounded to the type.
    pub(crate) fn numbers<T: Element>(&mut self, count: usize, scale: f64, offset: f64) -> Vec<T> {
        (0..count).map(|_| T::from_f32((scale * self.normal() + offset) as f32)).collect()
    }

    /// 0 to `count` - 1 in a random order.
    pub(crate) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, (self.bits() % (i as u64 + 1)) as usize);
        }
        order
    }
}
