use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, TryLockError};

/// Shares items out over this process's threads.
///
/// rayon's own pool is made once, and a child of fork has none of its threads: work that is given to it would never be done. So each process
/// has a pool, which is as large.
pub(super) fn for_each<I: ParallelIterator>(items: I, f: impl Fn(I::Item) + Send + Sync) {
    // Who is on a thread of a pool already stays there.
    if rayon::current_thread_index().is_some() {
        return items.for_each(f);
    }
    match pool() {
        Some(pool) => pool.install(|| items.for_each(f)),
        None => match ThreadPoolBuilder::new().build() {
            Ok(pool) => pool.install(|| items.for_each(f)),
            Err(_) => items.for_each(f),
        },
    }
}

/// The pool of this process. That of a parent is left alone: it has threads that are not here to be joined. `None`: another thread looks for it, and in
/// a child of fork that thread may not be there to be waited for.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: Mutex<Option<(u32, &'static ThreadPool)>> = Mutex::new(None);
    let own = std::process::id();
    let mut pool = match POOL.try_lock() {
        Ok(pool) => pool,
        Err(TryLockError::Poisoned(pool)) => pool.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    match *pool {
        Some((process, pool)) if process == own => Some(pool),
        _ => {
            let made: &'static ThreadPool = Box::leak(Box::new(ThreadPoolBuilder::new().build().ok()?));
            *pool = Some((own, made));
            Some(made)
        }
    }
}
