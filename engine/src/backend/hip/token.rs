//! Per-token graphs: the launches of a step that generates are recorded once and queued as one from then on.

use super::Hip;
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
    work: impl FnOnce(&mut Cache) -> Result<Option<Buffer>, Error>,
) -> Result<Vec<f32>, Error> {
    let can = hip.records && step.is_decode();
    let key = can.then(|| Key {
        cache: cache.id,
        tokens: step.tokens.count,
        keys: cache.pages.planned_keys(step.most_keys()),
    });
    let mut token = hip.token.lock().unwrap_or_else(PoisonError::into_inner);
    let way = token.way(key);
    if way != Way::Replay {
        *token = Token::None;
    }
    let moved = hip.put_inputs(&step.block(cache.pages))?;
    if moved {
        *token = Token::None;
    }
    let card = &hip.cards[0];
    match (way, &*token, key) {
        (Way::Replay, Token::Recorded(_, graph, out), _) => {
            card.enter()?;
            card.call(graph.launch(&card.stream))?;
            hip.wait(card)?;
            return hip.read(out);
        }
        (Way::Record, _, Some(key)) if !moved => {
            card.enter()?;
            if let Some((graph, Some(out))) = record(hip, || work(cache))? {
                card.call(graph.launch(&card.stream))?;
                hip.wait(card)?;
                let numbers = hip.read(&out)?;
                *token = Token::Recorded(key, graph, out);
                return Ok(numbers);
            }
            return Ok(Vec::new());
        }
        _ => {}
    }
    let out = work(cache)?;
    *token = key.map_or(Token::None, Token::Warm);
    out.map_or(Ok(Vec::new()), |out| hip.read(&out))
}

fn record<T>(hip: &Hip, work: impl FnOnce() -> Result<T, Error>) -> Result<Option<(Graph, T)>, Error> {
    let card = &hip.cards[0];
    card.stream.record(work, |source| Error::Call { device: card.number, source })
}
