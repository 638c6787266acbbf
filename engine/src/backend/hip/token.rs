//! Per-token graphs: the launches of a step that generates are recorded once and queued as one from then on.

use super::Hip;
use super::bell::Bell;
use super::buffer::Buffer;
use super::cache::Cache;
use super::error::Error;
use super::step::Step;
use hip::Graph;
use std::sync::PoisonError;

/// What decides all launches of a step that generates; what else there is of it lies in the block of its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    cache: u64,
    tokens: usize,
    /// Keys that attention is planned for.
    keys: usize,
    /// How often the memory of steps was given back.
    memory: u64,
}

/// How far a graph is.
#[derive(Default)]
pub(super) enum Token {
    /// The last step was another one.
    #[default]
    None,
    /// The last step was like this, and its kernels and memory are there: the next one can be recorded.
    Warm(Key),
    /// Recorded.
    Recorded(Key, Graph, Buffer),
    /// A step could not be recorded, and no other is tried.
    Never,
}

/// What is done with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Launch by launch.
    Plain,
    /// Record it, and queue the graph.
    Record,
    /// Queue the graph.
    Replay,
}

impl Token {
    /// Drops what was recorded.
    fn forget(&mut self) {
        if !matches!(self, Self::Never) {
            *self = Self::None;
        }
    }

    /// The way of a step with this key; `None`: it is no step that generates.
    fn way(&self, key: Option<Key>) -> Way {
        match (self, key) {
            (Self::Warm(warm), Some(key)) if *warm == key => Way::Record,
            (Self::Recorded(recorded, ..), Some(key)) if *recorded == key => Way::Replay,
            _ => Way::Plain,
        }
    }
}

/// Computes a step and gives its numbers. Any step between two that generate drops the graph: it may need more scratch memory, which moves.
pub(super) fn compute(
    hip: &Hip,
    cache: &mut Cache,
    step: &Step,
    work: impl Fn(&mut Cache) -> Result<Option<Buffer>, Error>,
) -> Result<Vec<f32>, Error> {
    let mut token = hip.token.lock().unwrap_or_else(PoisonError::into_inner);
    let can = hip.records && step.is_decode() && !matches!(*token, Token::Never);
    let key = can.then(|| Key {
        cache: cache.id,
        tokens: step.tokens.count,
        keys: cache.pages.planned_keys(step.most_keys()),
        memory: hip.cards[0].pool().emptied(),
    });
    let mut way = token.way(key);
    if way != Way::Replay {
        token.forget();
    }
    let ticket = hip.bell.as_ref().map_or(0, Bell::next_ticket);
    // Where the inputs moved, what was recorded finds them no more.
    if hip.put_inputs(&step.block(cache.pages, ticket))? {
        token.forget();
        way = Way::Plain;
    }
    if way == Way::Record {
        match record(hip, step, || work(cache)) {
            Ok(Some((graph, Some(out)))) if let Some(key) = key => *token = Token::Recorded(key, graph, out),
            Ok(_) => way = Way::Plain,
            Err(error) => {
                eprintln!(
                    "every step is queued launch by launch from now on: it cannot be recorded: {error}"
                );
                *token = Token::Never;
                way = Way::Plain;
            }
        }
    }
    if let (Token::Recorded(_, graph, out), true) = (&*token, way != Way::Plain) {
        let done = replay(hip, graph, out, ticket);
        if done.is_err() {
            token.forget();
        }
        return done;
    }
    hip.trim();
    let out = work(cache)?;
    if let (Some(key), false) = (key, matches!(*token, Token::Never)) {
        *token = Token::Warm(key);
    }
    out.map_or(Ok(Vec::new()), |out| hip.read(&out))
}

/// Queues what was recorded, and waits for its numbers.
fn replay(hip: &Hip, graph: &Graph, out: &Buffer, ticket: u32) -> Result<Vec<f32>, Error> {
    let card = &hip.cards[0];
    card.enter()?;
    card.call(graph.launch(&card.stream))?;
    if let Some(bell) = &hip.bell {
        bell.wait(card, ticket)?;
    }
    hip.read(out)
}

/// Records what `work` queues, and the bell behind it.
fn record(
    hip: &Hip,
    step: &Step,
    work: impl FnOnce() -> Result<Option<Buffer>, Error>,
) -> Result<Option<(Graph, Option<Buffer>)>, Error> {
    let card = &hip.cards[0];
    card.enter()?;
    let work = || {
        let out = work()?;
        hip.bell.as_ref().map_or(Ok(()), |bell| bell.queue(card, step.ticket.start))?;
        Ok(out)
    };
    card.stream.record(work, |why| Error::Call { device: card.number, why })
}
