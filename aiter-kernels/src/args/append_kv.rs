use super::DevicePtr;

/// Arguments of appendkv (`native/position/append_kv_args.h`): new keys and values go behind those that a sequence has in its cache.
///
/// The caches are pages `[page, row, kv head, head dim]` under a block table, or, without one, `[sequence, row, kv head, head dim]`. The new
/// rows are `[new row of all sequences, kv head, head dim]`. Strides are in elements; the head dim is contiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct AppendKvArgs {
    /// The cache of keys.
    pub k_cache: DevicePtr,
    /// The cache of values.
    pub v_cache: DevicePtr,
    /// The new keys.
    pub k_new: DevicePtr,
    /// The new values.
    pub v_new: DevicePtr,
    /// Cosines, f32, `[position, rotary_dim / 2]`; null: keys are not rotated.
    pub cos: DevicePtr,
    /// Sines, f32, `[position, rotary_dim / 2]`.
    pub sin: DevicePtr,
    /// Keys that each sequence has, i32, `[batch]`: the position of its first new one.
    pub filled: DevicePtr,
    /// Batch + 1 offsets of the new rows, i32; null: `added` rows each.
    pub cu_added: DevicePtr,
    /// Pages of each sequence, i32, `[batch, block_table_stride]`; null: no pages.
    pub block_table: DevicePtr,
    /// From one page of keys, or without pages from one sequence, to the next.
    pub page_stride_k: i64,
    /// From one page of values, or without pages from one sequence, to the next.
    pub page_stride_v: i64,
    /// New rows of each sequence; not read with `cu_added`.
    pub added: i32,
    /// Heads of k and v.
    pub kv_heads: i32,
    /// Elements of a head.
    pub head_dim: i32,
    /// Elements of a head that are rotated, the first ones; even.
    pub rotary_dim: i32,
    /// 0: elements `i` and `i + rotary_dim / 2` belong together (neox); 1: elements `2 i` and `2 i + 1`.
    pub interleaved: i32,
    /// Rows of a page; not read without pages.
    pub page_rows: i32,
    /// From one row of the block table to the next.
    pub block_table_stride: i32,
    /// From one row of the cache of keys to the next.
    pub row_stride_k: i32,
    /// From one row of the cache of values to the next.
    pub row_stride_v: i32,
    /// From one head of the cache of keys to the next.
    pub head_stride_k: i32,
    /// From one head of the cache of values to the next.
    pub head_stride_v: i32,
    /// From one new row of keys to the next.
    pub new_row_stride_k: i32,
    /// From one new row of values to the next.
    pub new_row_stride_v: i32,
    /// From one head of the new keys to the next.
    pub new_head_stride_k: i32,
    /// From one head of the new values to the next.
    pub new_head_stride_v: i32,
    /// Zero.
    pub reserved: i32,
}

const _: () = assert!(size_of::<AppendKvArgs>() == 152);
