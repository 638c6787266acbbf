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
    /// Until the request has ended.
    pub(super) place: Option<Place>,
}

/// A request's place among those that are computed or wait; free again when this is dropped.
pub(super) struct Place(Arc<AtomicUsize>);

impl Place {
    /// One of `most`, of which `open` are taken; `None`: all are.
    pub(super) fn take(open: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let more = |open| (open < most).then_some(open + 1);
        open.fetch_update(Relaxed, Relaxed, more).ok().map(|_| Self(open.clone()))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

impl Sink for Connection {
    fn send(&mut self, event: Event) {
        if let Event::Done(_, times) = &event {
            self.metrics.finish(*times);
        }
        // Before the client knows, who may ask again at once.
        if matches!(event, Event::Done(..) | Event::Failed(_)) {
            self.place = None;
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
        if self.place.is_some() {
            self.metrics.cancelled.fetch_add(1, Relaxed);
        }
    }
}
