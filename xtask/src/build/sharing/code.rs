//! Targets that LLVM makes the same code for share the optimiser and the code generator too.
//!
//! Which targets these are is a table (`Target::compiled_as`), and a table is no proof. So small objects are compiled for each target all the
//! same, and compared: with a compiler that tells such targets apart, the build ends. The large ones are what the sharing is for.

use super::command_line::Compile;
use super::run;
use crate::digest::Sha256;
use gfx::Target;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::ExitStatus;

/// Bytes of IR below which a compile takes less than a second.
const SMALL: usize = 4 << 20;
/// What gfx1153 lacks and gfx1150 has concerns these.
const IMAGES: &str = "@llvm.amdgcn.image.";

/// Leaves the code object of `ir`, which lies in `ir_path`.
pub(super) fn make(
    cache: &Path,
    key: &str,
    compile: &Compile,
    ir_path: &Path,
    ir: &str,
    features: &str,
) -> io::Result<ExitStatus> {
    let Some(target) = Target::parse(&compile.target).ok().filter(|_| !ir.contains(IMAGES)) else {
        return run(&compile.back_end(ir_path));
    };
    let features = Sha256::of(features.as_bytes()).to_string();
    let kept = cache.join(format!("{key}.{}.{}.co", target.compiled_as(), &features[..8]));
    let lock = File::create(kept.with_extension("lock"))?;
    lock.lock()?; // the others wait for the first
    let first = if kept.exists() { code_object::renamed(&fs::read(&kept)?, target) } else { None };
    match first {
        Some(first) if ir.len() < SMALL => {
            let status = run(&compile.back_end(ir_path))?;
            if status.success() && fs::read(&compile.output)? != first {
                return Err(differs(target));
            }
            Ok(status)
        }
        Some(first) => {
            fs::write(&compile.output, first)?;
            Ok(ExitStatus::default())
        }
        None => {
            let status = run(&compile.back_end(ir_path))?;
            if status.success() {
                fs::copy(&compile.output, &kept)?;
            }
            Ok(status)
        }
    }
}

fn differs(target: Target) -> io::Error {
    io::Error::other(format!(
        "this compiler makes other code for {target} than for the targets of {}; build with --no-sharing",
        target.compiled_as()
    ))
}
