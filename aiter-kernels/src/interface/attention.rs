use super::check::{aligned, dims, element_type, one_place, reachable, shape};
use super::tensor_io::{Stored, with_float};
use super::{ElementType, Error, Place, Tensor, TensorMut};
use crate::reference::{self, KvLayout, Mask, Origin};

/// How the sequences of a batch lie in q, k and v.
#[derive(Clone)]
pub enum Sequences<'a> {
    /// q is `[batch, seqlen_q, heads, head dim]`; k and v are `[batch, seqlen_k, kv heads, head dim]`; lse is `[batch, heads, seqlen_q]`.
    Dense,
    /// q is `[total_q, heads, head dim]`; k and v are `[total_k, kv heads, head dim]`; lse is `[heads, total_q]`.
    Varlen {
        /// Row offsets of the queries, i32 `[batch + 1]`.
        cu_seqlens_q: Tensor<'a>,
        /// Row offsets of the keys, i32 `[batch + 1]`.
        cu_seqlens_k: Tensor<'a>,
        /// What is known of the lengths without reading them.
        limits: Limits,
    },
    /// q and lse as in `Varlen`; k and v are `[pages, page rows, kv heads, head dim]`.
    Paged {
        /// Row offsets of the queries, i32 `[batch + 1]`.
        cu_seqlens_q: Tensor<'a>,
        /// Keys of each sequence, i32 `[batch]`.
        seqlens_k: Tensor<'a>,
        /// Pages of each sequence, i32 `[batch, pages of a sequence]`.
        block_table: Tensor<'a>,
        /// What is known of the lengths without reading them.
        limits: Limits,
    },
}

/// What a caller says of the lengths of sequences, which may lie on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The longest sequence's queries.
    pub max_seqlen_q: usize,
    /// The longest sequence's keys.
    pub max_seqlen_k: usize,
    /// Sequences of as many queries or fewer are left out: their rows of out and lse stay as they are.
    pub min_seqlen_q: usize,
}

/// What attention computes beside the tensors; the names and the meaning are upstream's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionOptions {
    /// Factor of the scores; `None`: `1 / sqrt(head dim)`.
    pub softmax_scale: Option<f32>,
    /// Bound of the scores; 0: none.
    pub logits_soft_cap: f32,
    /// No key after the diagonal.
    pub causal: bool,
    /// Keys to the left and to the right of the diagonal that a query sees; negative: all. `causal` makes the right one 0.
    pub window_size: [i32; 2],
    /// Where the diagonal starts. Upstream's is at the bottom right.
    pub origin: Origin,
    /// Must be 0: this crate has no dropout.
    pub dropout_p: f32,
    /// Factors of q, k and v when these are 8-bit floats.
    pub descale: [f32; 3],
}

impl Default for AttentionOptions {
    fn default() -> Self {
        Self {
            softmax_scale: None,
            logits_soft_cap: 0.0,
            causal: false,
            window_size: [-1, -1],
            origin: Origin::BottomRight,
            dropout_p: 0.0,
            descale: [1.0; 3],
        }
    }
}

impl AttentionOptions {
    /// Which keys a query sees.
    pub fn mask(&self) -> Mask {
        let [left, right] = self.window_size;
        let left = usize::try_from(left).ok();
        let right = if self.causal { Some(0) } else { usize::try_from(right).ok() };
        match (left, right) {
            (None, None) => Mask::None,
            (left, right) => Mask::Window { left, right, origin: self.origin },
        }
    }

    fn check(&self) -> Result<(), Error> {
        let value = |argument, expected: &str, found: f32| Error::Value {
            argument,
            expected: expected.to_owned(),
            found: found.to_string(),
        };
        if self.dropout_p != 0.0 {
            let reason = format!("there is no dropout here (found {}); call with 0.0", self.dropout_p);
            return Err(Error::Unsupported { argument: "dropout_p", reason });
        }
        if let Some(scale) = self.softmax_scale.filter(|scale| !scale.is_finite()) {
            return Err(value("softmax_scale", "a finite number", scale));
        }
        let cap = self.logits_soft_cap;
        if !cap.is_finite() || cap < 0.0 {
            return Err(value("logits_soft_cap", "0 or a positive number", cap));
        }
        for (argument, descale) in ["q_descale", "k_descale", "v_descale"].into_iter().zip(self.descale) {
            if !descale.is_finite() {
                return Err(value(argument, "a finite number", descale));
            }
        }
        Ok(())
    }
}

/// `out = softmax(q k^T) v`, with GQA and MQA where k and v have fewer heads.
#[derive(Clone)]
pub struct Attention<'a> {
    /// Queries.
    pub q: Tensor<'a>,
    /// Keys.
    pub k: Tensor<'a>,
    /// Values.
    pub v: Tensor<'a>,
    /// As q; of the type of q, or bf16 when q is of 8-bit floats.
    pub out: TensorMut<'a>,
    /// Natural logarithm of the softmax denominator, f32.
    pub lse: Option<TensorMut<'a>>,
    /// How the sequences lie.
    pub sequences: Sequences<'a>,
    /// Everything else.
    pub options: AttentionOptions,
}

/// The sizes of a call that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) place: Place,
    pub(super) element_type: ElementType,
    pub(super) batch: usize,
    pub(super) heads: usize,
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    /// Rows of q of the longest sequence.
    pub(super) max_queries: usize,
    pub(super) max_keys: usize,
    /// Sequences of as many rows of q or fewer are left out; 0 when dense.
    pub(super) min_queries: usize,
    /// Rows of a page.
    pub(super) page_rows: Option<usize>,
}

const VARLEN_Q: &str = "[total_q, heads, head_dim]";
const DENSE_Q: &str = "[batch, seqlen_q, heads, head_dim]";

impl Attention<'_> {
    /// Every rule that does not depend on the content of a tensor.
    pub(super) fn check(&self) -> Result<Sizes, Error> {
        use ElementType::{Bf16, E4m3, F16, F32};
        let Self { q, k, v, out, lse, sequences, options } = self;
        options.check()?;
        let mut tensors = vec![("q", q), ("k", k), ("v", v), ("out", &out.0)];
        tensors.extend(lse.iter().map(|lse| ("lse", &lse.0)));
        tensors.extend(sequences.tensors());
        tensors.iter().try_for_each(|(argument, tensor)| tensor.check(argument))?;
        out.check("out")?;
        lse.iter().try_for_each(|lse| lse.check("lse"))?;
        let place = one_place(&tensors)?;
        let own = element_type("q", q, &[Bf16, F16, F32, E4m3])?;
        element_type("k", k, &[own])?;
        element_type("v", v, &[own])?;
        element_type(
            "out",
            &out.0,
            if own == E4m3 { &[Bf16, F16, F32] } else { std::slice::from_ref(&own) },
        )?;
        if let Some(lse) = lse {
            element_type("lse", &lse.0, &[F32])?;
        }
        for (argument, tensor) in sequences.tensors() {
            element_type(argument, tensor, &[ElementType::I32])?;
        }
        let sizes = self.shapes(place, own)?;
        if sizes.max_queries == 0 && q.len() > 0 {
            let expected = "at least 1 where q has rows".to_owned();
            return Err(Error::Value { argument: "max_seqlen_q", expected, found: "0".into() });
        }
        if sizes.kv_heads == 0 || !sizes.heads.is_multiple_of(sizes.kv_heads) {
            let expected = format!("as many heads as divide the {} of q", sizes.heads);
            return Err(Error::Value { argument: "k", expected, found: sizes.kv_heads.to_string() });
        }
        shape("v", v, &k.shape)?;
        shape("out", &out.0, &q.shape)?;
        for (argument, tensor) in [("q", q), ("k", k), ("v", v), ("out", &out.0)] {
            aligned(argument, tensor)?;
            if place != Place::Host {
                reachable(argument, tensor)?;
            }
        }
        Ok(sizes)
    }

    fn shapes(&self, place: Place, element_type: ElementType) -> Result<Sizes, Error> {
        let Self { q, k, lse, .. } = self;
        let lse = lse.as_ref().map(|lse| &lse.0);
        let sized = |heads, kv_heads, head_dim, limits: Limits| Sizes {
            place,
            element_type,
            batch: 0,
            heads,
            kv_heads,
            head_dim,
            max_queries: limits.max_seqlen_q,
            max_keys: limits.max_seqlen_k,
            min_queries: limits.min_seqlen_q,
            page_rows: None,
        };
        if let Sequences::Dense = self.sequences {
            let [batch, max_queries, heads, head_dim] = dims("q", q, DENSE_Q)?;
            let [_, max_keys, kv_heads, _] = dims("k", k, "[batch, seqlen_k, kv_heads, head_dim]")?;
            shape("k", k, &[batch, max_keys, kv_heads, head_dim])?;
            lse.map_or(Ok(()), |lse| shape("lse", lse, &[batch, heads, max_queries]))?;
            let limits = Limits { max_seqlen_q: max_queries, max_seqlen_k: max_keys, min_seqlen_q: 0 };
            return Ok(Sizes { batch, ..sized(heads, kv_heads, head_dim, limits) });
        }
        let [total, heads, head_dim] = dims("q", q, VARLEN_Q)?;
        lse.map_or(Ok(()), |lse| shape("lse", lse, &[heads, total]))?;
        match &self.sequences {
            Sequences::Dense => {
                Err(Error::Shape { argument: "q", expected: DENSE_Q.into(), found: q.shape.clone() })
            }
            Sequences::Varlen { cu_seqlens_q, cu_seqlens_k, limits } => {
                let [keys, kv_heads, _] = dims("k", k, "[total_k, kv_heads, head_dim]")?;
                shape("k", k, &[keys, kv_heads, head_dim])?;
                let batch = sequences_of(cu_seqlens_q)?;
                shape("cu_seqlens_k", cu_seqlens_k, &[batch + 1])?;
                Ok(Sizes { batch, ..sized(heads, kv_heads, head_dim, *limits) })
            }
            Sequences::Paged { cu_seqlens_q, seqlens_k, block_table, limits } => {
                let [pages, page_rows, kv_heads, _] = dims("k", k, "[pages, page_rows, kv_heads, head_dim]")?;
                shape("k", k, &[pages, page_rows, kv_heads, head_dim])?;
                let batch = sequences_of(cu_seqlens_q)?;
                shape("seqlens_k", seqlens_k, &[batch])?;
                let [_, columns] = dims("block_table", block_table, "[batch, pages of a sequence]")?;
                shape("block_table", block_table, &[batch, columns])?;
                let max_seqlen_k = limits.max_seqlen_k;
                if columns.saturating_mul(page_rows) < max_seqlen_k {
                    let expected = format!("[{batch}, pages for max_seqlen_k = {max_seqlen_k} keys]");
                    let found = block_table.shape.clone();
                    return Err(Error::Shape { argument: "block_table", expected, found });
                }
                let page_rows = Some(page_rows);
                Ok(Sizes { batch, page_rows, ..sized(heads, kv_heads, head_dim, *limits) })
            }
        }
    }

    /// Which keys a query sees. A side of the window that reaches over all keys is an open one: it may be any number, and kernels add to it.
    pub(super) fn mask(&self, sizes: &Sizes) -> Mask {
        let most = sizes.max_queries.max(sizes.max_keys);
        let side = |side: Option<usize>| side.filter(|&keys| keys < most);
        match self.options.mask() {
            Mask::Window { left, right, origin } => match (side(left), side(right)) {
                (None, None) => Mask::None,
                (left, right) => Mask::Window { left, right, origin },
            },
            Mask::None => Mask::None,
        }
    }

    /// `1 / sqrt(head dim)` where nothing else was said, and the factors of 8-bit floats.
    pub(super) fn scale(&self, sizes: &Sizes) -> f32 {
        let scale = self.options.softmax_scale.unwrap_or_else(|| (sizes.head_dim as f32).sqrt().recip());
        scale * self.options.descale[0] * self.options.descale[1]
    }

    /// On the host: the lengths, held to the tensors.
    pub(super) fn check_lengths(&self, sizes: &Sizes) -> Result<(), Error> {
        self.sequences.lengths(sizes, &self.q, &self.k).map(drop)
    }

    /// Computes on the host.
    pub(super) fn compute(&self, sizes: &Sizes) -> Result<(), Error> {
        with_float!("q", self.q, T => self.compute_as::<T>(sizes))
    }

    fn compute_as<T: Stored>(&self, sizes: &Sizes) -> Result<(), Error> {
        let &Sizes { heads, kv_heads, head_dim, max_queries, .. } = sizes;
        let mut sequences = self.sequences.lengths(sizes, &self.q, &self.k)?;
        if sizes.page_rows.is_some() {
            // As on a GPU, nobody looks at the pages of a sequence without anything to compute.
            let left_out = sequences.iter_mut().filter(|sequence| sequence.queries <= sizes.min_queries);
            left_out.for_each(|sequence| sequence.keys = 0);
        }
        let rows: usize = sequences.iter().map(|s| s.queries).sum();
        let (block_table, mut layout) = (self.sequences.block_table(), KvLayout::Packed);
        if let Some((page_rows, (block_table, block_table_stride))) =
            sizes.page_rows.zip(block_table.as_ref())
        {
            layout = KvLayout::Paged { page_rows, block_table, block_table_stride: *block_table_stride };
        }
        let problem = reference::Attention {
            sequences,
            heads,
            kv_heads,
            head_dim,
            scale: self.scale(sizes),
            logits_soft_cap: self.options.logits_soft_cap,
            mask: self.mask(sizes),
        };
        // Rows behind the last sequence are neither read nor written.
        let is_dense = matches!(self.sequences, Sequences::Dense);
        let q = if is_dense { self.q.clone() } else { self.q.narrowed(0, 0..rows) };
        let (k, v) = (self.k.read::<T>(), self.v.read::<T>());
        let (k, v) = match layout {
            KvLayout::Packed => {
                let used = problem.sequences.iter().map(|s| s.keys).sum::<usize>() * kv_heads * head_dim;
                (&k[..used], &v[..used])
            }
            _ => (&k[..], &v[..]),
        };
        let mut found = reference::attention_over(&problem, &q.read::<T>(), k, v, &layout)?;
        let descale = self.options.descale[2];
        if descale != 1.0 {
            found.o.iter_mut().for_each(|o| *o *= descale);
        }
        if !is_dense {
            return self.write_sequences(sizes, &problem.sequences, &found);
        }
        self.out.write(&found.o)?;
        let Some(lse) = &self.lse else { return Ok(()) };
        // The reference's is [heads, batch * seqlen_q].
        let order = (0..sizes.batch * heads * max_queries).map(|i| {
            let (batch, head, row) = (i / (heads * max_queries), i / max_queries % heads, i % max_queries);
            found.lse[head * rows + batch * max_queries + row]
        });
        lse.write(&order.collect::<Vec<_>>())
    }

    /// The rows of the sequences that are not left out.
    fn write_sequences(
        &self,
        sizes: &Sizes,
        sequences: &[reference::Sequence],
        found: &reference::AttentionOutput,
    ) -> Result<(), Error> {
        let (width, total) = (sizes.heads * sizes.head_dim, found.lse.len() / sizes.heads.max(1));
        let mut first = 0;
        for sequence in sequences {
            let rows = first..first + sequence.queries;
            first = rows.end;
            if sequence.queries <= sizes.min_queries {
                continue;
            }
            let out = TensorMut(self.out.0.narrowed(0, rows.clone()));
            out.write(&found.o[rows.start * width..rows.end * width])?;
            if let Some(lse) = &self.lse {
                let by_head = found.lse.chunks(total.max(1)).flat_map(|head| &head[rows.clone()]);
                TensorMut(lse.0.narrowed(1, rows.clone())).write(&by_head.copied().collect::<Vec<_>>())?;
            }
        }
        Ok(())
    }
}

fn sequences_of(cu_seqlens_q: &Tensor) -> Result<usize, Error> {
    let [offsets] = dims("cu_seqlens_q", cu_seqlens_q, "[batch + 1]")?;
    offsets.checked_sub(1).ok_or_else(|| Error::Shape {
        argument: "cu_seqlens_q",
        expected: "[batch + 1]".into(),
        found: vec![0],
    })
}

impl Sequences<'_> {
    fn tensors(&self) -> Vec<(&'static str, &Tensor<'_>)> {
        match self {
            Self::Dense => Vec::new(),
            Self::Varlen { cu_seqlens_q, cu_seqlens_k, .. } => {
                vec![("cu_seqlens_q", cu_seqlens_q), ("cu_seqlens_k", cu_seqlens_k)]
            }
            Self::Paged { cu_seqlens_q, seqlens_k, block_table, .. } => {
                vec![("cu_seqlens_q", cu_seqlens_q), ("seqlens_k", seqlens_k), ("block_table", block_table)]
            }
        }
    }

    /// Of the host: the lengths, held to the tensors and to the longest ones that the caller said.
    fn lengths(&self, sizes: &Sizes, q: &Tensor, k: &Tensor) -> Result<Vec<reference::Sequence>, Error> {
        let pair = |queries: Vec<usize>, keys: Vec<usize>| {
            queries
                .into_iter()
                .zip(keys)
                .map(|(queries, keys)| reference::Sequence { queries, keys })
                .collect()
        };
        match self {
            Self::Dense => {
                let one = reference::Sequence { queries: sizes.max_queries, keys: sizes.max_keys };
                Ok(vec![one; sizes.batch])
            }
            Self::Varlen { cu_seqlens_q, cu_seqlens_k, .. } => Ok(pair(
                differences("cu_seqlens_q", cu_seqlens_q, q.shape[0], ("max_seqlen_q", sizes.max_queries))?,
                differences("cu_seqlens_k", cu_seqlens_k, k.shape[0], ("max_seqlen_k", sizes.max_keys))?,
            )),
            Self::Paged { cu_seqlens_q, seqlens_k, .. } => {
                let queries = differences(
                    "cu_seqlens_q",
                    cu_seqlens_q,
                    q.shape[0],
                    ("max_seqlen_q", sizes.max_queries),
                )?;
                let keys = seqlens_k.read_integers();
                if let Some(&wrong) = keys.iter().find(|&&keys| usize::try_from(keys).is_err()) {
                    return Err(value("seqlens_k", "lengths that are not negative", wrong));
                }
                let keys: Vec<_> = keys.into_iter().map(|keys| usize::try_from(keys).unwrap_or(0)).collect();
                longest("max_seqlen_k", sizes.max_keys, &keys)?;
                Ok(pair(queries, keys))
            }
        }
    }

    /// Of the host: the entries, and how many a sequence has.
    fn block_table(&self) -> Option<(Vec<i32>, usize)> {
        let Self::Paged { block_table, .. } = self else { return None };
        let entries = block_table.read_integers().into_iter().map(|page| i32::try_from(page).unwrap_or(-1));
        Some((entries.collect(), block_table.shape[1]))
    }
}

fn value(argument: &'static str, expected: &str, found: i64) -> Error {
    Error::Value { argument, expected: expected.to_owned(), found: found.to_string() }
}

fn longest(argument: &'static str, said: usize, lengths: &[usize]) -> Result<(), Error> {
    match lengths.iter().copied().max().filter(|&longest| longest > said) {
        None => Ok(()),
        Some(longest) => Err(Error::Value {
            argument,
            expected: format!("at least {longest}, which the longest sequence has"),
            found: said.to_string(),
        }),
    }
}

/// The lengths between row offsets that start at 0, never fall and end within the tensor.
fn differences(
    argument: &'static str,
    offsets: &Tensor,
    rows: usize,
    (most, said): (&'static str, usize),
) -> Result<Vec<usize>, Error> {
    let offsets = offsets.read_integers();
    if let Some(&first) = offsets.first().filter(|&&first| first != 0) {
        return Err(value(argument, "offsets that start at 0", first));
    }
    let last = offsets.last().copied().unwrap_or(0);
    let mut lengths = Vec::new();
    for pair in offsets.windows(2) {
        let length = usize::try_from(pair[1] - pair[0]);
        lengths.push(length.map_err(|_| value(argument, "offsets that never fall", pair[1]))?);
    }
    if usize::try_from(last).is_ok_and(|last| last > rows) {
        return Err(value(argument, &format!("offsets up to {rows}, the rows of the tensor"), last));
    }
    longest(most, said, &lengths)?;
    Ok(lengths)
}
