//! Runs several sequences in one model: each step takes the next token of all that generate and a part of the prompts that wait.

use super::sampler::{Sampler, Sampling};
use super::slots::Slots;
use super::stop::Stops;
use crate::backend::Backend;
use crate::model::{Batch, Model};
use crate::tokenizer::{TextStream, Tokenizer};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is wanted.
pub struct Request {
    /// Tokens of the prompt, one at least.
    pub prompt: Vec<u32>,
    /// Most tokens to generate.
    pub limit: usize,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Texts at which generating ends.
    pub stops: Vec<String>,
    /// Goes on past the tokens that end a text.
    pub ignores_end: bool,
    /// Who takes the text.
    pub sink: Box<dyn Sink>,
}

/// Takes what is generated.
pub trait Sink: Send {
    /// Takes a part.
    fn send(&mut self, event: Event);
    /// Whether nobody wants it any more.
    fn is_gone(&self) -> bool;
}

/// A part of what is generated.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// More text.
    Text(String),
    /// The end.
    Done(Finish, Times),
    /// The backend failed.
    Failed(String),
}

/// Why generating ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The model ended its text, or a stop text came.
    Stop,
    /// There were as many tokens as wanted, or as the context holds.
    Length,
}

/// Counts and times of one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Times {
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Those of them that were in the cache already, from the start on.
    pub reused: usize,
    /// Tokens generated, the one that ended the text included.
    pub generated: usize,
    /// From the first step to the first token.
    pub prompt_time: Duration,
    /// From the first token to the last.
    pub decode_time: Duration,
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No tokens.
    #[error("the prompt is empty")]
    Empty,
    /// More tokens than a sequence may have.
    #[error("the prompt has {prompt} tokens: with a context of {context} there is room for {} at most", context - 1)]
    TooLong {
        /// Tokens of the prompt.
        prompt: usize,
        /// Tokens of the context.
        context: usize,
    },
    /// A number that is no token.
    #[error("{0} is no token of this model")]
    Token(u32),
}

/// Tokens that go through the model in one step at most.
pub const STEP: usize = 512;

struct Sequence {
    slot: usize,
    tokens: Vec<u32>,
    /// Tokens whose keys and values are in the cache.
    stored: usize,
    prompt: usize,
    /// Tokens of the prompt that were in the cache already.
    reused: usize,
    request: Request,
    sampler: Sampler,
    text: TextStream,
    stops: Stops,
    start: Instant,
    first: Option<Instant>,
}

/// Sequences that run, and those that wait for a slot.
pub struct Scheduler<B: Backend> {
    model: Model<B>,
    tokenizer: Arc<Tokenizer>,
    cache: B::Cache,
    context: usize,
    slots: usize,
    idle: Slots,
    waiting: VecDeque<Request>,
    running: Vec<Sequence>,
}

impl<B: Backend> Scheduler<B> {
    /// Room for `slots` sequences at once, each of `context` tokens.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn new(
        model: Model<B>,
        tokenizer: Arc<Tokenizer>,
        slots: usize,
        context: usize,
    ) -> Result<Self, B::Error> {
        let cache = model.cache(slots, context)?;
        let idle = Slots::new(slots);
        let (waiting, running) = (VecDeque::new(), Vec::new());
        Ok(Self { model, tokenizer, cache, context, slots, idle, waiting, running })
    }

    /// Whether a request could run.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, prompt: &[u32]) -> Result<(), Refused> {
        check(prompt, self.context, self.model.config().vocabulary)
    }

    /// Takes a request, which must have passed [`Self::check`].
    pub fn submit(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// Nothing runs and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Sequences that can run at once.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// How many sequences run and how many wait.
    pub fn load(&self) -> (usize, usize) {
        (self.running.len(), self.waiting.len())
    }

    /// What the model is.
    pub fn model(&self) -> &Model<B> {
        &self.model
    }

    /// Moves every sequence forward.
    pub fn step(&mut self) {
        self.let_go();
        self.admit();
        let batch = self.batch();
        if batch.tokens.is_empty() {
            return;
        }
        match self.model.forward(&mut self.cache, &batch) {
            Ok(logits) => self.choose(&logits),
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Drops sequences that nobody wants any more.
    fn let_go(&mut self) {
        self.waiting.retain(|request| !request.sink.is_gone());
        let idle = &mut self.idle;
        self.running.retain_mut(|sequence| {
            let stays = !sequence.request.sink.is_gone();
            if !stays {
                idle.give_back(sequence.slot, sequence.held());
            }
            stays
        });
    }

    fn admit(&mut self) {
        while let Some(request) = self.waiting.front()
            && let Some((slot, reused)) = self.idle.take(&request.prompt)
        {
            let Some(request) = self.waiting.pop_front() else { break };
            self.running.push(Sequence::new(slot, reused, request));
        }
    }

    /// The tokens of this step: of every sequence one, and of prompts as many as there is room for. Sequences that generate come first, so that a long
    /// prompt does not hold them up by more than a step.
    fn batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        self.running.sort_by_key(|sequence| (sequence.pending() > 1, sequence.start));
        for sequence in &mut self.running {
            let room = STEP.saturating_sub(batch.tokens.len());
            let count = sequence.pending().min(room);
            for at in sequence.stored..sequence.stored + count {
                batch.push(sequence.tokens[at], sequence.slot, at, at + 1 == sequence.tokens.len());
            }
            sequence.stored += count;
        }
        batch
    }

    /// Chooses the next token of each sequence that has gone through the model whole.
    fn choose(&mut self, logits: &[f32]) {
        let mut rows = logits.chunks_exact(self.model.config().vocabulary);
        let (tokenizer, context) = (&self.tokenizer, self.context);
        let idle = &mut self.idle;
        self.running.retain_mut(|sequence| {
            if sequence.pending() > 0 {
                return true;
            }
            let Some(row) = rows.next() else { return true };
            let goes_on = sequence.advance(row, tokenizer, context);
            if !goes_on {
                idle.give_back(sequence.slot, sequence.held());
            }
            goes_on
        });
    }

    fn fail(&mut self, why: &str) {
        for mut sequence in self.running.drain(..) {
            // Nobody knows what the cache holds now.
            self.idle.give_back(sequence.slot, Vec::new());
            sequence.request.sink.send(Event::Failed(why.to_owned()));
        }
    }
}

/// Whether a prompt can run in a context.
///
/// # Errors
/// Why not.
pub fn check(prompt: &[u32], context: usize, vocabulary: usize) -> Result<(), Refused> {
    if prompt.is_empty() {
        return Err(Refused::Empty);
    }
    if prompt.len() >= context {
        return Err(Refused::TooLong { prompt: prompt.len(), context });
    }
    let wrong = prompt.iter().find(|token| **token as usize >= vocabulary);
    wrong.map_or(Ok(()), |token| Err(Refused::Token(*token)))
}

impl Sequence {
    fn new(slot: usize, reused: usize, mut request: Request) -> Self {
        let tokens = std::mem::take(&mut request.prompt);
        let stops = Stops::new(std::mem::take(&mut request.stops));
        Self {
            slot,
            prompt: tokens.len(),
            tokens,
            stored: reused,
            reused,
            sampler: Sampler::new(request.sampling),
            request,
            text: TextStream::default(),
            stops,
            start: Instant::now(),
            first: None,
        }
    }

    /// The tokens whose keys and values are in the cache; the sequence is over.
    fn held(&mut self) -> Vec<u32> {
        self.tokens.truncate(self.stored);
        std::mem::take(&mut self.tokens)
    }

    fn pending(&self) -> usize {
        self.tokens.len() - self.stored
    }

    /// Takes the next token from logits; whether there will be more.
    fn advance(&mut self, logits: &[f32], tokenizer: &Tokenizer, context: usize) -> bool {
        let token = self.sampler.choose(logits, &self.tokens);
        self.tokens.push(token);
        self.first.get_or_insert_with(Instant::now);
        let is_end = tokenizer.is_end(token) && !self.request.ignores_end;
        let (shown, has_stopped) = match is_end {
            true => (String::new(), false),
            false => self.stops.push(&self.text.push(&tokenizer.bytes(token))),
        };
        if !shown.is_empty() {
            self.request.sink.send(Event::Text(shown));
        }
        let is_full = self.tokens.len() - self.prompt >= self.request.limit || self.tokens.len() >= context;
        if is_end || has_stopped {
            self.finish(Finish::Stop, has_stopped);
        } else if is_full {
            self.finish(Finish::Length, false);
        }
        !(is_end || has_stopped || is_full)
    }

    fn finish(&mut self, finish: Finish, has_stopped: bool) {
        let (rest, _) = if has_stopped { Default::default() } else { self.stops.push(&self.text.finish()) };
        let rest = rest + &self.stops.finish();
        if !rest.is_empty() {
            self.request.sink.send(Event::Text(rest));
        }
        let first = self.first.unwrap_or(self.start);
        let times = Times {
            prompt: self.prompt,
            reused: self.reused,
            generated: self.tokens.len() - self.prompt,
            prompt_time: first - self.start,
            decode_time: first.elapsed(),
        };
        self.request.sink.send(Event::Done(finish, times));
    }
}
