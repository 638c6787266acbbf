//! Opens a model for a command, on what computes it.

use crate::cli::{Computes, Running};
use crate::plan::{Planned, cards};
use anyhow::{Context, Result, bail, ensure};
use engine::backend::Backend;
use engine::backend::cpu::Cpu;
use engine::backend::hip::Hip;
use engine::backend::layered::{Layered, Placement};
use engine::gguf::Gguf;
use engine::loaded::Loaded;
use engine::memory::{Card, Plan, choose};
use engine::model::{Config, ExpertCounts};
use hip::Runtime;
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The context that is taken where none is named: enough for a chat, little memory.
const CONTEXT: usize = 4096;

/// A model that is ready.
pub(crate) struct Opened<B: Backend> {
    pub(crate) loaded: Loaded<B>,
    pub(crate) context: usize,
    /// `cpu`, `hip` or `hip and cpu`.
    pub(crate) backend: &'static str,
    pub(crate) threads: usize,
    /// Where everything is.
    pub(crate) plan: Value,
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
        ensure!(
            running.backend != Computes::Cpu || !running.cards.are_named(),
            "--backend cpu uses no card: leave --gpu and --gpus out"
        );
        let failed = || format!("failed to load `{}`", running.model.display());
        let gguf = Arc::new(Gguf::open(&running.model).with_context(failed)?);
        let config = Config::new(&gguf).with_context(failed)?;
        let context = context_of(running, &config)?;
        Ok(Self { running, gguf, config, context, start })
    }

    /// Where everything goes on these cards and in RAM.
    pub(crate) fn planned<'c>(&self, cards: &'c [&'c Card], parallel: usize) -> Result<Planned<'c>> {
        Planned::new(self.running, &self.gguf, &self.config, cards, [self.context, parallel])
    }

    /// The model on `backend`.
    pub(crate) fn load<B: Backend>(&self, backend: B) -> Result<Loaded<B>> {
        let failed = || format!("failed to load `{}`", self.running.model.display());
        Loaded::new(&self.gguf, backend).with_context(failed)
    }

    fn opened<B: Backend>(
        &self,
        backend: B,
        kind: &'static str,
        plan: Value,
        words: &str,
    ) -> Result<Opened<B>> {
        let threads = self.running.threads;
        let loaded = self.load(backend)?;
        let (path, config) = (self.running.model.display(), &self.config);
        let (name, layers, context) = (config.architecture.name(), config.layers, self.context);
        eprintln!("model: {path} ({name}, {layers} layers, context {context}), {words}");
        Ok(Opened { loaded, context, backend: kind, threads, plan, time: self.start.elapsed() })
    }

    /// The cards that are asked for, and `cpu` for what they do not hold. Where the CPU computes alone and a card might have, a line says why.
    pub(crate) fn computing(&self, cpu: Cpu, parallel: usize) -> Result<Computing> {
        let there = self.there();
        let chosen = self.chosen(&there)?;
        let planned = self.planned(&chosen, parallel)?;
        if !planned.plan.fits() {
            eprint!("{}", planned.table());
            bail!("the model does not fit into memory");
        }
        let layers: Vec<usize> = planned.plan.layers_of_cards().collect();
        if layers.iter().sum::<usize>() == 0 {
            ensure!(
                chosen.is_empty() || !self.are_cards_asked_for(),
                "the cards hold no layer of the model:\n{}",
                planned.table()
            );
            if !chosen.is_empty() {
                eprintln!(
                    "the CPU computes: the cards hold no layer of the model (`strata plan` shows what is missing)"
                );
            }
            return Ok(Computing::Cpu(cpu, planned.plan.to_json()));
        }
        let placed: Vec<(u32, usize)> = chosen.iter().map(|card| card.number).zip(layers).collect();
        let runtime = Runtime::load().context("failed to load the HIP runtime")?;
        if let Some(path) = runtime.path() {
            eprintln!("HIP runtime: {}", path.display());
        }
        let hip = Hip::new(&runtime, &self.running.cards.kernels(), &placed)
            .context("failed to start the cards")?;
        hip.libraries().for_each(|line| eprintln!("{line}"));
        let plan = planned.plan.to_json();
        if planned.plan.is_on_cards() && !cpu.is_counting() {
            return Ok(Computing::Hip(hip, plan));
        }
        eprint!("{}", planned.table());
        eprintln!("every step is queued launch by launch: graphs are for models that one card holds");
        Ok(Computing::Layered(Layered::new(hip, cpu, placement(&planned.plan, self.config.layers)), plan))
    }

    fn are_cards_asked_for(&self) -> bool {
        self.running.backend == Computes::Hip || self.running.cards.are_named()
    }

    /// The cards of this machine, or why there is none.
    pub(crate) fn there(&self) -> Result<Vec<Card>, String> {
        match self.running.backend {
            Computes::Cpu => Ok(Vec::new()),
            _ => cards(&self.running.cards.kernels()),
        }
    }

    /// The cards that compute; none, where nobody asks for one and none can.
    pub(crate) fn chosen<'c>(&self, there: &'c Result<Vec<Card>, String>) -> Result<Vec<&'c Card>> {
        const ADVICE: &str = "`strata-device --list-devices` says what there is";
        if self.running.backend == Computes::Cpu {
            return Ok(Vec::new());
        }
        let is_asked_for = self.are_cards_asked_for();
        let there = match there {
            Ok(there) => there,
            Err(why) => {
                ensure!(!is_asked_for, "there is no card: {why}; {ADVICE}");
                return Ok(Vec::new());
            }
        };
        let chosen = choose(there, &self.running.cards.choice())?;
        if chosen.is_empty() {
            let reasons = there.iter().map(|card| {
                let reason = card.cannot_run.as_deref().unwrap_or("it is integrated: name it with --gpu");
                format!("device {} ({}): {reason}", card.number, card.name)
            });
            let reasons = reasons.collect::<Vec<_>>().join("; ");
            ensure!(!is_asked_for, "no card can be used: {reasons}; {ADVICE}");
            eprintln!("the CPU computes: no card can be used: {reasons}");
        } else if let Some(why) = Hip::refuses(self.config.head_dim, self.config.experts) {
            ensure!(!is_asked_for, "cards cannot run this model: {why}; --backend cpu can");
            eprintln!("the CPU computes: {why}");
            return Ok(Vec::new());
        }
        Ok(chosen)
    }

    /// What counts the uses of experts, on top of what the file at `path` has.
    fn counts(&self, path: Option<&Path>) -> Result<Option<Arc<ExpertCounts>>> {
        let Some(path) = path else { return Ok(None) };
        let layers = self.config.layers;
        let experts = self.config.experts.context("--count-experts: this model has no experts")?;
        let counts = match path.exists() {
            true => ExpertCounts::read(path, layers, experts.count)?,
            false => ExpertCounts::new(layers, experts.count),
        };
        // What cannot be written is known before the work.
        counts.write(path)?;
        Ok(Some(Arc::new(counts)))
    }
}

/// What computes a model, and the plan of it.
pub(crate) enum Computing {
    /// The CPU.
    Cpu(Cpu, Value),
    /// Cards that hold all of it.
    Hip(Hip, Value),
    /// Both.
    Layered(Layered, Value),
}

fn placement(plan: &Plan, layers: usize) -> Placement {
    let mut experts = vec![Vec::new(); layers];
    for (layer, resident) in plan.cards().iter().flat_map(|card| &card.resident) {
        experts[*layer].clone_from(resident);
    }
    let memory = plan.memory();
    Placement {
        embedding: !memory.has_embedding,
        layers: plan.layers_of_cards().sum(),
        output: !memory.has_output,
        experts,
    }
}

/// Opens the model for `parallel` sequences, says what it is and what computes it, and runs a command with it. `count_experts`: the file that counts of experts are
/// added to.
pub(crate) fn open(
    running: &Running,
    parallel: usize,
    count_experts: Option<&Path>,
    program: impl Program,
) -> Result<ExitCode> {
    let file = File::open(running)?;
    let counts = file.counts(count_experts)?;
    let cpu = Cpu::new(running.threads).context("failed to start threads")?.counting(counts.clone());
    let threads = cpu.threads();
    let of_cpu = format!("cpu with {threads} threads");
    let done = match file.computing(cpu, parallel)? {
        Computing::Hip(hip, plan) => {
            let words = format!("hip on {}", hip.describe());
            program.run(file.opened(hip, "hip", plan, &words)?)?
        }
        Computing::Layered(layered, plan) => {
            let words = format!("hip on {}, {of_cpu}", layered.describe());
            let opened = file.opened(layered, "hip and cpu", plan, &words)?;
            program.run(Opened { threads, ..opened })?
        }
        Computing::Cpu(cpu, plan) => {
            let opened = file.opened(cpu, "cpu", plan, &of_cpu)?;
            program.run(Opened { threads, ..opened })?
        }
    };
    if let (Some(counts), Some(path)) = (counts, count_experts) {
        counts.write(path)?;
    }
    Ok(done)
}
