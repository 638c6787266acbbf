//! Graphs run beside the program, as they do on a card: what the program does until it is done is told in the log.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The graph that was launched last.
#[derive(Default)]
struct Graph {
    /// The program has called nothing but hipStreamQuery since.
    is_watched: bool,
    is_running: bool,
    queries: usize,
}

static GRAPH: Mutex<Graph> = Mutex::new(Graph { is_watched: false, is_running: false, queries: 0 });
static DONE: Condvar = Condvar::new();

fn graph() -> MutexGuard<'static, Graph> {
    GRAPH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A graph starts.
pub(crate) fn start() {
    *graph() = Graph { is_watched: true, is_running: true, queries: 0 };
}

/// It is done.
pub(crate) fn finish() {
    graph().is_running = false;
    DONE.notify_all();
}

/// The program asks whether all is done.
pub(crate) fn query() -> bool {
    let mut graph = graph();
    graph.queries += 1;
    !graph.is_running
}

/// Waits for the graph. The first time after its launch: how often the program has asked, and whether the graph was done when it went on.
pub(crate) fn settle() -> Option<String> {
    let mut graph = graph();
    let said = graph.is_watched.then(|| {
        let state = if graph.is_running { "busy" } else { "idle" };
        format!("after graph: {} queries, {state}", graph.queries)
    });
    graph.is_watched = false;
    while graph.is_running {
        graph = DONE.wait(graph).unwrap_or_else(PoisonError::into_inner);
    }
    said
}
