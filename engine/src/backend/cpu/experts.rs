//! Mixture of experts: each token goes through the few experts that score best.

use super::attention::softmax;
use super::gated;
use super::matrix::Matrix;
use crate::model::Experts;
use crate::quant::Code;

/// What keeps the sum of weights from 0: the smallest normal f16, as in llama.cpp.
const SMALLEST_SUM: f32 = 6.103_515_6e-5;

/// A token that an expert works on, and the weight of its work.
struct Job {
    token: usize,
    weight: f32,
}

pub(super) fn mix(
    code: Code,
    scores: &[f32],
    experts: Experts,
    weights: [&Matrix; 3],
    x: &[f32],
) -> Vec<f32> {
    let [gate, up, down] = weights;
    let width = gate.columns();
    let mut out = vec![0.0; x.len()];
    for (expert, jobs) in jobs(scores, experts).into_iter().enumerate().filter(|(_, jobs)| !jobs.is_empty()) {
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

/// The jobs of each expert.
fn jobs(scores: &[f32], experts: Experts) -> Vec<Vec<Job>> {
    let mut jobs: Vec<Vec<Job>> = (0..experts.count).map(|_| Vec::new()).collect();
    for (token, scores) in scores.chunks_exact(experts.count).enumerate() {
        let mut weights = scores.to_vec();
        softmax(&mut weights);
        let mut order: Vec<usize> = (0..experts.count).collect();
        order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
        let used = &order[..experts.used];
        let sum = used.iter().map(|expert| weights[*expert]).sum::<f32>().max(SMALLEST_SUM);
        for expert in used {
            jobs[*expert].push(Job { token, weight: weights[*expert] / sum });
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_used_and_their_weights_sum_to_one() {
        let jobs = jobs(&[0.0, 3.0, 1.0, 2.0], Experts { count: 4, used: 2, width: 1 });
        let used: Vec<usize> = (0..4).filter(|expert| !jobs[*expert].is_empty()).collect();
        assert_eq!(used, [1, 3]);
        let sum: f32 = jobs.iter().flatten().map(|job| job.weight).sum();
        assert!((sum - 1.0).abs() < 1e-6 && jobs[1][0].weight > jobs[3][0].weight);
    }
}
