//! What this machine has.

mod kfd;
mod programs;

pub(crate) use kfd::{Gpu, gpus};
pub(crate) use programs::{MINIMUM_CMAKE, MINIMUM_NINJA, find_program};
