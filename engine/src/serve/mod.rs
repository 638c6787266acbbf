//! An HTTP server of the OpenAI kind: several clients at once, streamed answers, and an orderly end.

pub mod answer;
pub mod failure;
mod metrics;
pub mod request;
mod service;
mod stream;
mod worker;

use crate::backend::Backend;
use crate::generate::Scheduler;
use crate::loaded::Language;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::Metrics;
use service::Service;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// How a server is set up.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0: any that is free.
    pub address: SocketAddr,
    /// The model's name for clients.
    pub name: String,
    /// What clients must send as bearer token.
    pub api_key: Option<String>,
    /// Bytes of a request's body at most.
    pub body_limit: usize,
    /// Requests that may wait for a slot.
    pub queue_limit: usize,
    /// Tokens of a sequence.
    pub context: usize,
    /// How long running requests may take when it stops.
    pub drain: Duration,
}

/// Connections at most; more wait to be taken.
const CONNECTIONS: usize = 1024;
/// How long a client may take to send its headers.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// Serves until `stop` becomes true; then running requests are finished, for as long as the settings allow. `ready` gets the address.
///
/// # Errors
/// When it cannot listen.
pub fn run<B: Backend + 'static>(
    scheduler: Scheduler<B>,
    language: Language,
    settings: Settings,
    stop: watch::Receiver<bool>,
    ready: impl FnOnce(SocketAddr),
) -> std::io::Result<()>
where
    B::Matrix: 'static,
{
    let (requests, queue) = std::sync::mpsc::channel();
    let metrics = Arc::new(Metrics::default());
    let service = Arc::new(Service {
        language,
        vocabulary: scheduler.model().config().vocabulary,
        name: settings.name,
        context: settings.context,
        api_key: settings.api_key,
        body_limit: settings.body_limit,
        queue_limit: settings.queue_limit,
        most_open: scheduler.slots().saturating_add(settings.queue_limit),
        open: Arc::default(),
        requests,
        metrics: metrics.clone(),
        is_stopping: AtomicBool::new(false),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let worker = std::thread::spawn(move || worker::run(scheduler, &queue, &metrics));
    let served = runtime.block_on(listen(settings.address, service, stop, settings.drain, ready));
    // With the last connection goes the last who could ask, and the worker ends: nothing is computed while the process does.
    drop(runtime);
    let worked = worker.join().map_err(|_| std::io::Error::other("the thread that computes has failed"));
    served.and(worked)
}

async fn listen(
    address: SocketAddr,
    service: Arc<Service>,
    mut stop: watch::Receiver<bool>,
    drain: Duration,
    ready: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    ready(listener.local_addr()?);
    let (mut connections, of_connections) = (JoinSet::new(), stop.clone());
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    let next = async || {
        let permit = permits.clone().acquire_owned().await.ok();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => return (stream, permit),
                // Out of file handles, or a client that left at once: the next may be luckier.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    };
    loop {
        tokio::select! {
            (stream, permit) = next() => {
                let (service, stop) = (service.clone(), of_connections.clone());
                connections.spawn(async move {
                    serve(stream, service, Some(stop)).await;
                    drop(permit);
                });
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            _ = stop.wait_for(|stops| *stops) => break,
        }
    }
    service.is_stopping.store(true, Relaxed);
    // Who comes now is told that it stops, and is not waited for.
    let mut late = JoinSet::new();
    let all = async {
        loop {
            tokio::select! {
                (stream, permit) = next() => {
                    let service = service.clone();
                    late.spawn(async move {
                        serve(stream, service, None).await;
                        drop(permit);
                    });
                }
                ended = connections.join_next() => if ended.is_none() { return },
            }
        }
    };
    // What is not done by then is cut off.
    let _ = tokio::time::timeout(drain, all).await;
    Ok(())
}

/// One connection, request after request until it stops; without `stop` it has stopped already, and one request is answered.
async fn serve(stream: TcpStream, service: Arc<Service>, stop: Option<watch::Receiver<bool>>) {
    // Parts of an answer are small and should not wait for each other.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .keep_alive(stop.is_some())
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = std::pin::pin!(connection);
    // A client that breaks the connection has nobody to tell.
    if let Some(mut stop) = stop {
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = stop.wait_for(|stops| *stops) => connection.as_mut().graceful_shutdown(),
        }
    }
    let _ = connection.await;
}
