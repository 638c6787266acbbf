//! PNG and JPEG files to pixels.

use super::Error;
use std::io::Cursor;
use std::path::Path;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Pixels as red, green and blue, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// The pixels.
    pub pixels: Vec<[u8; 3]>,
}

/// Pixels of a side that are accepted: before any memory is taken for them, and for the square that an image may be filled up to.
const MOST: usize = 16_384;

impl Picture {
    /// Reads a file. Transparency is passed over, 16 bits a colour become 8.
    ///
    /// # Errors
    /// [`Error`], with the path.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::decode(path, &bytes)
    }

    fn decode(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        match bytes {
            [0x89, b'P', b'N', b'G', ..] => Self::png(path, bytes),
            [0xff, 0xd8, ..] => Self::jpeg(path, bytes),
            _ => Err(Error::Format { path: path.to_owned() }),
        }
    }

    fn png(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |source| Error::Png { path: path.to_owned(), source };
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info().map_err(wrong)?;
        let (width, height) = (reader.info().width as usize, reader.info().height as usize);
        expect_size(path, width, height)?;
        let mut raw = vec![0; width * height * 4];
        let frame = reader.next_frame(&mut raw).map_err(wrong)?;
        let samples = frame.color_type.samples();
        let pixels = raw.chunks_exact(samples).take(width * height).map(|sample| match *sample {
            [red, green, blue, ..] => [red, green, blue],
            _ => [sample[0]; 3],
        });
        Ok(Self { width, height, pixels: pixels.collect() })
    }

    fn jpeg(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |why: String| Error::Jpeg { path: path.to_owned(), why };
        let options =
            DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB).set_strict_mode(true);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(|error| wrong(error.to_string()))?;
        let (width, height) = decoder.dimensions().ok_or_else(|| wrong("it has no size".to_owned()))?;
        expect_size(path, width, height)?;
        let raw = decoder.decode().map_err(|error| wrong(error.to_string()))?;
        Ok(Self { width, height, pixels: raw.as_chunks::<3>().0.to_vec() })
    }
}

pub(super) fn expect_size(path: &Path, width: usize, height: usize) -> Result<(), Error> {
    match width.max(height) <= MOST && width.min(height) > 0 {
        true => Ok(()),
        false => Err(Error::Size { path: path.to_owned(), width, height, most: MOST }),
    }
}
