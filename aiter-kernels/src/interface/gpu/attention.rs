use super::plan::{KernelCall, Plan, Scratch};
use crate::args::{DevicePtr, FmhaCombineArgs, FmhaFwdArgs, FmhaPagedArgs, FmhaSplitKvArgs};
use crate::catalogue::{DataType, Operation};
use crate::dispatch::{self, AttentionPlan, AttentionProblem, Device, Launch, Layout};
use crate::interface::attention::{Attention, Sequences, Sizes};
use crate::interface::check::word;
use crate::interface::{ElementType, Error, Tensor};
use crate::reference::{Mask, Origin};

/// The launches of attention. `scratch` is where `Plan::scratch` bytes lie; any address will do to learn how many.
pub(crate) fn attention(
    call: &Attention<'_>,
    sizes: &Sizes,
    device: Device,
    scratch: DevicePtr,
) -> Result<Plan, Error> {
    let total = call.q.shape[..call.q.shape.len() - 2].iter().product::<usize>();
    // Where the longest sequence is left out, all are.
    if total == 0 || sizes.batch == 0 || sizes.heads == 0 || sizes.max_queries <= sizes.min_queries {
        return Ok(Plan::default());
    }
    let problem = problem(call, sizes, device)?;
    let mut scratch = Scratch::at(scratch);
    let lse = match &call.lse {
        Some(lse) => lse.0.memory.address(),
        // Kernels always write it.
        None => scratch.floats(total as u64 * sizes.heads as u64),
    };
    let calls = match dispatch::attention(device, &problem)? {
        AttentionPlan::Single(launch) if launch.instance.operation == Operation::FmhaPaged => {
            vec![KernelCall::new(launch, &paged(call, sizes, lse)?)]
        }
        AttentionPlan::Single(launch) => vec![KernelCall::new(launch, &forward(call, sizes, lse)?)],
        AttentionPlan::Split { splits, parts, combine, o_parts } => {
            let outputs =
                (scratch.floats(o_parts), scratch.floats(o_parts / u64::from(problem.head_dim)), lse);
            split(call, sizes, splits, [parts, combine], outputs)?
        }
    };
    Ok(Plan { calls, scratch: scratch.bytes() })
}

fn problem(call: &Attention, sizes: &Sizes, device: Device) -> Result<AttentionProblem, Error> {
    let count = |argument, what, value: usize| {
        word(argument, what, i64::try_from(value).unwrap_or(i64::MAX)).map(i32::unsigned_abs)
    };
    let page_rows = sizes.page_rows.map(|rows| count("k", "page_rows", rows)).transpose()?;
    Ok(AttentionProblem {
        data_type: data_type(call, sizes.element_type, device)?,
        head_dim: count("q", "head_dim", sizes.head_dim)?,
        heads: count("q", "heads", sizes.heads)?,
        kv_heads: count("k", "kv_heads", sizes.kv_heads)?,
        batch: count("q", "batch", sizes.batch)?,
        max_queries: count("q", "the longest sequence", sizes.max_queries)?,
        max_keys: count("k", "the longest sequence", sizes.max_keys)?,
        layout: match (&call.sequences, page_rows) {
            (_, Some(page_rows)) => Layout::Paged { page_rows },
            (Sequences::Dense, None) => Layout::Dense,
            (_, None) => Layout::Varlen,
        },
        window: call.mask(sizes),
        soft_cap: call.options.logits_soft_cap > 0.0,
    })
}

fn data_type(call: &Attention, element_type: ElementType, device: Device) -> Result<DataType, Error> {
    match element_type {
        ElementType::Bf16 => Ok(DataType::Bf16),
        ElementType::F16 => Ok(DataType::F16),
        ElementType::E4m3 if device.target.wmma() != Some(gfx::Wmma::Gfx12) => Err(Error::Unsupported {
            argument: "q",
            reason: format!(
                "{} has no matrix instructions for e4m3; gfx1200 and gfx1201 have",
                device.target
            ),
        }),
        ElementType::E4m3 if call.out.0.element_type != ElementType::Bf16 => Err(Error::Unsupported {
            argument: "out",
            reason: format!("attention of e4m3 makes bf16 on a GPU, not {}", call.out.0.element_type.name()),
        }),
        ElementType::E4m3 => Ok(DataType::E4m3),
        other => Err(Error::Unsupported {
            argument: "q",
            reason: format!("there is no attention kernel for {} on a GPU", other.name()),
        }),
    }
}

/// From one element of dimension `dim` to the next.
fn stride(argument: &'static str, tensor: &Tensor, dim: usize) -> Result<i32, Error> {
    word(argument, "a stride", tensor.strides[dim])
}

fn whole(argument: &'static str, value: usize) -> Result<i32, Error> {
    word(argument, "a size", i64::try_from(value).unwrap_or(i64::MAX))
}

/// Left, right and origin, as kernels take them.
fn window(mask: Mask) -> Result<[i32; 3], Error> {
    let Mask::Window { left, right, origin } = mask else { return Ok([-1, -1, 1]) };
    let side = |side: Option<usize>| side.map_or(Ok(-1), |keys| whole("window_size", keys));
    Ok([side(left)?, side(right)?, if origin == Origin::TopLeft { 1 } else { 2 }])
}

fn forward(call: &Attention, sizes: &Sizes, lse: DevicePtr) -> Result<FmhaFwdArgs, Error> {
    let Attention { q, k, v, out, .. } = call;
    let out = &out.0;
    let [window_left, window_right, mask_origin] = window(call.mask(sizes))?;
    let mut args = FmhaFwdArgs {
        q: q.memory.address(),
        k: k.memory.address(),
        v: v.memory.address(),
        o: out.memory.address(),
        lse,
        heads: whole("q", sizes.heads)?,
        heads_per_kv: whole("q", sizes.heads / sizes.kv_heads)?,
        scale: call.scale(sizes),
        logits_cap: call.options.logits_soft_cap,
        window_left,
        window_right,
        mask_origin,
        o_scale: call.options.descale[2],
        ..FmhaFwdArgs::default()
    };
    let row = if let Sequences::Varlen { cu_seqlens_q, cu_seqlens_k, .. } = &call.sequences {
        args.cu_seqlens_q = cu_seqlens_q.memory.address();
        args.cu_seqlens_k = cu_seqlens_k.memory.address();
        args.head_stride_lse = lse_stride(call, q.shape[0], 0)?;
        args.min_seqlen_q = whole("min_seqlen_q", sizes.min_queries)?;
        0
    } else {
        args.seqlen_q = whole("q", sizes.max_queries)?;
        args.seqlen_k = whole("k", sizes.max_keys)?;
        args.batch_stride_q = stride("q", q, 0)?;
        args.batch_stride_k = stride("k", k, 0)?;
        args.batch_stride_v = stride("v", v, 0)?;
        args.batch_stride_o = stride("out", out, 0)?;
        args.head_stride_lse = lse_stride(call, sizes.max_queries, 1)?;
        args.batch_stride_lse = lse_stride(call, sizes.max_queries * sizes.heads, 0)?;
        1
    };
    args.row_stride_q = stride("q", q, row)?;
    args.row_stride_k = stride("k", k, row)?;
    args.row_stride_v = stride("v", v, row)?;
    args.row_stride_o = stride("out", out, row)?;
    args.head_stride_q = stride("q", q, row + 1)?;
    args.head_stride_k = stride("k", k, row + 1)?;
    args.head_stride_v = stride("v", v, row + 1)?;
    args.head_stride_o = stride("out", out, row + 1)?;
    Ok(args)
}

/// The caller's stride, or that of the scratch memory, which has no gaps.
fn lse_stride(call: &Attention, own: usize, dim: usize) -> Result<i32, Error> {
    call.lse.as_ref().map_or_else(|| whole("lse", own), |lse| stride("lse", &lse.0, dim))
}

fn paged(call: &Attention, sizes: &Sizes, lse: DevicePtr) -> Result<FmhaPagedArgs, Error> {
    let Attention { q, k, v, out, .. } = call;
    let out = &out.0;
    let [window_left, window_right, mask_origin] = window(call.mask(sizes))?;
    let Sequences::Paged { cu_seqlens_q, seqlens_k, block_table, .. } = &call.sequences else {
        return Err(not_paged());
    };
    Ok(FmhaPagedArgs {
        q: q.memory.address(),
        k: k.memory.address(),
        v: v.memory.address(),
        o: out.memory.address(),
        lse,
        cu_seqlens_q: cu_seqlens_q.memory.address(),
        seqlens_k: seqlens_k.memory.address(),
        block_table: block_table.memory.address(),
        heads: whole("q", sizes.heads)?,
        heads_per_kv: whole("q", sizes.heads / sizes.kv_heads)?,
        page_rows: whole("k", k.shape[1])?,
        block_table_stride: stride("block_table", block_table, 0)?,
        scale: call.scale(sizes),
        logits_cap: call.options.logits_soft_cap,
        row_stride_q: stride("q", q, 0)?,
        row_stride_k: stride("k", k, 1)?,
        row_stride_v: stride("v", v, 1)?,
        row_stride_o: stride("out", out, 0)?,
        head_stride_q: stride("q", q, 1)?,
        head_stride_k: stride("k", k, 2)?,
        head_stride_v: stride("v", v, 2)?,
        head_stride_o: stride("out", out, 1)?,
        page_stride_k: stride("k", k, 0)?,
        page_stride_v: stride("v", v, 0)?,
        head_stride_lse: lse_stride(call, q.shape[0], 0)?,
        window_left,
        window_right,
        mask_origin,
        min_seqlen_q: whole("min_seqlen_q", sizes.min_queries)?,
        reserved: 0,
    })
}

fn split(
    call: &Attention,
    sizes: &Sizes,
    splits: u32,
    [parts, combine]: [Launch; 2],
    (o_parts, lse_parts, lse): (DevicePtr, DevicePtr, DevicePtr),
) -> Result<Vec<KernelCall>, Error> {
    let Attention { q, k, v, out, .. } = call;
    let Sequences::Paged { cu_seqlens_q, seqlens_k, block_table, .. } = &call.sequences else {
        return Err(not_paged());
    };
    let splits = whole("k", splits as usize)?;
    let heads = whole("q", sizes.heads)?;
    let arguments = FmhaSplitKvArgs {
        q: q.memory.address(),
        k: k.memory.address(),
        v: v.memory.address(),
        o_parts,
        lse_parts,
        cu_seqlens_q: cu_seqlens_q.memory.address(),
        seqlens_k: seqlens_k.memory.address(),
        block_table: block_table.memory.address(),
        heads,
        heads_per_kv: whole("q", sizes.heads / sizes.kv_heads)?,
        splits,
        page_rows: whole("k", k.shape[1])?,
        block_table_stride: stride("block_table", block_table, 0)?,
        scale: call.scale(sizes),
        logits_cap: call.options.logits_soft_cap,
        row_stride_q: stride("q", q, 0)?,
        head_stride_q: stride("q", q, 1)?,
        row_stride_k: stride("k", k, 1)?,
        row_stride_v: stride("v", v, 1)?,
        head_stride_k: stride("k", k, 2)?,
        head_stride_v: stride("v", v, 2)?,
        page_stride_k: stride("k", k, 0)?,
        page_stride_v: stride("v", v, 0)?,
        ..FmhaSplitKvArgs::default()
    };
    let combined = FmhaCombineArgs {
        o: out.0.memory.address(),
        lse,
        cu_seqlens_q: arguments.cu_seqlens_q,
        o_parts,
        lse_parts,
        heads,
        splits,
        head_dim: whole("q", sizes.head_dim)?,
        row_stride_o: stride("out", &out.0, 0)?,
        head_stride_o: stride("out", &out.0, 1)?,
        head_stride_lse: lse_stride(call, q.shape[0], 0)?,
    };
    Ok(vec![KernelCall::new(parts, &arguments), KernelCall::new(combine, &combined)])
}

fn not_paged() -> Error {
    Error::Unsupported { argument: "block_table", reason: "this kernel takes pages".into() }
}
