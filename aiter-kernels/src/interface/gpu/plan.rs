use crate::args::DevicePtr;
use crate::dispatch::Launch;

/// One launch with its argument block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelCall {
    /// Kernel and grid.
    pub(crate) launch: Launch,
    /// The block, byte for byte.
    pub(crate) arguments: Vec<u8>,
}

/// The launches of a call, in order, on one stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plan {
    /// The launches; none for a call without elements.
    pub(crate) calls: Vec<KernelCall>,
    /// Bytes of memory of the GPU that they share beside the tensors.
    pub(crate) scratch: u64,
}

/// Shares out scratch memory that begins at an address.
pub(super) struct Scratch {
    first: DevicePtr,
    used: u64,
}

impl Scratch {
    /// Every part begins at a multiple of this.
    const ALIGNMENT: u64 = 256;

    pub(super) fn at(first: DevicePtr) -> Self {
        Self { first, used: 0 }
    }

    /// The address of as many f32.
    pub(super) fn floats(&mut self, count: u64) -> DevicePtr {
        let address = self.first + self.used;
        self.used = (self.used + count * 4).next_multiple_of(Self::ALIGNMENT);
        address
    }

    pub(super) fn bytes(&self) -> u64 {
        self.used
    }
}

impl KernelCall {
    pub(super) fn new<A: bytemuck::Pod>(launch: Launch, arguments: &A) -> Self {
        Self { launch, arguments: bytemuck::bytes_of(arguments).to_vec() }
    }
}
