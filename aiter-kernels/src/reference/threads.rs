use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, PoisonError};

/// Shares items out over this process's threads.
///
/// rayon's own pool is made once, and a child of fork has none of its threads: work that is given to it would never be done. So each process
/// has a pool, which is as large.
pub(super) fn for_each<I: ParallelIterator>(items: I, f: impl Fn(I::Item) + Send + Sync) {
    // Who is on a thread of a pool already stays there.
    match pool().filter(|_| rayon::current_thread_index().is_none()) {
        Some(pool) => pool.install(|| items.for_each(f)),
        None => items.for_each(f),
    }
}

/// The pool of the process with this number. That of a parent is left alone: it has threads that are not here to be joined.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let own = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match *pool {
        Some((process, pool)) if process == own => Some(pool),
        _ => {
            let made: &'static ThreadPool = Box::leak(Box::new(ThreadPoolBuilder::new().build().ok()?));
            *pool = Some((own, made));
            Some(made)
        }
    }
}
