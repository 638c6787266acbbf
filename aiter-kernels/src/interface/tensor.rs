use super::{ElementType, Error, Scalar};
use hip::DeviceBuffer;
use std::cell::Cell;
use std::fmt;

/// Where a tensor lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the memory of this process: the CPU computes.
    Host,
    /// In the memory of a GPU, by HIP's number: it computes.
    Gpu(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the host"),
            Self::Gpu(number) => write!(f, "GPU {number}"),
        }
    }
}

/// The bytes of a tensor.
#[derive(Clone, Copy)]
pub(crate) enum Memory<'a> {
    /// Of the host, for reading.
    Host(&'a [u8]),
    /// Of the host, for writing. Cells, because C callers may give one memory as input and as output.
    HostMut(&'a [Cell<u8>]),
    /// Of a GPU.
    Gpu { device: u32, address: u64, bytes: u64 },
}

impl Memory<'_> {
    pub(super) fn address(&self) -> u64 {
        match self {
            Self::Host(bytes) => bytes.as_ptr().addr() as u64,
            Self::HostMut(cells) => cells.as_ptr().addr() as u64,
            Self::Gpu { address, .. } => *address,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Host(bytes) => bytes.len() as u64,
            Self::HostMut(cells) => cells.len() as u64,
            Self::Gpu { bytes, .. } => *bytes,
        }
    }
}

/// A tensor that is read: memory, element type, shape and strides. What it promises is checked by the call that takes it, which names the
/// argument.
#[derive(Clone)]
pub struct Tensor<'a> {
    pub(super) memory: Memory<'a>,
    pub(super) element_type: ElementType,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<i64>,
}

/// A tensor that is written, and read by operations that work in place.
#[derive(Clone)]
pub struct TensorMut<'a>(pub(super) Tensor<'a>);

impl<'a> Tensor<'a> {
    pub(crate) fn new(memory: Memory<'a>, element_type: ElementType, shape: &[usize]) -> Self {
        Self { memory, element_type, shape: shape.to_vec(), strides: contiguous(shape) }
    }

    /// A contiguous tensor of a slice.
    pub fn of<T: Scalar>(data: &'a [T], shape: &[usize]) -> Self {
        Self::from_bytes(T::TYPE, bytemuck::cast_slice(data), shape)
    }

    /// A contiguous tensor of bytes, little-endian.
    pub fn from_bytes(element_type: ElementType, bytes: &'a [u8], shape: &[usize]) -> Self {
        Self::new(Memory::Host(bytes), element_type, shape)
    }

    /// A contiguous tensor in the memory of the GPU with this number, which is the one that `buffer` was allocated on.
    pub fn on_gpu(element_type: ElementType, buffer: &'a DeviceBuffer, device: u32, shape: &[usize]) -> Self {
        let memory = Memory::Gpu { device, address: buffer.address(), bytes: buffer.len() as u64 };
        Self::new(memory, element_type, shape)
    }

    /// The same memory with other strides, in elements.
    #[must_use]
    pub fn with_strides(mut self, strides: &[i64]) -> Self {
        self.strides = strides.to_vec();
        self
    }

    /// The same memory from this element on.
    #[must_use]
    pub fn at(mut self, element: usize) -> Self {
        let skip = element * self.element_type.size();
        self.memory = match self.memory {
            Memory::Host(bytes) => Memory::Host(bytes.get(skip..).unwrap_or_default()),
            Memory::HostMut(cells) => Memory::HostMut(cells.get(skip..).unwrap_or_default()),
            Memory::Gpu { device, address, bytes } => {
                let skip = (skip as u64).min(bytes);
                Memory::Gpu { device, address: address + skip, bytes: bytes - skip }
            }
        };
        self
    }

    /// The same shape over other memory.
    pub(crate) fn with_memory(self, memory: Memory<'a>) -> Self {
        Self { memory, ..self }
    }

    /// As a tensor that is written, over memory that may be.
    pub(crate) fn into_mut(self) -> TensorMut<'a> {
        TensorMut(self)
    }

    /// Its shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// From one element of each dimension to the next, in elements.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The type of its elements.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// Where it lies.
    pub fn place(&self) -> Place {
        match self.memory {
            Memory::Host(_) | Memory::HostMut(_) => Place::Host,
            Memory::Gpu { device, .. } => Place::Gpu(device),
        }
    }

    /// Elements; too many to count count as all that can be counted.
    pub(super) fn len(&self) -> usize {
        match self.shape.contains(&0) {
            true => 0,
            false => self.shape.iter().copied().fold(1, usize::saturating_mul),
        }
    }

    /// These rows of dimension `dim`, of a tensor that was checked.
    pub(super) fn narrowed(&self, dim: usize, rows: std::ops::Range<usize>) -> Self {
        let stride = usize::try_from(self.strides[dim]).unwrap_or(0);
        let mut narrowed = self.clone().at(rows.start * stride);
        narrowed.shape[dim] = rows.len();
        narrowed
    }

    /// What holds for every tensor: strides that are not negative, elements of the last dimension side by side, and a memory that holds it all.
    pub(super) fn check(&self, argument: &'static str) -> Result<(), Error> {
        let stride = |expected| Error::Stride { argument, expected, found: self.strides.clone() };
        if self.strides.len() != self.shape.len() {
            return Err(stride("one stride for each dimension"));
        }
        if self.shape.iter().zip(&self.strides).any(|(&size, &stride)| size > 1 && stride < 0) {
            return Err(stride("strides that are not negative"));
        }
        let is_dense = |(&size, &stride): (&usize, &i64)| size <= 1 || stride == 1;
        if !self.shape.last().zip(self.strides.last()).is_none_or(is_dense) {
            return Err(stride("a contiguous last dimension"));
        }
        let size = self.element_type.size() as u64;
        let address = self.memory.address();
        if !address.is_multiple_of(size) {
            return Err(Error::Alignment { argument, what: "the address", expected: size, found: address });
        }
        let (needed, available) = (self.reach(), self.memory.len());
        // Strides of 0 reach nowhere, but the elements must still be countable.
        if needed > available || self.len() > isize::MAX as usize / 8 {
            return Err(Error::Bounds { argument, needed, available });
        }
        Ok(())
    }

    /// Bytes from the first element to the end of the last one.
    pub(crate) fn reach(&self) -> u64 {
        if self.len() == 0 {
            return 0;
        }
        let steps = self.shape.iter().zip(&self.strides).map(|(&size, &stride)| {
            let stride = u64::try_from(stride).unwrap_or(0);
            (size as u64 - 1).saturating_mul(stride)
        });
        let last = steps.fold(0, u64::saturating_add);
        last.saturating_add(1).saturating_mul(self.element_type.size() as u64)
    }
}

impl<'a> TensorMut<'a> {
    pub(crate) fn new(memory: Memory<'a>, element_type: ElementType, shape: &[usize]) -> Self {
        Self(Tensor::new(memory, element_type, shape))
    }

    /// A contiguous tensor of a slice.
    pub fn of<T: Scalar>(data: &'a mut [T], shape: &[usize]) -> Self {
        Self::from_bytes(T::TYPE, bytemuck::cast_slice_mut(data), shape)
    }

    /// A contiguous tensor of bytes, little-endian.
    pub fn from_bytes(element_type: ElementType, bytes: &'a mut [u8], shape: &[usize]) -> Self {
        Self::new(Memory::HostMut(Cell::from_mut(bytes).as_slice_of_cells()), element_type, shape)
    }

    /// A contiguous tensor in the memory of the GPU with this number, which is the one that `buffer` was allocated on.
    pub fn on_gpu(
        element_type: ElementType,
        buffer: &'a mut DeviceBuffer,
        device: u32,
        shape: &[usize],
    ) -> Self {
        Self(Tensor::on_gpu(element_type, buffer, device, shape))
    }

    /// The same memory with other strides, in elements.
    #[must_use]
    pub fn with_strides(self, strides: &[i64]) -> Self {
        Self(self.0.with_strides(strides))
    }

    /// The same memory from this element on.
    #[must_use]
    pub fn at(self, element: usize) -> Self {
        Self(self.0.at(element))
    }

    /// As a tensor that is read.
    pub fn as_tensor(&self) -> &Tensor<'a> {
        &self.0
    }

    /// What holds for every output: what holds for every tensor, and no two of its elements lie in one place.
    pub(super) fn check(&self, argument: &'static str) -> Result<(), Error> {
        let Tensor { shape, strides, .. } = &self.0;
        self.0.check(argument)?;
        let mut steps: Vec<(i64, usize)> =
            strides.iter().copied().zip(shape.iter().copied()).filter(|&(_, size)| size > 1).collect();
        steps.sort_unstable();
        let mut reach = 1;
        for (stride, size) in steps {
            if stride < reach {
                let expected = "elements that do not overlap";
                return Err(Error::Stride { argument, expected, found: strides.clone() });
            }
            reach = stride.saturating_mul(i64::try_from(size).unwrap_or(i64::MAX));
        }
        Ok(())
    }
}

/// The strides of a tensor without gaps.
fn contiguous(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1_i64; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim].saturating_mul(i64::try_from(shape[dim].max(1)).unwrap_or(i64::MAX));
    }
    strides
}
