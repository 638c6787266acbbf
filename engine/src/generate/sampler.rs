//! Chooses the next token from logits.

use std::collections::HashSet;

/// How tokens are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// Divides the logits; 0: always the best token.
    pub temperature: f32,
    /// Only so many of the best; 0: all.
    pub top_k: usize,
    /// Only the best whose probabilities sum to this; 1: all, 0: the best one.
    pub top_p: f32,
    /// Only those at least this likely, as a part of the best one's probability; 0: all.
    pub min_p: f32,
    /// Divides the logits of tokens that were there lately, or multiplies them where they are negative; 1: off.
    pub repetition: f32,
    /// How many tokens are lately.
    pub repetition_window: usize,
    /// The same seed and logits give the same tokens.
    pub seed: u64,
}

/// What is wrong with a [`Sampling`].
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} is {value}: it should be {expected}")]
pub struct Invalid {
    /// Which number.
    pub name: &'static str,
    /// What it is.
    pub value: f32,
    /// What it should be.
    pub expected: &'static str,
}

impl Sampling {
    /// Always the best token.
    pub const GREEDY: Self = Self {
        temperature: 0.0,
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        repetition: 1.0,
        repetition_window: 64,
        seed: 0,
    };

    /// Whether every number is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), Invalid> {
        let rules = [
            ("temperature", self.temperature, (0.0..=100.0).contains(&self.temperature), "from 0 to 100"),
            ("top_p", self.top_p, (0.0..=1.0).contains(&self.top_p), "from 0 to 1"),
            ("min_p", self.min_p, (0.0..=1.0).contains(&self.min_p), "from 0 to 1"),
            (
                "repetition",
                self.repetition,
                self.repetition > 0.0 && self.repetition <= 100.0,
                "above 0, 100 at most",
            ),
        ];
        let wrong = rules.into_iter().find(|(_, _, is_right, _)| !is_right);
        wrong.map_or(Ok(()), |(name, value, _, expected)| Err(Invalid { name, value, expected }))
    }
}

/// Chooses tokens of one sequence.
#[derive(Debug)]
pub struct Sampler {
    sampling: Sampling,
    state: u64,
}

/// Logits below the best from which on a weight is less than 2^-26, where the best has 1: added to 1 or more, or a probability to the sum of those before, it is rounded away.
const NEGLIGIBLE: f32 = 18.5;

#[derive(Debug, Clone, Copy)]
struct Candidate {
    token: u32,
    logit: f32,
}

impl Sampler {
    /// A sampler at the start of its seed's numbers.
    pub fn new(sampling: Sampling) -> Self {
        Self { sampling, state: sampling.seed }
    }

    /// The next token, after `history`. Logits that are no numbers are never chosen, unless all are.
    pub fn choose(&mut self, logits: &[f32], history: &[u32]) -> u32 {
        let mut candidates = self.penalised(logits, history);
        if self.sampling.temperature == 0.0 {
            let best = candidates.iter().min_by(|a, b| order(a, b));
            return best.map_or(0, |best| best.token);
        }
        self.keep_top_k(&mut candidates);
        self.keep_likely(&mut candidates);
        let weights = probabilities(&candidates, self.sampling.temperature);
        let mut rest = self.random();
        for (candidate, probability) in candidates.iter().zip(&weights) {
            rest -= probability;
            if rest < 0.0 {
                return candidate.token;
            }
        }
        candidates.last().map_or(0, |last| last.token)
    }

    fn penalised(&self, logits: &[f32], history: &[u32]) -> Vec<Candidate> {
        let start = history.len().saturating_sub(self.sampling.repetition_window);
        let is_off = self.sampling.repetition == 1.0;
        let lately: HashSet<u32> =
            if is_off { HashSet::new() } else { history[start..].iter().copied().collect() };
        let penalised = |token: u32, logit: f32| match logit {
            _ if logit.is_nan() => f32::NEG_INFINITY,
            _ if is_off || !lately.contains(&token) => logit,
            _ if logit > 0.0 => logit / self.sampling.repetition,
            _ => logit * self.sampling.repetition,
        };
        let number = |(token, logit): (usize, &f32)| {
            let token = token as u32;
            Candidate { token, logit: penalised(token, *logit) }
        };
        logits.iter().enumerate().map(number).collect()
    }

    /// Leaves the best.
    fn keep_top_k(&self, candidates: &mut Vec<Candidate>) {
        let k = self.sampling.top_k;
        if k > 0 && k < candidates.len() {
            candidates.select_nth_unstable_by(k - 1, order);
            candidates.truncate(k);
        }
    }

    /// Leaves those that are likely enough, in order.
    fn keep_likely(&self, candidates: &mut Vec<Candidate>) {
        // Most of a vocabulary is so unlikely that no sum of f32 changes by it: where the cut lies among the others, only they are put in order.
        let best = candidates.iter().map(|candidate| candidate.logit).fold(f32::NEG_INFINITY, f32::max);
        let is_seen = |candidate: &Candidate| candidate.logit >= best - NEGLIGIBLE;
        let (mut seen, rest): (Vec<Candidate>, Vec<Candidate>) = candidates.drain(..).partition(is_seen);
        seen.sort_unstable_by(order);
        let mut kept = self.count_likely(&probabilities(&seen, 1.0));
        if kept == seen.len() && !rest.is_empty() {
            seen.extend(rest);
            seen.sort_unstable_by(order);
            kept = self.count_likely(&probabilities(&seen, 1.0));
        }
        seen.truncate(kept);
        *candidates = seen;
    }

    /// How many of the best are likely enough: one at least.
    fn count_likely(&self, probabilities: &[f32]) -> usize {
        let mut sum = 0.0;
        let by_sum = probabilities.iter().position(|probability| {
            sum += probability;
            sum >= self.sampling.top_p
        });
        let by_sum = by_sum.map_or(probabilities.len(), |last| last + 1);
        let least = probabilities.first().map_or(0.0, |best| best * self.sampling.min_p);
        let by_size = probabilities.iter().take_while(|probability| **probability >= least).count();
        by_sum.min(by_size).max(1)
    }

    /// A number from 0 to 1, without 1: SplitMix64.
    fn random(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 40) as f32 / (1_u32 << 24) as f32
    }
}

/// The best first; of equals the token with the smallest number.
fn order(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token))
}

fn probabilities(candidates: &[Candidate], temperature: f32) -> Vec<f32> {
    let best = candidates.first().map_or(0.0, |best| best.logit);
    let weights: Vec<f32> =
        candidates.iter().map(|candidate| ((candidate.logit - best) / temperature).exp()).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [0.0, 3.0, 1.0, f32::NAN, 2.0];

    fn chosen(sampling: Sampling, history: &[u32]) -> Vec<usize> {
        let mut sampler = Sampler::new(sampling);
        let mut counts = vec![0; LOGITS.len()];
        (0..2000).for_each(|_| counts[sampler.choose(&LOGITS, history) as usize] += 1);
        counts
    }

    #[test]
    fn every_setting_leaves_what_it_says() {
        let warm = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        let table = [
            ("greedy", Sampling::GREEDY, vec![1]),
            ("all", warm, vec![0, 1, 2, 4]),
            ("top-k", Sampling { top_k: 2, ..warm }, vec![1, 4]),
            ("top-p", Sampling { top_p: 0.8, ..warm }, vec![1, 4]),
            ("top-p of one", Sampling { top_p: 0.1, ..warm }, vec![1]),
            ("top-p of nothing", Sampling { top_p: 0.0, ..warm }, vec![1]),
            ("min-p", Sampling { min_p: 0.1, ..warm }, vec![1, 2, 4]),
            ("cold", Sampling { temperature: 0.01, ..warm }, vec![1]),
        ];
        for (name, sampling, tokens) in table {
            let counts = chosen(sampling, &[]);
            let seen: Vec<usize> = (0..counts.len()).filter(|token| counts[*token] > 0).collect();
            assert_eq!(seen, tokens, "{name}: {counts:?}");
        }
    }

    #[test]
    fn frequencies_are_the_probabilities() {
        let counts = chosen(Sampling { temperature: 1.0, ..Sampling::GREEDY }, &[]);
        // exp(3) / (1 + exp(3) + exp(1) + exp(2)) of 2000 is 1288.
        assert!((1200..1380).contains(&counts[1]), "{counts:?}");
    }

    /// As before only some were put in order.
    fn by_sorting_all(sampling: Sampling, logits: &[f32]) -> Vec<u32> {
        let sampler = Sampler::new(sampling);
        let mut candidates = sampler.penalised(logits, &[]);
        sampler.keep_top_k(&mut candidates);
        candidates.sort_unstable_by(order);
        candidates.truncate(sampler.count_likely(&probabilities(&candidates, 1.0)));
        candidates.iter().map(|candidate| candidate.token).collect()
    }

    #[test]
    fn what_is_too_unlikely_to_count_is_not_sorted_and_changes_nothing() {
        let mut numbers = Sampler::new(Sampling::GREEDY);
        let warm = Sampling { temperature: 1.0, ..Sampling::GREEDY };
        for round in 0..40 {
            // From flat to steep.
            let range = 2.0 + round as f32 * 3.0;
            let logits: Vec<f32> = (0..3000).map(|_| numbers.random() * range).collect();
            for (top_k, top_p, min_p) in [
                (0, 0.95, 0.05),
                (0, 0.95, 0.0),
                (0, 1.0, 0.0),
                (0, 0.999_999, 0.0),
                (0, 1.0, 1e-9),
                (40, 1.0, 0.0),
            ] {
                let sampling = Sampling { top_k, top_p, min_p, ..warm };
                let sampler = Sampler::new(sampling);
                let mut candidates = sampler.penalised(&logits, &[]);
                sampler.keep_top_k(&mut candidates);
                sampler.keep_likely(&mut candidates);
                let found: Vec<u32> = candidates.iter().map(|candidate| candidate.token).collect();
                assert_eq!(found, by_sorting_all(sampling, &logits), "{range} {top_k} {top_p} {min_p}");
            }
        }
    }

    #[test]
    fn repetition_lets_others_win() {
        let sampling = Sampling { repetition: 2.0, ..Sampling::GREEDY };
        assert_eq!(Sampler::new(sampling).choose(&LOGITS, &[1]), 4);
        let forgetful = Sampling { repetition_window: 1, ..sampling };
        assert_eq!(Sampler::new(forgetful).choose(&LOGITS, &[1, 0]), 1);
    }

    #[test]
    fn the_same_seed_gives_the_same_tokens() {
        let sampling = Sampling { temperature: 1.0, seed: 7, ..Sampling::GREEDY };
        let tokens = |seed| {
            let mut sampler = Sampler::new(Sampling { seed, ..sampling });
            (0..50).map(|_| sampler.choose(&LOGITS, &[])).collect::<Vec<_>>()
        };
        assert_eq!(tokens(7), tokens(7));
        assert_ne!(tokens(7), tokens(8));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let wrong = Sampling { top_p: 1.5, ..Sampling::GREEDY }.check().expect_err("wrong");
        assert_eq!(wrong.to_string(), "top_p is 1.5: it should be from 0 to 1");
        assert!(Sampling { temperature: f32::NAN, ..Sampling::GREEDY }.check().is_err());
    }
}
