//! The thread that computes: it takes requests from a queue and steps the scheduler while there is work.

use super::metrics::Metrics;
use crate::backend::Backend;
use crate::generate::{Event, Request, Scheduler, Sink};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, TryRecvError};
use tokio::sync::mpsc::UnboundedSender;

/// Runs until every sender of requests is gone and all work is done.
pub(super) fn run<B: Backend>(mut scheduler: Scheduler<B>, requests: &Receiver<Request>, metrics: &Metrics) {
    let mut is_open = true;
    while is_open || !scheduler.is_idle() {
        if scheduler.is_idle() {
            match requests.recv() {
                Ok(request) => scheduler.submit(request),
                Err(_) => return,
            }
        }
        loop {
            match requests.try_recv() {
                Ok(request) => scheduler.submit(request),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    is_open = false;
                    break;
                }
            }
        }
        scheduler.step();
        let (running, waiting) = scheduler.load();
        metrics.running.store(running as u64, Relaxed);
        metrics.waiting.store(waiting as u64, Relaxed);
    }
}

/// Sends what is generated to the connection. A client that leaves drops the other end.
pub(super) struct Connection {
    pub(super) sender: UnboundedSender<Event>,
    pub(super) metrics: Arc<Metrics>,
    /// Requests that are taken and not ended: one less when this is done.
    pub(super) open: Arc<AtomicUsize>,
    pub(super) is_done: bool,
}

impl Sink for Connection {
    fn send(&mut self, event: Event) {
        if let Event::Done(_, times) = &event {
            self.metrics.finish(*times);
        }
        // Before the client knows, who may ask again at once.
        if matches!(event, Event::Done(..) | Event::Failed(_)) && !self.is_done {
            self.is_done = true;
            self.open.fetch_sub(1, Relaxed);
        }
        // One that left is seen at the next step.
        let _ = self.sender.send(event);
    }

    fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_done {
            self.metrics.cancelled.fetch_add(1, Relaxed);
            self.open.fetch_sub(1, Relaxed);
        }
    }
}
