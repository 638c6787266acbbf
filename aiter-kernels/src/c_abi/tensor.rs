use crate::interface::{ElementType, Error, Memory, Tensor, TensorMut};
use std::cell::Cell;
use std::ffi::c_void;

/// bfloat16.
pub const AITER_BF16: i32 = 0;
/// IEEE half precision.
pub const AITER_F16: i32 = 1;
/// IEEE single precision.
pub const AITER_F32: i32 = 2;
/// 8-bit float of the OCP, 4 bits of exponent.
pub const AITER_E4M3: i32 = 3;
/// 8-bit integer.
pub const AITER_I8: i32 = 4;
/// 32-bit integer.
pub const AITER_I32: i32 = 5;
/// 64-bit integer.
pub const AITER_I64: i32 = 6;

/// Memory of the host; DLPack's number.
pub const AITER_HOST: i32 = 1;
/// Memory of an AMD GPU; DLPack's number.
pub const AITER_ROCM: i32 = 10;

/// A tensor. It is only looked at during a call; a GPU may use its memory until the stream has come so far.
#[repr(C)]
pub struct AiterTensor {
    /// The first element.
    pub data: *mut c_void,
    /// Elements along each dimension.
    pub shape: *const i64,
    /// From one element of each dimension to the next, in elements; null: no gaps.
    pub strides: *const i64,
    /// Dimensions, 1 to 8.
    pub ndim: i32,
    /// `AITER_BF16`, ...
    pub element_type: i32,
    /// `AITER_HOST` or `AITER_ROCM`.
    pub device_type: i32,
    /// HIP's number of the GPU; 0 for the host.
    pub device_id: i32,
}

const MOST_DIMENSIONS: i32 = 8;

/// # Safety
/// `tensor` is null or points to a tensor whose shape and strides have `ndim` elements, and whose memory holds what these promise, is not written
/// by another thread during the call, and outlives `'a`.
pub(super) unsafe fn input<'a>(
    argument: &'static str,
    tensor: *const AiterTensor,
) -> Result<Tensor<'a>, Error> {
    // SAFETY: the caller vouches for it.
    unsafe { optional_input(argument, tensor) }?.ok_or_else(|| wrong(argument, "a tensor", "null"))
}

/// # Safety
/// As [`input`].
pub(super) unsafe fn optional_input<'a>(
    argument: &'static str,
    tensor: *const AiterTensor,
) -> Result<Option<Tensor<'a>>, Error> {
    // SAFETY: null or a tensor.
    let Some(raw) = (unsafe { tensor.as_ref() }) else { return Ok(None) };
    let numbers = |pointer: *const i64| match (pointer.is_null(), usize::try_from(raw.ndim)) {
        (false, Ok(ndim)) if (1..=MOST_DIMENSIONS).contains(&raw.ndim) => {
            // SAFETY: not null, and as many elements as there are dimensions.
            Ok(unsafe { std::slice::from_raw_parts(pointer, ndim) })
        }
        (true, _) => Err(wrong(argument, "a shape", "null")),
        _ => Err(wrong(argument, "1 to 8 dimensions", &raw.ndim.to_string())),
    };
    let size = |&size: &i64| {
        usize::try_from(size).map_err(|_| wrong(argument, "sizes that are not negative", &size.to_string()))
    };
    let shape = numbers(raw.shape)?.iter().map(size).collect::<Result<Vec<_>, _>>()?;
    let described = Tensor::new(Memory::Host(&[]), element_type(argument, raw.element_type)?, &shape);
    let described = match raw.strides.is_null() {
        true => described,
        false => described.with_strides(numbers(raw.strides)?),
    };
    let bytes = described.reach();
    let len = usize::try_from(bytes).ok().filter(|&len| isize::try_from(len).is_ok());
    let len =
        len.ok_or_else(|| wrong(argument, "less memory than an address can reach", &bytes.to_string()))?;
    if raw.data.is_null() && len > 0 {
        return Err(wrong(argument, "data", "null"));
    }
    let memory = match raw.device_type {
        AITER_HOST if raw.data.is_null() => Memory::HostMut(&[]),
        // SAFETY: the memory holds what the shape promises, whose reach this is; cells may be shared with other tensors of the call, and the
        // memory of an input is only read.
        AITER_HOST => {
            Memory::HostMut(unsafe { std::slice::from_raw_parts(raw.data.cast::<Cell<u8>>(), len) })
        }
        AITER_ROCM => {
            let device = u32::try_from(raw.device_id);
            let device = device.map_err(|_| wrong(argument, "a GPU's number", &raw.device_id.to_string()))?;
            Memory::Gpu { device, address: raw.data.addr() as u64, bytes }
        }
        other => return Err(wrong(argument, "device_type 1 (host) or 10 (ROCm)", &other.to_string())),
    };
    Ok(Some(described.with_memory(memory)))
}

/// # Safety
/// As [`input`], and the memory may be written.
pub(super) unsafe fn output<'a>(
    argument: &'static str,
    tensor: *const AiterTensor,
) -> Result<TensorMut<'a>, Error> {
    // SAFETY: the caller vouches for it.
    unsafe { input(argument, tensor) }.map(Tensor::into_mut)
}

/// # Safety
/// As [`output`].
pub(super) unsafe fn optional_output<'a>(
    argument: &'static str,
    tensor: *const AiterTensor,
) -> Result<Option<TensorMut<'a>>, Error> {
    // SAFETY: the caller vouches for it.
    Ok(unsafe { optional_input(argument, tensor) }?.map(Tensor::into_mut))
}

fn element_type(argument: &'static str, code: i32) -> Result<ElementType, Error> {
    match code {
        AITER_BF16 => Ok(ElementType::Bf16),
        AITER_F16 => Ok(ElementType::F16),
        AITER_F32 => Ok(ElementType::F32),
        AITER_E4M3 => Ok(ElementType::E4m3),
        AITER_I8 => Ok(ElementType::I8),
        AITER_I32 => Ok(ElementType::I32),
        AITER_I64 => Ok(ElementType::I64),
        other => Err(wrong(argument, "an element type of aiter_kernels.h", &other.to_string())),
    }
}

pub(super) fn wrong(argument: &'static str, expected: &str, found: &str) -> Error {
    Error::Value { argument, expected: expected.to_owned(), found: found.to_owned() }
}
