//! Opens a model for a command, on what computes it.

use crate::cli::{Computes, Running};
use crate::plan::{Planned, cards};
use anyhow::{Context, Result, bail, ensure};
use engine::backend::Backend;
use engine::backend::cpu::Cpu;
use engine::backend::hip::Hip;
use engine::gguf::Gguf;
use engine::loaded::Loaded;
use engine::memory::choose;
use engine::model::Config;
use hip::Runtime;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The context that is taken where none is named: enough for a chat, little memory.
const CONTEXT: usize = 4096;

/// A model that is ready.
pub(crate) struct Opened<B: Backend> {
    pub(crate) loaded: Loaded<B>,
    pub(crate) context: usize,
    /// `cpu` or `hip`.
    pub(crate) backend: &'static str,
    pub(crate) threads: usize,
    pub(crate) time: Duration,
}

/// What a command does with a model, whatever computes it.
pub(crate) trait Program {
    fn run<B: Backend + 'static>(self, opened: Opened<B>) -> Result<ExitCode>;
}

/// The context that is asked for, or a default.
pub(crate) fn context_of(running: &Running, config: &Config) -> Result<usize> {
    let context = running.context.map_or(config.trained_context.min(CONTEXT), |context| context as usize);
    ensure!(
        context <= config.trained_context,
        "a context of {context} is more than the {} that the model was trained with",
        config.trained_context
    );
    Ok(context)
}

/// A file whose metadata was read.
pub(crate) struct File<'a> {
    running: &'a Running,
    pub(crate) gguf: Arc<Gguf>,
    pub(crate) config: Config,
    pub(crate) context: usize,
    start: Instant,
}

impl<'a> File<'a> {
    pub(crate) fn open(running: &'a Running) -> Result<Self> {
        let start = Instant::now();
        let failed = || format!("failed to load `{}`", running.model.display());
        let gguf = Arc::new(Gguf::open(&running.model).with_context(failed)?);
        let config = Config::new(&gguf).with_context(failed)?;
        let context = context_of(running, &config)?;
        Ok(Self { running, gguf, config, context, start })
    }

    fn planned<'c>(&self, cards: &'c [&'c engine::memory::Card], parallel: usize) -> Planned<'c> {
        Planned::new(self.running, &self.gguf, &self.config, cards, [self.context, parallel])
    }

    /// The model on `backend`.
    pub(crate) fn load<B: Backend>(&self, backend: B) -> Result<Loaded<B>> {
        let failed = || format!("failed to load `{}`", self.running.model.display());
        Loaded::new(&self.gguf, backend).with_context(failed)
    }

    fn opened<B: Backend>(&self, backend: B, kind: &'static str, words: &str) -> Result<Opened<B>> {
        let threads = self.running.threads;
        let loaded = self.load(backend)?;
        let (path, config) = (self.running.model.display(), &self.config);
        let (name, layers, context) = (config.architecture.name(), config.layers, self.context);
        eprintln!("model: {path} ({name}, {layers} layers, context {context}), {words}");
        Ok(Opened { loaded, context, backend: kind, threads, time: self.start.elapsed() })
    }

    /// Refuses what RAM cannot hold, before memory is taken for it.
    fn cpu(&self, parallel: usize) -> Result<Cpu> {
        let planned = self.planned(&[], parallel);
        if !planned.plan.fits() {
            eprint!("{}", planned.table());
            bail!("the model does not fit into memory");
        }
        Cpu::new(self.running.threads).context("failed to start threads")
    }

    /// The cards that are asked for, with the whole model on them. `None`: the CPU computes, and a line says why where a card might have.
    pub(crate) fn hip(&self, parallel: usize) -> Result<Option<Hip>> {
        let (running, folder) = (self.running, self.running.cards.kernels());
        let is_asked_for = running.backend == Computes::Hip || running.cards.are_named();
        let there = cards(&folder);
        let chosen = choose(&there, &running.cards.choice())?;
        if chosen.is_empty() {
            let reasons = there.iter().map(|card| {
                let reason = card.cannot_run.as_deref().unwrap_or("it is integrated: name it with --gpu");
                format!("device {} ({}): {reason}", card.number, card.name)
            });
            let reasons: Vec<String> = reasons.collect();
            ensure!(
                !is_asked_for,
                "no card can be used: {}; `strata-device --list-devices` says what there is",
                if reasons.is_empty() { "the HIP runtime finds none".to_owned() } else { reasons.join("; ") }
            );
            return Ok(None);
        }
        if let Some(why) = Hip::refuses(self.config.head_dim, self.config.experts) {
            ensure!(!is_asked_for, "cards cannot run this model: {why}; --backend cpu can");
            eprintln!("the CPU computes: {why}");
            return Ok(None);
        }
        let planned = self.planned(&chosen, parallel);
        let Some(layers) = planned.plan.layers_on_cards() else {
            ensure!(!is_asked_for, "the cards do not hold the whole model:\n{}", planned.table());
            eprintln!(
                "the CPU computes: the cards do not hold the whole model (`strata plan` shows what is missing)"
            );
            return Ok(None);
        };
        let placed: Vec<(u32, usize)> = chosen.iter().map(|card| card.number).zip(layers).collect();
        let runtime = Runtime::load().context("failed to load the HIP runtime")?;
        let hip = Hip::new(&runtime, &folder, &placed).context("failed to start the cards")?;
        hip.libraries().for_each(|line| eprintln!("{line}"));
        Ok(Some(hip))
    }
}

/// Opens the model for `parallel` sequences, says what it is and what computes it, and runs a command with it.
pub(crate) fn open(running: &Running, parallel: usize, program: impl Program) -> Result<ExitCode> {
    let file = File::open(running)?;
    ensure!(
        running.backend != Computes::Cpu || !running.cards.are_named(),
        "--backend cpu uses no card: leave --gpu and --gpus out"
    );
    let hip = if running.backend == Computes::Cpu { None } else { file.hip(parallel)? };
    match hip {
        Some(hip) => {
            let words = format!("hip on {}", hip.describe());
            program.run(file.opened(hip, "hip", &words)?)
        }
        None => {
            let cpu = file.cpu(parallel)?;
            let threads = cpu.threads();
            let opened = file.opened(cpu, "cpu", &format!("cpu with {threads} threads"))?;
            program.run(Opened { threads, ..opened })
        }
    }
}
