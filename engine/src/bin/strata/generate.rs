//! `strata generate`: one text.

use crate::cli::Generate;
use crate::interrupt;
use crate::open::{Opened, Program, open};
use anyhow::{Context, Result, bail};
use engine::backend::Backend;
use engine::chat::Message;
use engine::generate::{Event, Finish, Request, Sampling, Scheduler, Sink, Times};
use engine::loaded::Language;
use engine::out;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Passes on what comes.
struct Printer {
    events: Sender<Event>,
    prints: bool,
    has_stopped: Arc<AtomicBool>,
}

impl Sink for Printer {
    fn send(&mut self, event: Event) {
        if let Event::Text(text) = &event
            && self.prints
        {
            let mut out = std::io::stdout();
            // A reader that went away wants no more.
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            self.has_stopped.fetch_or(written.is_err(), Relaxed);
        }
        let _ = self.events.send(event);
    }

    fn is_gone(&self) -> bool {
        self.has_stopped.load(Relaxed)
    }
}

pub(crate) fn run(arguments: &Generate) -> Result<ExitCode> {
    let sampling = arguments.sampling();
    sampling.check()?;
    open(&arguments.running, 1, arguments.count_experts.as_deref(), Text { arguments, sampling })
}

/// One text of one model.
struct Text<'a> {
    arguments: &'a Generate,
    sampling: Sampling,
}

impl Program for Text<'_> {
    fn run<B: Backend + 'static>(self, opened: Opened<B>) -> Result<ExitCode> {
        generate(self.arguments, self.sampling, opened)
    }
}

fn generate<B: Backend>(arguments: &Generate, sampling: Sampling, opened: Opened<B>) -> Result<ExitCode> {
    let text = match &arguments.prompt {
        Some(text) => text.clone(),
        None => read_input()?,
    };
    let prompt = tokens(&opened.loaded.language, arguments, text)?;
    let tokenizer = opened.loaded.language.tokenizer.clone();
    let mut scheduler = Scheduler::new(opened.loaded.model, tokenizer, 1, opened.context)?;
    scheduler.check(&prompt)?;

    let has_stopped = Arc::new(AtomicBool::new(false));
    let flag = has_stopped.clone();
    interrupt::on_interrupt(move || flag.store(true, Relaxed))?;
    let (events, received) = channel();
    let printer = Printer { events, prints: !arguments.json, has_stopped: has_stopped.clone() };
    let limit = arguments.max_tokens.map_or(opened.context, |limit| limit as usize);
    let (stops, ignores_end) = (arguments.stop.clone(), arguments.ignore_end);
    scheduler.submit(Request { prompt, limit, sampling, stops, ignores_end, sink: Box::new(printer) });
    while !scheduler.is_idle() {
        scheduler.step();
    }
    let mut text = String::new();
    for event in received.try_iter() {
        match event {
            Event::Text(part) => text += &part,
            Event::Done(finish, times) => {
                let opened = (opened.time, opened.backend, opened.plan);
                report(arguments, &text, finish, times, opened, sampling.seed)?;
                return Ok(ExitCode::SUCCESS);
            }
            Event::Failed(why) => bail!("{why}"),
        }
    }
    eprintln!("\ninterrupted");
    Ok(ExitCode::from(interrupt::CODE))
}

fn read_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("failed to read the prompt from standard input")?;
    Ok(text)
}

fn tokens(language: &Language, arguments: &Generate, text: String) -> Result<Vec<u32>> {
    if !arguments.chat {
        return Ok(language.of_text(&text));
    }
    let message = |role: &str, content: String| Message { role: role.to_owned(), content };
    let system = arguments.system.clone().map(|content| message("system", content));
    let messages: Vec<Message> = system.into_iter().chain([message("user", text)]).collect();
    Ok(language.of_chat(&messages)?)
}

fn report(
    arguments: &Generate,
    text: &str,
    finish: Finish,
    times: Times,
    (load, backend, plan): (Duration, &str, Value),
    seed: u64,
) -> Result<()> {
    // The first token comes out of the prompt's last step.
    let decoded = times.generated - 1;
    if arguments.json {
        let finish = if finish == Finish::Stop { "stop" } else { "length" };
        let object = json!({
            "text": text,
            "finish": finish,
            "seed": seed,
            "backend": backend,
            "memory": plan,
            "load_ms": milliseconds(load),
            "prompt_tokens": times.prompt,
            "prompt_ms": milliseconds(times.prompt_time),
            "prompt_tokens_per_second": speed(times.prompt, times.prompt_time),
            "generated_tokens": times.generated,
            "decode_ms": milliseconds(times.decode_time),
            "decode_tokens_per_second": speed(decoded, times.decode_time),
        });
        return Ok(out::line(object)?);
    }
    out::line("")?;
    eprintln!(
        "prompt: {} tokens in {:.0?}; generated: {} tokens in {:.0?}",
        times.prompt, times.prompt_time, times.generated, times.decode_time
    );
    Ok(())
}

pub(crate) fn milliseconds(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e6).round() / 1e3)
}

/// Tokens a second; null where there is nothing to measure.
pub(crate) fn speed(tokens: usize, time: Duration) -> Value {
    if tokens == 0 || time.is_zero() { Value::Null } else { json!(tokens as f64 / time.as_secs_f64()) }
}
