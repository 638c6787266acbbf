/// What a kernel says of itself in its code object, under the symbol `<entry>_geometry` (`native/common/geometry.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Geometry {
    /// Work-items of one work-group.
    pub threads: u32,
    /// Rows of the output that one work-group makes.
    pub tile_m: u32,
    /// Columns of one step: keys of attention, elements of a row of an activation.
    pub tile_n: u32,
    /// Head dim of attention, 0 elsewhere.
    pub head_dim: u32,
    /// Size of the argument block.
    pub argument_bytes: u32,
    /// Static LDS of one work-group.
    pub lds_bytes: u32,
    /// Zero.
    pub reserved: [u32; 2],
}

const _: () = assert!(size_of::<Geometry>() == 32);

/// The bytes under a geometry symbol are no geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GeometryError {
    /// The symbol has another size.
    #[error("bytes: a geometry is {expected} bytes, the symbol has {found}", expected = size_of::<Geometry>())]
    Size {
        /// The symbol's size in bytes.
        found: usize,
    },
}

impl Geometry {
    /// As the symbol holds it.
    pub fn words(&self) -> [u32; 8] {
        let Self { threads, tile_m, tile_n, head_dim, argument_bytes, lds_bytes, reserved: [a, b] } = *self;
        [threads, tile_m, tile_n, head_dim, argument_bytes, lds_bytes, a, b]
    }

    /// Reads the little-endian words of a geometry symbol.
    ///
    /// # Errors
    /// [`GeometryError::Size`] when `bytes` is not exactly one geometry.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, GeometryError> {
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| GeometryError::Size { found: bytes.len() })?;
        let word = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|b| bytes[4 * i + b]));
        Ok(Self {
            threads: word(0),
            tile_m: word(1),
            tile_n: word(2),
            head_dim: word(3),
            argument_bytes: word(4),
            lds_bytes: word(5),
            reserved: [word(6), word(7)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_are_little_endian_and_in_order() {
        let mut bytes = [0u8; 32];
        for (i, word) in [128u32, 64, 32, 96, 152, 4608, 0, 0].into_iter().enumerate() {
            bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
        let expected = Geometry {
            threads: 128,
            tile_m: 64,
            tile_n: 32,
            head_dim: 96,
            argument_bytes: 152,
            lds_bytes: 4608,
            reserved: [0, 0],
        };
        assert_eq!(Geometry::from_bytes(&bytes), Ok(expected));
        assert_eq!(Geometry::from_bytes(&bytes[1..]), Err(GeometryError::Size { found: 31 }));
    }
}
