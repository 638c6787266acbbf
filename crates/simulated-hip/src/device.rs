//! A simulated device, and work for one.

use crate::state::Function;
use gfx::Target;
use gfx_sim::{Launch, Memory};
use std::sync::Arc;

/// What a device has where nothing is said.
pub(crate) const TOTAL_MEMORY: u64 = 16 << 30;

pub(crate) struct Device {
    pub(crate) target: Target,
    pub(crate) memory: Memory,
    /// Bytes.
    pub(crate) total: u64,
    pub(crate) used: u64,
}

/// A launch with its arguments.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) function: Arc<Function>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) lds: u32,
    pub(crate) arguments: Vec<u8>,
}

impl Device {
    pub(crate) fn new(target: Target, total: u64) -> Self {
        Self { target, memory: Memory::new(), total, used: 0 }
    }

    pub(crate) fn free(&self) -> u64 {
        self.total.saturating_sub(self.used)
    }

    pub(crate) fn run(&mut self, work: &Work) -> Result<(), String> {
        let Work { function, grid, block, lds, arguments } = work;
        let launch =
            Launch { kernel: &function.name, grid: *grid, block: *block, arguments, dynamic_lds: *lds };
        let done = function.module.program.launch(&mut self.memory, &launch);
        done.map(drop).map_err(|error| error.to_string())
    }
}
