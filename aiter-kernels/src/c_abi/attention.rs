use super::kernels::{AiterKernels, call};
use super::tensor::{AiterTensor, input, optional_input, optional_output, output, wrong};
use crate::interface::{Attention, AttentionOptions, Error, Limits, Sequences};
use crate::reference::Origin;
use std::ffi::c_void;

/// Arguments of `aiter_attention`. Begin with `aiter_attention_defaults`. Dense without `cu_seqlens_q`; varlen with `cu_seqlens_q` and `cu_seqlens_k`;
/// paged with `cu_seqlens_q`, `seqlens_k` and `block_table`.
#[repr(C)]
pub struct AiterAttention {
    /// `[batch, seqlen_q, heads, head_dim]`; varlen and paged: `[total_q, heads, head_dim]`.
    pub q: *const AiterTensor,
    /// `[batch, seqlen_k, kv_heads, head_dim]`; varlen: `[total_k, kv_heads, head_dim]`; paged: `[pages, page_rows, kv_heads, head_dim]`.
    pub k: *const AiterTensor,
    /// As `k`.
    pub v: *const AiterTensor,
    /// As `q`.
    pub out: *const AiterTensor,
    /// f32 `[batch, heads, seqlen_q]`; varlen and paged: `[heads, total_q]`; null: none.
    pub lse: *const AiterTensor,
    /// i32 `[batch + 1]`, or null.
    pub cu_seqlens_q: *const AiterTensor,
    /// i32 `[batch + 1]`, or null.
    pub cu_seqlens_k: *const AiterTensor,
    /// i32 `[batch]`, or null.
    pub seqlens_k: *const AiterTensor,
    /// i32 `[batch, pages of a sequence]`, or null.
    pub block_table: *const AiterTensor,
    /// The longest sequence's queries; not read when dense.
    pub max_seqlen_q: i64,
    /// The longest sequence's keys; not read when dense.
    pub max_seqlen_k: i64,
    /// Sequences of as many queries or fewer are left out: their rows of `out` and `lse` stay as they are. Not read when dense.
    pub min_seqlen_q: i64,
    /// Factor of the scores; NaN, the default: `1 / sqrt(head_dim)`.
    pub softmax_scale: f32,
    /// Bound of the scores; 0: none.
    pub logits_soft_cap: f32,
    /// Must be 0.
    pub dropout_p: f32,
    /// Factor of q when it is e4m3.
    pub q_descale: f32,
    /// Factor of k when it is e4m3.
    pub k_descale: f32,
    /// Factor of v when it is e4m3.
    pub v_descale: f32,
    /// Keys before the diagonal that a query sees; -1: all.
    pub window_left: i32,
    /// Keys after the diagonal that a query sees; -1: all.
    pub window_right: i32,
    /// No key after the diagonal.
    pub causal: bool,
    /// The diagonal starts at the top left; else, as upstream's, at the bottom right.
    pub top_left: bool,
}

/// Arguments with no tensors, the default scale, no mask.
#[unsafe(no_mangle)]
pub extern "C" fn aiter_attention_defaults() -> AiterAttention {
    const NONE: *const AiterTensor = std::ptr::null();
    AiterAttention {
        q: NONE,
        k: NONE,
        v: NONE,
        out: NONE,
        lse: NONE,
        cu_seqlens_q: NONE,
        cu_seqlens_k: NONE,
        seqlens_k: NONE,
        block_table: NONE,
        max_seqlen_q: 0,
        max_seqlen_k: 0,
        min_seqlen_q: 0,
        softmax_scale: f32::NAN,
        logits_soft_cap: 0.0,
        dropout_p: 0.0,
        q_descale: 1.0,
        k_descale: 1.0,
        v_descale: 1.0,
        window_left: -1,
        window_right: -1,
        causal: false,
        top_left: false,
    }
}

/// Attention forward. `stream` is a `hipStream_t`; null: the default one. Not read when the tensors are on the host.
///
/// # Safety
/// `kernels` came from `aiter_open`; `arguments` points to arguments whose tensors hold what their shapes promise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_attention(
    kernels: *const AiterKernels,
    arguments: *const AiterAttention,
    stream: *mut c_void,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, stream, |kernels, stream| {
            let arguments = arguments.as_ref().ok_or_else(|| wrong("arguments", "arguments", "null"))?;
            kernels.attention(&attention(arguments)?, stream)
        })
    }
}

/// What `aiter_attention` refuses, without computing or launching anything; on the host block tables are not looked at.
///
/// # Safety
/// As `aiter_attention`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aiter_check_attention(
    kernels: *const AiterKernels,
    arguments: *const AiterAttention,
) -> i32 {
    // SAFETY: the caller vouches for all pointers.
    unsafe {
        call(kernels, std::ptr::null_mut(), |kernels, _| {
            let arguments = arguments.as_ref().ok_or_else(|| wrong("arguments", "arguments", "null"))?;
            kernels.check_attention(&attention(arguments)?)
        })
    }
}

/// # Safety
/// The tensors hold what their shapes promise.
unsafe fn attention<'a>(arguments: &AiterAttention) -> Result<Attention<'a>, Error> {
    let length = |argument, length: i64| {
        usize::try_from(length)
            .map_err(|_| wrong(argument, "a length that is not negative", &length.to_string()))
    };
    let limits = || {
        Ok::<_, Error>(Limits {
            max_seqlen_q: length("max_seqlen_q", arguments.max_seqlen_q)?,
            max_seqlen_k: length("max_seqlen_k", arguments.max_seqlen_k)?,
            min_seqlen_q: length("min_seqlen_q", arguments.min_seqlen_q)?,
        })
    };
    // SAFETY: the caller vouches for all tensors.
    unsafe {
        let cu_seqlens_q = optional_input("cu_seqlens_q", arguments.cu_seqlens_q)?;
        let cu_seqlens_k = optional_input("cu_seqlens_k", arguments.cu_seqlens_k)?;
        let block_table = optional_input("block_table", arguments.block_table)?;
        let sequences = match (cu_seqlens_q, cu_seqlens_k, block_table) {
            (None, None, None) => Sequences::Dense,
            (None, ..) => return Err(wrong("cu_seqlens_q", "a tensor", "null")),
            (Some(cu_seqlens_q), _, Some(block_table)) => {
                let seqlens_k = input("seqlens_k", arguments.seqlens_k)?;
                Sequences::Paged { cu_seqlens_q, seqlens_k, block_table, limits: limits()? }
            }
            (Some(cu_seqlens_q), Some(cu_seqlens_k), None) => {
                Sequences::Varlen { cu_seqlens_q, cu_seqlens_k, limits: limits()? }
            }
            (Some(_), None, None) => return Err(wrong("cu_seqlens_k", "a tensor", "null")),
        };
        Ok(Attention {
            q: input("q", arguments.q)?,
            k: input("k", arguments.k)?,
            v: input("v", arguments.v)?,
            out: output("out", arguments.out)?,
            lse: optional_output("lse", arguments.lse)?,
            sequences,
            options: AttentionOptions {
                softmax_scale: (!arguments.softmax_scale.is_nan()).then_some(arguments.softmax_scale),
                logits_soft_cap: arguments.logits_soft_cap,
                causal: arguments.causal,
                window_size: [arguments.window_left, arguments.window_right],
                origin: if arguments.top_left { Origin::TopLeft } else { Origin::BottomRight },
                dropout_p: arguments.dropout_p,
                descale: [arguments.q_descale, arguments.k_descale, arguments.v_descale],
            },
        })
    }
}
