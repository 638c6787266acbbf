//! Argument blocks as bytes.

use aiter_kernels::args::{
    ActivationArgs, AppendKvArgs, FmhaCombineArgs, FmhaFwdArgs, FmhaPagedArgs, FmhaSplitKvArgs, NormArgs,
    QuantiseArgs, RopeArgs,
};

/// An argument block that can be passed.
pub(crate) trait Block {
    /// Its bytes, as the kernel reads them.
    fn bytes(&self) -> Vec<u8>;
}

/// Every field in the order of the struct: a field that is missing here does not compile.
macro_rules! block {
    ($block:ident: $($field:ident)*) => {
        impl Block for $block {
            fn bytes(&self) -> Vec<u8> {
                let Self { $($field),* } = self;
                let bytes = [$($field.to_le_bytes().as_slice()),*].concat();
                assert_eq!(bytes.len(), size_of::<Self>(), "a block without padding");
                bytes
            }
        }
    };
}

block!(FmhaFwdArgs: q k v o lse cu_seqlens_q cu_seqlens_k seqlen_q seqlen_k heads heads_per_kv scale logits_cap
    row_stride_q row_stride_k row_stride_v row_stride_o head_stride_q head_stride_k head_stride_v head_stride_o
    batch_stride_q batch_stride_k batch_stride_v batch_stride_o head_stride_lse batch_stride_lse
    window_left window_right mask_origin o_scale min_seqlen_q reserved);
block!(FmhaPagedArgs: q k v o lse cu_seqlens_q seqlens_k block_table heads heads_per_kv page_rows block_table_stride scale
    logits_cap row_stride_q row_stride_k row_stride_v row_stride_o head_stride_q head_stride_k head_stride_v
    head_stride_o page_stride_k page_stride_v head_stride_lse window_left window_right mask_origin
    min_seqlen_q reserved);
block!(FmhaSplitKvArgs: q k v o_parts lse_parts cu_seqlens_q seqlens_k block_table heads heads_per_kv splits page_rows
    block_table_stride scale logits_cap row_stride_q head_stride_q row_stride_k row_stride_v head_stride_k
    head_stride_v page_stride_k page_stride_v reserved);
block!(FmhaCombineArgs: o lse cu_seqlens_q o_parts lse_parts heads splits head_dim row_stride_o head_stride_o head_stride_lse);
block!(ActivationArgs: out input out_row_stride input_row_stride width reserved);
block!(NormArgs: out input residual_in residual_out weight bias out_row_stride input_row_stride residual_in_row_stride
    residual_out_row_stride width epsilon);
block!(QuantiseArgs: out scales input out_row_stride input_row_stride width reserved);
block!(RopeArgs: out input cos sin positions out_row_stride input_row_stride out_head_stride input_head_stride heads head_dim
    rotary_dim first interleaved batch);
block!(AppendKvArgs: k_cache v_cache k_new v_new cos sin filled cu_added block_table page_stride_k page_stride_v added kv_heads
    head_dim rotary_dim interleaved page_rows block_table_stride row_stride_k row_stride_v head_stride_k head_stride_v
    new_row_stride_k new_row_stride_v new_head_stride_k new_head_stride_v reserved);
