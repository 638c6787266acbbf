use super::ShapeError;

/// Which rows of k and v hold the keys of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvLayout<'a> {
    /// One sequence after the other, without gaps: `[row of all sequences, kv head, head dim]`.
    Packed,
    /// A cache with the same room for each sequence: `[sequence, capacity, kv head, head dim]`.
    Dense {
        /// Rows of each sequence.
        capacity: usize,
    },
    /// A cache in pages: `[page, row of the page, kv head, head dim]`. Key `j` of a sequence is row `j % page_rows` of page
    /// `block_table[sequence, j / page_rows]`.
    Paged {
        /// Rows of a page.
        page_rows: usize,
        /// Pages of each sequence, `[sequence, block_table_stride]`; entries behind the last page of a sequence are not read.
        block_table: &'a [i32],
        /// From one sequence to the next in the block table.
        block_table_stride: usize,
    },
}

impl KvLayout<'_> {
    /// The row of each key of each sequence, for sequences of `keys` keys and tensors of `available` rows.
    ///
    /// # Errors
    /// [`ShapeError`] for `capacity` or `page_rows` that are too small, and for a `block_table` that is too short or names a page that is
    /// not there.
    pub fn rows(&self, keys: &[usize], available: usize) -> Result<Vec<Vec<usize>>, ShapeError> {
        match *self {
            Self::Packed => {
                let mut first = 0;
                let rows = keys.iter().map(|&keys| {
                    first += keys;
                    (first - keys..first).collect()
                });
                Ok(rows.collect())
            }
            Self::Dense { capacity } => {
                let longest = keys.iter().copied().max().unwrap_or(0);
                ShapeError::at_least("capacity", longest, capacity)?;
                ShapeError::at_least("k_cache", keys.len() * capacity, available)?;
                Ok(keys
                    .iter()
                    .enumerate()
                    .map(|(i, &keys)| (0..keys).map(|j| i * capacity + j).collect())
                    .collect())
            }
            Self::Paged { page_rows, block_table, block_table_stride } => {
                ShapeError::at_least("page_rows", 1, page_rows)?;
                let pages = available / page_rows;
                let of_sequence = |(i, &keys): (usize, &usize)| {
                    let needed = keys.div_ceil(page_rows);
                    ShapeError::at_least("block_table_stride", needed, block_table_stride)?;
                    let first = i * block_table_stride;
                    ShapeError::at_least("block_table", first + needed, block_table.len())?;
                    (0..keys)
                        .map(|j| {
                            Ok(page(block_table[first + j / page_rows], pages)? * page_rows + j % page_rows)
                        })
                        .collect()
                };
                keys.iter().enumerate().map(of_sequence).collect()
            }
        }
    }
}

fn page(entry: i32, pages: usize) -> Result<usize, ShapeError> {
    let is_there = |page: &usize| *page < pages;
    usize::try_from(entry).ok().filter(is_there).ok_or_else(|| ShapeError {
        argument: "block_table",
        expected: format!("pages below {pages}"),
        found: entry.to_string(),
    })
}
