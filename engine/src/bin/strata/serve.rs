//! `strata serve`: the model over HTTP.

use crate::cli::Serve;
use crate::interrupt;
use crate::open::{Opened, Program, open};
use anyhow::{Context, Result, bail};
use engine::backend::Backend;
use engine::generate::Scheduler;
use engine::serve::{Settings, run as serve};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::watch;

pub(crate) fn run(arguments: Serve) -> Result<ExitCode> {
    let api_key = arguments.api_key.clone().filter(|key| !key.is_empty());
    if !arguments.host.is_loopback() && api_key.is_none() {
        bail!(
            "{} can be reached from other machines: set STRATA_API_KEY, or listen at 127.0.0.1",
            arguments.host
        );
    }
    let parallel = usize::from(arguments.parallel);
    open(&arguments.running, parallel, None, Server { arguments: &arguments, api_key })
}

/// A server of one model.
struct Server<'a> {
    arguments: &'a Serve,
    api_key: Option<String>,
}

impl Program for Server<'_> {
    fn run<B: Backend + 'static>(self, opened: Opened<B>) -> Result<ExitCode> {
        listen(self.arguments, self.api_key, opened)
    }
}

fn listen<B: Backend + 'static>(
    arguments: &Serve,
    api_key: Option<String>,
    opened: Opened<B>,
) -> Result<ExitCode> {
    let file = arguments.running.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let language = opened.loaded.language;
    let tokenizer = language.tokenizer.clone();
    let slots = usize::from(arguments.parallel);
    let scheduler = Scheduler::new(opened.loaded.model, tokenizer, slots, opened.context)?;
    let settings = Settings {
        address: SocketAddr::new(arguments.host, arguments.port),
        name: arguments.name.clone().unwrap_or(file),
        api_key,
        body_limit: arguments.max_body,
        queue_limit: arguments.queue,
        context: opened.context,
        drain: Duration::from_secs(arguments.drain),
    };
    let (stop, stopped) = watch::channel(false);
    interrupt::on_interrupt(move || {
        eprintln!("stopping: running requests are finished; Ctrl-C again to stop at once");
        let _ = stop.send(true);
    })?;
    let address = settings.address;
    let ready = |address: SocketAddr| eprintln!("ready: http://{address}");
    serve(scheduler, language, settings, stopped, ready)
        .with_context(|| format!("failed to serve at {address}"))?;
    eprintln!("stopped");
    Ok(ExitCode::SUCCESS)
}
