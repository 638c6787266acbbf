//! A stream of Zstandard frames (RFC 8878): a file may hold several, as parallel compressors write them, and frames to be skipped.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

/// Reads all frames to the end of `source`; ruzstd's own reader stops after the first, and silently.
pub(super) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), inside: false }
    }

    /// Enters the next frame, or skips one that asks for it. What is no frame is an error.
    fn enter(&mut self) -> io::Result<()> {
        match self.decoder.init(&mut self.source) {
            Ok(()) => self.inside = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let wanted = u64::from(length);
                if io::copy(&mut (&mut self.source).take(wanted), &mut io::sink())? < wanted {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(())
    }

    fn read_inside(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
            let missing = buffer.len() - self.decoder.can_collect();
            let upto = BlockDecodingStrategy::UptoBytes(missing);
            self.decoder.decode_blocks(&mut self.source, upto).map_err(io::Error::other)?;
        }
        self.decoder.read(buffer)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside {
                let n = self.read_inside(buffer)?;
                if n > 0 || buffer.is_empty() {
                    return Ok(n);
                }
                self.inside = false;
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.enter()?;
        }
    }
}
