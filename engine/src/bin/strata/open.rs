//! Opens a model for a command.

use crate::cli::Running;
use anyhow::{Context, Result, ensure};
use engine::backend::cpu::Cpu;
use engine::loaded::Loaded;
use std::time::{Duration, Instant};

/// The context that is taken where none is named: enough for a chat, little memory.
const CONTEXT: usize = 4096;

/// A model that is ready.
pub(crate) struct Opened {
    pub(crate) loaded: Loaded<Cpu>,
    pub(crate) context: usize,
    pub(crate) threads: usize,
    pub(crate) time: Duration,
}

/// Opens the model and says what it is.
pub(crate) fn open(running: &Running) -> Result<Opened> {
    let start = Instant::now();
    let backend = Cpu::new(running.threads).context("failed to start threads")?;
    let threads = backend.threads();
    let loaded = Loaded::open(&running.model, backend)
        .with_context(|| format!("failed to load `{}`", running.model.display()))?;
    let config = loaded.model.config();
    let context = running.context.map_or(config.trained_context.min(CONTEXT), |context| context as usize);
    ensure!(
        context <= config.trained_context,
        "a context of {context} is more than the {} that the model was trained with",
        config.trained_context
    );
    eprintln!(
        "model: {} ({}, {} layers, context {context}), cpu with {threads} threads",
        running.model.display(),
        config.architecture.name(),
        config.layers
    );
    Ok(Opened { loaded, context, threads, time: start.elapsed() })
}
