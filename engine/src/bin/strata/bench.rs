//! `strata bench`: how fast a model is on this machine.

use crate::cli::Bench;
use crate::open::open;
use anyhow::{Result, ensure};
use engine::backend::cpu::Cpu;
use engine::model::{Batch, Model};
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Tokens of a prompt that go through the model at once, as the scheduler does it.
const STEP: usize = 512;

pub(crate) fn run(arguments: &Bench) -> Result<ExitCode> {
    let opened = open(&arguments.running)?;
    let (prompt, generated) = (arguments.prompt_tokens as usize, arguments.generate as usize);
    ensure!(
        prompt + generated <= opened.context,
        "{prompt} and {generated} tokens do not fit into a context of {}: give --context",
        opened.context
    );
    let model = opened.loaded.model;
    let runs =
        (0..arguments.repeat).map(|_| measure(&model, prompt, generated)).collect::<Result<Vec<_>>>()?;
    let prompt_time = median(runs.iter().map(|run| run[0]).collect());
    let decode_time = median(runs.iter().map(|run| run[1]).collect());
    let prompt_speed = prompt as f64 / prompt_time.as_secs_f64();
    let decode_speed = generated as f64 / decode_time.as_secs_f64();
    if arguments.json {
        let object = json!({
            "model": arguments.running.model.display().to_string(),
            "backend": "cpu",
            "threads": opened.threads,
            "prompt_tokens": prompt,
            "prompt_tokens_per_second": prompt_speed,
            "generated_tokens": generated,
            "decode_tokens_per_second": decode_speed,
            "runs": runs.len(),
        });
        println!("{object}");
    } else {
        println!("prompt  {prompt:>6} tokens  {prompt_speed:>9.2} tokens/s");
        println!("decode  {generated:>6} tokens  {decode_speed:>9.2} tokens/s");
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(model: &Model<Cpu>, prompt: usize, generated: usize) -> Result<[Duration; 2]> {
    let vocabulary = model.config().vocabulary;
    // Any tokens do: the work is the same.
    let token = |position: usize| (position * 7919 % vocabulary) as u32;
    let mut cache = model.cache(1, prompt + generated)?;
    let mut run = |positions: std::ops::Range<usize>| {
        let mut batch = Batch::default();
        let last = positions.end - 1;
        positions.for_each(|position| batch.push(token(position), 0, position, position == last));
        model.forward(&mut cache, &batch)
    };
    let start = Instant::now();
    for first in (0..prompt).step_by(STEP) {
        run(first..(first + STEP).min(prompt))?;
    }
    let prompt_time = start.elapsed();
    for position in prompt..prompt + generated {
        run(position..position + 1)?;
    }
    Ok([prompt_time, start.elapsed() - prompt_time])
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
