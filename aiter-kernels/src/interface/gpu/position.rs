use super::plan::{KernelCall, Plan};
use super::row_wise::{data_type, launch};
use crate::args::{AppendKvArgs, RopeArgs};
use crate::catalogue::Operation;
use crate::dispatch::{self, Device};
use crate::interface::append_kv::{AppendKv, AppendSizes};
use crate::interface::check::{Rows, tokens, word};
use crate::interface::rope::{Rope, RopeStyle, RopeTables};
use crate::interface::{Error, Tensor};

/// The launch of a rotary embedding.
pub(crate) fn rope(call: &Rope<'_>, device: Device) -> Result<Plan, Error> {
    let Rope { out, input, tables, positions } = call;
    let out = &out.0;
    let (out_rows, input_rows) = (tokens("out", out)?, tokens("input", input)?);
    let [heads, head_dim] = [input.shape[2], input.shape[3]];
    let row = Rows { width: heads.saturating_mul(head_dim), ..out_rows };
    let Some(launch) = launch(Operation::Rope, input.element_type, row, device)? else {
        return Ok(Plan::default());
    };
    let tables = Tables::of(tables)?;
    let head_dim = whole("input", head_dim)?;
    let arguments = RopeArgs {
        out: out.memory.address(),
        input: input.memory.address(),
        cos: tables.cos,
        sin: tables.sin,
        positions: positions.as_ref().map_or(0, |positions| positions.memory.address()),
        out_row_stride: out_rows.stride,
        input_row_stride: input_rows.stride,
        out_head_stride: stride("out", out, 2)?,
        input_head_stride: stride("input", input, 2)?,
        heads: whole("input", heads)?,
        head_dim,
        rotary_dim: tables.rotary_dim,
        first: if call.tables.nope_first { head_dim - tables.rotary_dim } else { 0 },
        interleaved: tables.interleaved,
        batch: whole("input", input.shape[1])?,
    };
    Ok(Plan { calls: vec![KernelCall::new(launch, &arguments)], scratch: 0 })
}

/// The launch that appends to a cache.
pub(crate) fn append_kv(call: &AppendKv<'_>, sizes: &AppendSizes, device: Device) -> Result<Plan, Error> {
    let AppendKv { k_cache, v_cache, k, v, cache_seqlens, block_table, rope } = call;
    let (k_cache, v_cache) = (&k_cache.0, &v_cache.0);
    if k.len() == 0 {
        return Ok(Plan::default());
    }
    let (k_rows, v_rows) = (tokens("k", k)?, tokens("v", v)?);
    let tables = rope.as_ref().map(Tables::of).transpose()?.unwrap_or_default();
    let added = whole("k", sizes.added)?;
    let batch = whole("k", sizes.batch)?;
    let data_type = data_type(k.element_type);
    let launch = dispatch::append_kv(device, data_type, added.unsigned_abs(), batch.unsigned_abs())?;
    let arguments = AppendKvArgs {
        k_cache: k_cache.memory.address(),
        v_cache: v_cache.memory.address(),
        k_new: k.memory.address(),
        v_new: v.memory.address(),
        cos: tables.cos,
        sin: tables.sin,
        filled: cache_seqlens.memory.address(),
        cu_added: 0,
        block_table: block_table.as_ref().map_or(0, |table| table.memory.address()),
        page_stride_k: k_cache.strides[0],
        page_stride_v: v_cache.strides[0],
        added,
        kv_heads: whole("k", sizes.kv_heads)?,
        head_dim: whole("k", sizes.head_dim)?,
        rotary_dim: tables.rotary_dim,
        interleaved: tables.interleaved,
        page_rows: whole("k_cache", k_cache.shape[1])?,
        block_table_stride: block_table.as_ref().map_or(Ok(0), |table| stride("block_table", table, 0))?,
        row_stride_k: stride("k_cache", k_cache, 1)?,
        row_stride_v: stride("v_cache", v_cache, 1)?,
        head_stride_k: stride("k_cache", k_cache, 2)?,
        head_stride_v: stride("v_cache", v_cache, 2)?,
        new_row_stride_k: word("k", "a stride", k_rows.stride)?,
        new_row_stride_v: word("v", "a stride", v_rows.stride)?,
        new_head_stride_k: stride("k", k, 2)?,
        new_head_stride_v: stride("v", v, 2)?,
        reserved: 0,
    };
    Ok(Plan { calls: vec![KernelCall::new(launch, &arguments)], scratch: 0 })
}

/// The tables as kernels take them; nothing rotates without.
#[derive(Default)]
struct Tables {
    cos: u64,
    sin: u64,
    rotary_dim: i32,
    interleaved: i32,
}

impl Tables {
    fn of(tables: &RopeTables) -> Result<Self, Error> {
        let RopeTables { cos, sin, style, .. } = tables;
        Ok(Self {
            cos: cos.memory.address(),
            sin: sin.memory.address(),
            rotary_dim: whole("cos", cos.shape.last().map_or(0, |half| half.saturating_mul(2)))?,
            interleaved: i32::from(*style == RopeStyle::Interleaved),
        })
    }
}

fn stride(argument: &'static str, tensor: &Tensor, dim: usize) -> Result<i32, Error> {
    word(argument, "a stride", tensor.strides[dim])
}

fn whole(argument: &'static str, value: usize) -> Result<i32, Error> {
    word(argument, "a size", i64::try_from(value).unwrap_or(i64::MAX))
}
