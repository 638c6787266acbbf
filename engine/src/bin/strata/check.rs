//! `strata check`: whether cards compute what the CPU computes.

use crate::cli::Check;
use crate::open::{Computing, File};
use anyhow::{Context, Result, bail, ensure};
use engine::backend::Backend;
use engine::backend::cpu::Cpu;
use engine::model::{Batch, Model};
use engine::out;
use serde_json::json;
use std::process::ExitCode;

/// Of the range of the logits: what a logit may be off by.
const BOUND: f64 = 0.02;

pub(crate) fn run(arguments: &Check) -> Result<ExitCode> {
    let running = &arguments.running;
    let file = File::open(running)?;
    // The definition of each type, not the fast code that rounds activations to 8 bits.
    let portable = || Cpu::portable(running.threads).context("failed to start threads");
    let computing = file.computing(portable()?, 1)?;
    let cards = match &computing {
        Computing::Hip(hip, _) => hip.describe(),
        Computing::Layered(layered, _) => format!("{}, cpu", layered.describe()),
        Computing::Cpu(..) => {
            bail!("there is no card to compare with: `strata-device --list-devices` says what there is")
        }
    };
    let cpu = file.load(portable()?)?;
    let prompt = cpu.language.of_text(&arguments.prompt);
    ensure!(!prompt.is_empty(), "the prompt is empty: give --prompt");
    let steps = arguments.tokens as usize;
    ensure!(
        prompt.len() + steps <= file.context,
        "{} and {steps} tokens do not fit into a context of {}: give --context",
        prompt.len(),
        file.context
    );
    let (tokens, expected) = greedy(&cpu.model, &prompt, steps)?;
    let (found, plan) = match computing {
        Computing::Hip(hip, plan) => (logits(&file.load(hip)?.model, &prompt, &tokens)?, plan),
        Computing::Layered(layered, plan) => (logits(&file.load(layered)?.model, &prompt, &tokens)?, plan),
        Computing::Cpu(_, plan) => (Vec::new(), plan),
    };
    let differences: Vec<f64> = expected.iter().zip(&found).map(|(a, b)| difference(a, b)).collect();
    let largest = differences.iter().copied().fold(0.0, f64::max);
    let same = expected.iter().zip(&found).filter(|(a, b)| best(a) == best(b)).count();
    let is_good = largest <= BOUND;
    if arguments.json {
        let object = json!({
            "cards": cards,
            "memory": plan,
            "prompt_tokens": prompt.len(),
            "steps": found.len(),
            "same_best_token": same,
            "difference": largest,
            "bound": BOUND,
            "differences": differences,
            "agrees": is_good,
        });
        out::line(object)?;
    } else {
        out::line(format_args!("{cards}: {} and {} tokens", prompt.len(), found.len()))?;
        out::line(format_args!("the same best token in {same} of {} steps", found.len()))?;
        out::line(format_args!(
            "largest difference of a logit: {:.4} % of their range ({} % is allowed)",
            largest * 100.0,
            BOUND * 100.0
        ))?;
        out::line(if is_good { "AGREES" } else { "DOES NOT AGREE" })?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The best token after the prompt and after each further one, and all logits.
fn greedy<B: Backend>(model: &Model<B>, prompt: &[u32], steps: usize) -> Result<(Vec<u32>, Vec<Vec<f32>>)> {
    let mut tokens = Vec::new();
    let mut all: Vec<Vec<f32>> = Vec::new();
    let next = |logits: &[f32]| {
        tokens.push(best(logits));
        tokens.last().copied()
    };
    each_step(model, prompt, steps, next, |logits| all.push(logits))?;
    Ok((tokens, all))
}

/// The logits where these tokens follow.
fn logits<B: Backend>(model: &Model<B>, prompt: &[u32], tokens: &[u32]) -> Result<Vec<Vec<f32>>> {
    let mut following = tokens.iter().copied();
    let mut all: Vec<Vec<f32>> = Vec::new();
    each_step(model, prompt, tokens.len(), |_| following.next(), |logits| all.push(logits))?;
    Ok(all)
}

/// The prompt in one step, then one token a step.
fn each_step<B: Backend>(
    model: &Model<B>,
    prompt: &[u32],
    steps: usize,
    mut next: impl FnMut(&[f32]) -> Option<u32>,
    mut take: impl FnMut(Vec<f32>),
) -> Result<()> {
    let mut cache = model.cache(1, prompt.len() + steps)?;
    let mut batch = Batch::default();
    let last = prompt.len() - 1;
    prompt.iter().enumerate().for_each(|(at, token)| batch.push(*token, 0, at, at == last));
    for step in 0..steps {
        let logits = model.forward(&mut cache, &batch)?;
        let token = next(&logits);
        take(logits);
        let Some(token) = token else { break };
        batch = Batch::default();
        batch.push(token, 0, prompt.len() + step, true);
    }
    Ok(())
}

/// The largest difference, as a part of the range of `expected`; what is no number is infinitely wrong.
fn difference(expected: &[f32], found: &[f32]) -> f64 {
    let numbers = || expected.iter().map(|x| f64::from(*x));
    let range = numbers().fold(f64::MIN, f64::max) - numbers().fold(f64::MAX, f64::min);
    let apart = |(a, b): (&f32, &f32)| {
        let apart = (f64::from(*a) - f64::from(*b)).abs();
        if apart.is_nan() { f64::INFINITY } else { apart }
    };
    expected.iter().zip(found).map(apart).fold(0.0, f64::max) / range.max(f64::MIN_POSITIVE)
}

fn best(logits: &[f32]) -> u32 {
    let best = logits.iter().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(0, |(token, _)| token as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_parts_of_the_range() {
        assert_eq!(difference(&[0.0, 4.0, -4.0], &[0.0, 3.0, -4.0]), 0.125);
        assert_eq!(difference(&[0.0, 1.0], &[0.0, f32::NAN]), f64::INFINITY);
        assert_eq!(best(&[1.0, 3.0, 2.0]), 1);
    }
}
