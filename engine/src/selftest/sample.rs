//! Numbers to compute with.

/// `count` numbers between -2 and 2 that are the same on every machine; another `seed` gives others.
pub(super) fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed;
    std::iter::repeat_with(|| {
        // SplitMix64 (Steele, Lea, Flood 2014): three lines, and good enough that no two rows are alike.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // The upper 24 bits are exact in a float.
        (bits >> 40) as f32 / (1 << 22) as f32 - 2.0
    })
    .take(count)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_and_repeatable() {
        let sample = numbers(1, 10_000);
        assert_eq!(sample, numbers(1, 10_000));
        assert_ne!(sample[..10], numbers(2, 10)[..]);
        assert!(sample.iter().all(|x| (-2.0..2.0).contains(x)));
        let mean = sample.iter().sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.05, "{mean}");
    }
}
