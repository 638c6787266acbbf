//! Opens a model for a command.

use crate::cli::Running;
use crate::plan::expect_room;
use anyhow::{Context, Result, ensure};
use engine::backend::cpu::Cpu;
use engine::gguf::Gguf;
use engine::loaded::Loaded;
use engine::model::Config;
use std::sync::Arc;
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

/// Opens the model for `parallel` sequences and says what it is.
pub(crate) fn open(running: &Running, parallel: usize) -> Result<Opened> {
    let start = Instant::now();
    let failed = || format!("failed to load `{}`", running.model.display());
    let gguf = Arc::new(Gguf::open(&running.model).with_context(failed)?);
    let config = Config::new(&gguf).with_context(failed)?;
    let context = context_of(running, &config)?;
    expect_room(&gguf, &config, context, parallel)?;
    let backend = Cpu::new(running.threads).context("failed to start threads")?;
    let threads = backend.threads();
    let loaded = Loaded::new(&gguf, backend).with_context(failed)?;
    eprintln!(
        "model: {} ({}, {} layers, context {context}), cpu with {threads} threads",
        running.model.display(),
        config.architecture.name(),
        config.layers
    );
    Ok(Opened { loaded, context, threads, time: start.elapsed() })
}
