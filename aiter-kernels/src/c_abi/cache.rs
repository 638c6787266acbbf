use super::kernels::{AiterKernels, call};
use super::tensor::{AiterTensor, input, optional_input, output, wrong};
use crate::interface::{AppendKv, Error, Rope, RopeStyle, RopeTables};
use std::ffi::c_void;

/// Rotates the heads of `input`, `[s, b, heads, head_dim]`, by `positions`, `[s, b]`; null: each row's number along s. `out` may be `input`.
/// `rotate_style` 0: NEOX, 1: GPT-J (interleaved).
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_rope(
    kernels: *const AiterKernels,
    out: *const AiterTensor,
    input: *const AiterTensor,
    cos: *const AiterTensor,
    sin: *const AiterTensor,
    positions: *const AiterTensor,
    rotate_style: i32,
    nope_first: bool,
    stream: *mut c_void,
) -> i32 {
    let from = input;
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let arguments = Rope {
                out: output("out", out)?,
                input: super::tensor::input("input", from)?,
                tables: tables(cos, sin, rotate_style, nope_first)?,
                positions: optional_input("positions", positions)?,
            };
            kernels.rope(&arguments, stream)
        })
    }
}

/// # Safety
/// As [`aiter_attention`].
unsafe fn tables<'a>(
    cos: *const AiterTensor,
    sin: *const AiterTensor,
    rotate_style: i32,
    nope_first: bool,
) -> Result<RopeTables<'a>, Error> {
    let style = match rotate_style {
        0 => RopeStyle::Neox,
        1 => RopeStyle::Interleaved,
        other => return Err(wrong("rotate_style", "0 (NEOX) or 1 (GPT-J)", &other.to_string())),
    };
    // SAFETY: the caller vouches for both.
    let (cos, sin) = unsafe { (input("cos", cos)?, input("sin", sin)?) };
    Ok(RopeTables { cos, sin, style, nope_first })
}

/// Arguments of `aiter_append_kv`.
#[repr(C)]
pub struct AiterAppendKv {
    /// `[batch, capacity, kv_heads, head_dim]`; with a block table `[pages, page_rows, kv_heads, head_dim]`. Written.
    pub k_cache: *const AiterTensor,
    /// As `k_cache`. Written.
    pub v_cache: *const AiterTensor,
    /// `[batch, new rows, kv_heads, head_dim]`.
    pub k: *const AiterTensor,
    /// As `k`.
    pub v: *const AiterTensor,
    /// i32 `[batch]`.
    pub cache_seqlens: *const AiterTensor,
    /// i32 `[batch, pages of a sequence]`; null: the cache is dense.
    pub block_table: *const AiterTensor,
    /// `[positions, rotary_dim / 2]`; null: the keys are not rotated.
    pub cos: *const AiterTensor,
    /// As `cos`.
    pub sin: *const AiterTensor,
    /// 0: NEOX, 1: GPT-J (interleaved).
    pub rotate_style: i32,
    /// The elements that are not rotated come first in a head.
    pub nope_first: bool,
}

/// Writes new keys and values behind those that a cache holds.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_append_kv(
    kernels: *const AiterKernels,
    arguments: *const AiterAppendKv,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let raw = arguments.as_ref().ok_or_else(|| wrong("arguments", "arguments", "null"))?;
            let rope = match raw.cos.is_null() && raw.sin.is_null() {
                true => None,
                false => Some(tables(raw.cos, raw.sin, raw.rotate_style, raw.nope_first)?),
            };
            let arguments = AppendKv {
                k_cache: output("k_cache", raw.k_cache)?,
                v_cache: output("v_cache", raw.v_cache)?,
                k: input("k", raw.k)?,
                v: input("v", raw.v)?,
                cache_seqlens: input("cache_seqlens", raw.cache_seqlens)?,
                block_table: optional_input("block_table", raw.block_table)?,
                rope,
            };
            kernels.append_kv(&arguments, stream)
        })
    }
}
