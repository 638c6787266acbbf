//! Several targets of a family share the front end of the compiler, which takes two fifths of the time of an attention object.
//!
//! The optimiser and the code generator look at the target, so both run for each, but for those that differ in nothing but their name ([`code`]). What the front end makes depends on the preprocessed source, the
//! flags, the target's name and the features that the compiler ascribes to it. So its output is kept under a digest of source and flags, with
//! places for name and features, and each target gets its own; a target whose headers expand to anything else has another digest, and
//! shares nothing. The bytes are those of a compile on its own: a test compares them, `--no-sharing` lets anybody do so.
//!
//! xtask stands before the compiler as CMake's compiler launcher, through the hidden command `compile`. Whatever does not fit (another kind
//! of compile, device libraries, which hold a constant for each target) is compiled as it came.

mod code;
mod command_line;
mod ir;

use crate::digest::Hasher;
use command_line::Compile;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Compiles as `command` says, compiler first, with front ends shared through `cache`.
pub(crate) fn compile(cache: &Path, command: &[OsString]) -> io::Result<ExitStatus> {
    match Compile::parse(command) {
        Some(compile) => match shared(cache, &compile)? {
            Some(status) => Ok(status),
            None => run(command),
        },
        None => run(command),
    }
}

fn run(command: &[OsString]) -> io::Result<ExitStatus> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Command::new(program).args(arguments).status()
}

/// `None`: this one cannot be shared.
fn shared(cache: &Path, compile: &Compile) -> io::Result<Option<ExitStatus>> {
    let own = |name: &str| compile.output.with_extension(name);
    let (preprocessed, probe, own_ir) = (own("i"), own("probe.ll"), own("ll"));
    let clean = || [&preprocessed, &probe, &own_ir].into_iter().for_each(|path| drop(fs::remove_file(path)));

    let status = run(&compile.preprocess(&preprocessed))?;
    if !status.success() {
        clean();
        return Ok(Some(status));
    }
    let probe_source = own("probe.hip");
    fs::write(&probe_source, ir::PROBE)?;
    let probed = run(&compile.probe(&probe_source, &probe))?.success();
    fs::remove_file(&probe_source)?;
    let features = if probed { ir::features(&fs::read_to_string(&probe)?) } else { None };
    let Some(features) = features else {
        clean();
        return Ok(None);
    };

    let key = key(compile, &fs::read(&preprocessed)?);
    let kept = cache.join(format!("{key}.ll"));
    fs::create_dir_all(cache)?;
    let lock = File::create(cache.join(format!("{key}.lock")))?;
    lock.lock()?; // the others of the family wait for the first
    if !kept.exists() {
        let status = run(&compile.front_end(&own_ir))?;
        if !status.success() {
            clean();
            return Ok(Some(status));
        }
        let made = fs::read_to_string(&own_ir)?;
        let Some(text) = ir::with_places(&made, &compile.target, &features) else {
            clean();
            return Ok(None);
        };
        let part = cache.join(format!("{key}.part"));
        fs::write(&part, text)?;
        fs::rename(&part, &kept)?;
    }
    lock.unlock()?;
    let text = ir::for_target(&fs::read_to_string(&kept)?, &compile.target, &features);
    fs::write(&own_ir, &text)?;
    let status = code::make(cache, &key, compile, &own_ir, &text, &features);
    clean();
    status.map(Some)
}

fn key(compile: &Compile, preprocessed: &[u8]) -> String {
    let mut hasher = Hasher::new();
    compile.shared_flags().for_each(|flag| hasher.field(&flag));
    hasher.field(&crate::digest::Sha256::of(preprocessed).to_string());
    hasher.finish().0.to_string()[..32].to_owned()
}
