//! Mixture of experts: each token goes through the few experts that score best.

use super::attention::softmax;
use super::gated;
use super::matrix::Matrix;
use crate::model::Experts;
use crate::quant::Code;

/// What keeps the sum of weights from 0: the smallest normal f16, as in llama.cpp.
const SMALLEST_SUM: f32 = 6.103_515_6e-5;

/// An expert that a token goes through, and the weight of its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) token: usize,
    pub(crate) expert: usize,
    pub(crate) weight: f32,
}

/// The best experts of each token.
pub(super) fn choose(scores: &[f32], experts: Experts) -> Vec<Chosen> {
    let mut chosen = Vec::with_capacity(scores.len() / experts.count * experts.used);
    for (token, scores) in scores.chunks_exact(experts.count).enumerate() {
        // What is no number is the worst score, as on cards.
        let number = |score: &f32| if score.is_nan() { f32::NEG_INFINITY } else { *score };
        let mut weights: Vec<f32> = scores.iter().map(number).collect();
        softmax(&mut weights);
        let mut order: Vec<usize> = (0..experts.count).collect();
        order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
        let used = &order[..experts.used];
        let sum = used.iter().map(|expert| weights[*expert]).sum::<f32>().max(SMALLEST_SUM);
        let of_token = |expert: &usize| Chosen { token, expert: *expert, weight: weights[*expert] / sum };
        chosen.extend(used.iter().map(of_token));
    }
    chosen
}

/// All rows of an expert go through it together, so that its weights are read once.
pub(super) fn mix(code: Code, chosen: &[Chosen], count: usize, weights: [&Matrix; 3], x: &[f32]) -> Vec<f32> {
    let [gate, up, down] = weights;
    let width = gate.columns();
    let mut out = vec![0.0; x.len()];
    for (expert, jobs) in
        by_expert(chosen, count).into_iter().enumerate().filter(|(_, jobs)| !jobs.is_empty())
    {
        let x: Vec<f32> = jobs.iter().flat_map(|job| &x[job.token * width..][..width]).copied().collect();
        let mut inner = gate.multiply(code, expert, &x);
        gated(code, &mut inner, &up.multiply(code, expert, &x));
        let y = down.multiply(code, expert, &inner);
        for (job, y) in jobs.iter().zip(y.chunks_exact(width)) {
            let out = &mut out[job.token * width..][..width];
            out.iter_mut().zip(y).for_each(|(out, y)| *out += job.weight * y);
        }
    }
    out
}

/// What each expert has to do.
fn by_expert(chosen: &[Chosen], count: usize) -> Vec<Vec<Chosen>> {
    let mut jobs: Vec<Vec<Chosen>> = vec![Vec::new(); count];
    chosen.iter().for_each(|chosen| jobs[chosen.expert].push(*chosen));
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_used_and_their_weights_sum_to_one() {
        let chosen = choose(&[0.0, 3.0, 1.0, 2.0], Experts { count: 4, used: 2, width: 1 });
        assert_eq!(chosen.iter().map(|chosen| chosen.expert).collect::<Vec<_>>(), [1, 3]);
        let sum: f32 = chosen.iter().map(|chosen| chosen.weight).sum();
        assert!((sum - 1.0).abs() < 1e-6 && chosen[0].weight > chosen[1].weight);
        let chosen = choose(&[0.0, f32::NAN, 1.0, 2.0], Experts { count: 4, used: 2, width: 1 });
        let of = |chosen: &Chosen| (chosen.expert, chosen.weight.is_nan());
        assert_eq!(chosen.iter().map(of).collect::<Vec<_>>(), [(3, false), (2, false)]);
        let chosen = choose(&[0.0, 3.0, 1.0, 2.0], Experts { count: 4, used: 2, width: 1 });
        let jobs = by_expert(&chosen, 4);
        assert_eq!(jobs.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 0, 1]);
    }
}
