//! `strata bench`: how fast a model is on this machine.

use crate::cli::Bench;
use crate::generate::speed;
use crate::open::{Opened, Program, open};
use anyhow::{Result, ensure};
use engine::backend::Backend;
use engine::generate::STEP;
use engine::model::{Batch, Model};
use engine::out;
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(crate) fn run(arguments: &Bench) -> Result<ExitCode> {
    open(&arguments.running, 1, arguments.count_experts.as_deref(), arguments)
}

impl Program for &Bench {
    fn run<B: Backend + 'static>(self, opened: Opened<B>) -> Result<ExitCode> {
        bench(self, opened)
    }
}

fn bench<B: Backend>(arguments: &Bench, opened: Opened<B>) -> Result<ExitCode> {
    let (prompt, generated) = (arguments.prompt_tokens as usize, arguments.generate as usize);
    ensure!(
        prompt + generated <= opened.context,
        "{prompt} and {generated} tokens do not fit into a context of {}: give --context",
        opened.context
    );
    let model = opened.loaded.model;
    let runs =
        (0..arguments.repeat).map(|_| measure(&model, prompt, generated)).collect::<Result<Vec<_>>>()?;
    let [prompt_cpu, decode_cpu] = [0, 1].map(|part| median(runs.iter().map(|run| run.cpu[part]).collect()));
    let prompt_time = median(runs.iter().map(|run| run.wall[0]).collect());
    let decode_time = median(runs.iter().map(|run| run.wall[1]).collect());
    let prompt_speed = prompt as f64 / prompt_time.as_secs_f64();
    let decode_speed = generated as f64 / decode_time.as_secs_f64();
    if arguments.json {
        let object = json!({
            "model": arguments.running.model.display().to_string(),
            "backend": opened.backend,
            "threads": opened.threads,
            "prompt_tokens": prompt,
            "prompt_tokens_per_second": prompt_speed,
            "generated_tokens": generated,
            "decode_tokens_per_second": decode_speed,
            "prompt_tokens_per_cpu_second": speed(prompt, prompt_cpu),
            "decode_tokens_per_cpu_second": speed(generated, decode_cpu),
            "runs": runs.len(),
        });
        out::line(object)?;
    } else {
        out::line(format_args!("prompt  {prompt:>6} tokens  {prompt_speed:>9.2} tokens/s"))?;
        out::line(format_args!("decode  {generated:>6} tokens  {decode_speed:>9.2} tokens/s"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Times of prompt and decode.
struct Run {
    wall: [Duration; 2],
    /// Of all threads together: it does not depend on what else the machine does.
    cpu: [Duration; 2],
}

/// Processor time that this process has had; zero where the system does not tell (everywhere but on Linux).
fn cpu_time() -> Duration {
    const TICKS: u32 = 100; // a second, whatever the kernel was built with: proc(5) counts in USER_HZ
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name may hold blanks and ends with the last bracket.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok()).unwrap_or(0);
    Duration::from_secs(1) * (ticks(11) + ticks(12)) / TICKS
}

fn measure<B: Backend>(model: &Model<B>, prompt: usize, generated: usize) -> Result<Run> {
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
    let (start, cpu) = (Instant::now(), cpu_time());
    for first in (0..prompt).step_by(STEP) {
        run(first..(first + STEP).min(prompt))?;
    }
    let (prompt_time, prompt_cpu) = (start.elapsed(), cpu_time() - cpu);
    for position in prompt..prompt + generated {
        run(position..position + 1)?;
    }
    Ok(Run {
        wall: [prompt_time, start.elapsed() - prompt_time],
        cpu: [prompt_cpu, cpu_time() - cpu - prompt_cpu],
    })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
