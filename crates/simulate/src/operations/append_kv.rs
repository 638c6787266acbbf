//! New keys, rotated, and values into a cache.

use super::rope::{STYLES, bound, tables};
use super::{Case, Kernel, Number, difference, of_type};
use crate::sample::Sample;
use crate::{Error, Measured, Outcome};
use aiter_kernels::args::AppendKvArgs;
use aiter_kernels::reference::{AppendKv, KvLayout, Rope, RopeStyle, append_kv};
use gfx_sim::Memory;

struct Shape {
    filled: &'static [usize],
    added: &'static [usize],
    kv_heads: usize,
    head_dim: usize,
    /// 0: not rotated.
    rotary_dim: usize,
    /// 0: no pages.
    page_rows: usize,
    /// Whether the new rows have offsets; else every sequence has as many.
    has_offsets: bool,
}

const SHAPES: [Shape; 4] = [
    Shape {
        filled: &[5, 0, 31],
        added: &[2, 3, 1],
        kv_heads: 2,
        head_dim: 64,
        rotary_dim: 64,
        page_rows: 16,
        has_offsets: true,
    },
    Shape {
        filled: &[0, 7],
        added: &[1, 0],
        kv_heads: 1,
        head_dim: 96,
        rotary_dim: 20,
        page_rows: 0,
        has_offsets: true,
    },
    Shape {
        filled: &[15],
        added: &[18],
        kv_heads: 1,
        head_dim: 32,
        rotary_dim: 0,
        page_rows: 16,
        has_offsets: false,
    },
    Shape {
        filled: &[3, 14, 0],
        added: &[4, 4, 4],
        kv_heads: 2,
        head_dim: 64,
        rotary_dim: 64,
        page_rows: 16,
        has_offsets: false,
    },
];
/// Pages of a sequence, and rows of one without pages.
const PAGES: usize = 4;
const CAPACITY: usize = 40;

pub(super) fn check(kernel: &Kernel<'_>) -> Result<Vec<Outcome>, Error> {
    let cases: Vec<(&Shape, RopeStyle)> =
        SHAPES.iter().flat_map(|shape| STYLES.map(|style| (shape, style))).collect();
    let name = |(shape, style): &(&Shape, RopeStyle)| {
        let Shape { filled, added, rotary_dim, page_rows, .. } = shape;
        format!("{filled:?}+{added:?} {style:?} {rotary_dim} pages of {page_rows}")
    };
    Ok(kernel.outcomes(&cases, name, |(shape, style)| {
        of_type!(kernel.instance.data_type, run(kernel, shape, *style))
    }))
}

fn run<T: Number>(kernel: &Kernel<'_>, shape: &Shape, style: RopeStyle) -> Case {
    let &Shape { filled, added, kv_heads, head_dim, rotary_dim, page_rows, has_offsets } = shape;
    let (batch, row) = (filled.len(), kv_heads * head_dim);
    let mut sample = Sample::new(6);
    let is_paged = page_rows > 0;
    let (pages, rows) = if is_paged { (batch * PAGES, page_rows) } else { (batch, CAPACITY) };
    let table: Vec<i32> = sample.order(batch * PAGES).into_iter().map(|page| page as i32).collect();
    let mut cache = || -> Vec<T> { sample.numbers(pages * rows * row, 1.0, 0.0) };
    let (mut k, mut v) = (cache(), cache());
    let total: usize = added.iter().sum();
    let (k_new, v_new): (Vec<T>, Vec<T>) =
        (sample.numbers(total * row, 1.0, 0.0), sample.numbers(total * row, 1.0, 0.0));
    let (cos, sin) = tables(rotary_dim);
    let words = |numbers: &[usize]| numbers.iter().map(|n| *n as i32).collect::<Vec<i32>>();
    let starts: Vec<usize> = (0..=batch).map(|i| added[..i].iter().sum()).collect();
    let most = added.iter().copied().max().unwrap_or(0);

    let mut memory = Memory::new();
    let (k_cache, v_cache) = (memory.read_write("k_cache", &k), memory.read_write("v_cache", &v));
    let is_rotated = rotary_dim > 0;
    let arguments = AppendKvArgs {
        k_cache,
        v_cache,
        k_new: memory.read_only("k_new", &k_new),
        v_new: memory.read_only("v_new", &v_new),
        cos: if is_rotated { memory.read_only("cos", &cos) } else { 0 },
        sin: if is_rotated { memory.read_only("sin", &sin) } else { 0 },
        filled: memory.read_only("filled", &words(filled)),
        cu_added: if has_offsets { memory.read_only("cu_added", &words(&starts)) } else { 0 },
        block_table: if is_paged { memory.read_only("block_table", &table) } else { 0 },
        page_stride_k: (rows * row) as i64,
        page_stride_v: (rows * row) as i64,
        added: most as i32,
        kv_heads: kv_heads as i32,
        head_dim: head_dim as i32,
        rotary_dim: rotary_dim as i32,
        interleaved: i32::from(style == RopeStyle::Interleaved),
        page_rows: page_rows as i32,
        block_table_stride: PAGES as i32,
        row_stride_k: row as i32,
        row_stride_v: row as i32,
        head_stride_k: head_dim as i32,
        head_stride_v: head_dim as i32,
        new_row_stride_k: row as i32,
        new_row_stride_v: row as i32,
        new_head_stride_k: head_dim as i32,
        new_head_stride_v: head_dim as i32,
        reserved: 0,
    };
    let counts = kernel.launch(&mut memory, [most as u32, batch as u32, 1], &arguments)?;

    let rotation = Rope { cos: &cos, sin: &sin, rotary_dim, style, nope_first: false };
    let new = AppendKv {
        filled: filled.to_vec(),
        added: added.to_vec(),
        kv_heads,
        head_dim,
        k_new: &k_new,
        v_new: &v_new,
        rope: is_rotated.then_some(rotation),
    };
    let layout = match is_paged {
        true => KvLayout::Paged { page_rows, block_table: &table, block_table_stride: PAGES },
        false => KvLayout::Dense { capacity: CAPACITY },
    };
    append_kv(&new, &layout, &mut k, &mut v).map_err(|error| error.to_string())?;
    let numbers = |tensor: &[T]| tensor.iter().map(|x| x.to_f32()).collect::<Vec<f32>>();
    let [found_k, found_v] = [k_cache, v_cache].map(|address| numbers(&memory.numbers::<T>(address)));
    // Both round: a step of the type apart at most. Everything beside the new rows is as it was.
    let k_bound = 2.0 * bound(kernel.instance.data_type);
    Ok((
        vec![
            Measured { what: "k", error: difference(&found_k, &numbers(&k)), bound: k_bound },
            Measured { what: "v", error: difference(&found_v, &numbers(&v)), bound: 0.0 },
        ],
        counts,
    ))
}
