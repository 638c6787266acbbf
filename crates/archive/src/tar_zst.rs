//! tar.zst: ustar headers with nothing of the machine in them, compressed by zstd's own threads.

use crate::{Content, Error, Member, Timestamp};
use std::fs::File;
use std::io::{Read, Write};

/// 12 is about as fast as deflate's 6 on one core and a quarter smaller on programs.
const LEVEL: i32 = 12;

/// Writes a tar.zst of `members`, in their order, to `out`.
///
/// zstd cuts its input into jobs of a size that the level decides, so the number of threads does not change the result.
///
/// # Errors
/// A file that cannot be read or is shorter than its member says, or `out`'s own errors.
pub fn write_tar_zst(members: &[Member], time: Timestamp, out: impl Write) -> Result<(), Error> {
    let mut encoder = zstd::Encoder::new(out, LEVEL).map_err(Error::Write)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    encoder.multithread(u32::try_from(cores).unwrap_or(1)).map_err(Error::Write)?;
    encoder.include_checksum(true).map_err(Error::Write)?;
    let mut builder = tar::Builder::new(encoder);
    for member in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(member.content.size());
        header.set_mode(if member.executable { 0o755 } else { 0o644 });
        header.set_mtime(u64::try_from(time.0).unwrap_or(0));
        header.set_uid(0);
        header.set_gid(0);
        match &member.content {
            Content::Bytes(bytes) => {
                builder.append_data(&mut header, &member.name, bytes.as_slice()).map_err(Error::Write)?;
            }
            Content::File { path, size } => {
                let file = File::open(path).map_err(|source| Error::Read { path: path.clone(), source })?;
                let exact = Exact { file: file.take(*size), left: *size };
                builder.append_data(&mut header, &member.name, exact).map_err(Error::Write)?;
            }
        }
    }
    let encoder = builder.into_inner().map_err(Error::Write)?;
    encoder.finish().and_then(|mut out| out.flush()).map_err(Error::Write)
}

/// A file that has become shorter must not be filled up in silence.
struct Exact {
    file: std::io::Take<File>,
    left: u64,
}

impl Read for Exact {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        if read == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        Ok(read)
    }
}
