use super::kernels::{AiterKernels, call};
use super::tensor::{AiterTensor, input, optional_input, output};
use crate::interface::{Activation, GatedActivation, Norm, NormKind, QuantisePerToken, Residual};
use std::ffi::c_void;

/// `out = silu(input[..., :width]) * input[..., width:]`.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_silu_and_mul(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe { gated(kernels, Activation::Silu, [out, input], stream) }
}

/// The same with gelu, by the error function.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_gelu_and_mul(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe { gated(kernels, Activation::Gelu, [out, input], stream) }
}

/// The same with gelu, by tanh.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_gelu_tanh_and_mul(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe { gated(kernels, Activation::GeluTanh, [out, input], stream) }
}

/// # Safety
/// As [`aiter_attention`].
unsafe fn gated(
    kernels: *const AiterKernels,
    activation: Activation,
    [out, from]: [*const AiterTensor; 2],
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let (out, input) = (output("out", out)?, input("input", from)?);
            kernels.gated_activation(&GatedActivation { activation, out, input }, stream)
        })
    }
}

/// `out = rms_norm(input + residual_in) * weight`; `residual_out` becomes `input + residual_in` and may be either. Both are null, or neither;
/// `weight` may be null.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_rms_norm(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    residual_in: *const AiterTensor,
    residual_out: *const AiterTensor,
    weight: *const AiterTensor,
    epsilon: f32,
    stream: *mut c_void,
) -> i32 {
    let tensors = [out, input, residual_in, residual_out, weight, std::ptr::null()];
    // SAFETY: the caller vouches for all pointers.
    unsafe { norm(kernels, NormKind::Rms, tensors, epsilon, stream) }
}

/// `out = layer_norm(input + residual_in) * weight + bias`; `residual_out` as in `aiter_rms_norm`. `weight` and `bias` may be null.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_layer_norm(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    residual_in: *const AiterTensor,
    residual_out: *const AiterTensor,
    weight: *const AiterTensor,
    bias: *const AiterTensor,
    epsilon: f32,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        norm(kernels, NormKind::Layer, [out, input, residual_in, residual_out, weight, bias], epsilon, stream)
    }
}

/// The softmax of each row.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_softmax(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    stream: *mut c_void,
) -> i32 {
    const NONE: *const AiterTensor = std::ptr::null();
    // SAFETY: the caller vouches for all pointers.
    unsafe { norm(kernels, NormKind::Softmax, [out, input, NONE, NONE, NONE, NONE], 0.0, stream) }
}

/// # Safety
/// As [`aiter_attention`].
unsafe fn norm(
    kernels: *const AiterKernels,
    kind: NormKind,
    [out, from, residual_in, residual_out, weight, bias]: [*const AiterTensor; 6],
    epsilon: f32,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let residual = match (residual_in.is_null(), residual_out.is_null()) {
                (true, true) => None,
                _ => Some(Residual {
                    input: input("residual_in", residual_in)?,
                    out: output("residual_out", residual_out)?,
                }),
            };
            let arguments = Norm {
                kind,
                out: output("out", out)?,
                input: input("input", from)?,
                residual,
                weight: optional_input("weight", weight)?,
                bias: optional_input("bias", bias)?,
                epsilon,
            };
            kernels.norm(&arguments, stream)
        })
    }
}

/// Quantises each row of `input` to the type of `out`, i8 or e4m3, over a scale of its own.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_dynamic_per_token_scaled_quant(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    scales: *const AiterTensor,
    stream: *mut c_void,
) -> i32 {
    let from = input;
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let arguments = QuantisePerToken {
                out: output("out", out)?,
                input: super::tensor::input("input", from)?,
                scales: output("scales", scales)?,
            };
            kernels.quantise_per_token(&arguments, stream)
        })
    }
}
