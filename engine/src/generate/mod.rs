//! Text from a model: choosing tokens, stop texts, and several sequences at once.

mod sampler;
mod scheduler;
mod slots;
mod stop;

pub use sampler::{Invalid, Sampler, Sampling};
pub use scheduler::{Event, Finish, Refused, Request, STEP, Scheduler, Sink, Times, check};
