//! Holds compiled code objects against the catalogue: every one that it lists is there and keeps within its budget, and nothing else is.
//!
//!     gate FOLDER...
//!
//! FOLDER is a target's, e.g. `kernels/gfx1201/aiter-kernels`. Prints one line a kernel; exit 1 when anything differs.

use aiter_kernels::catalogue::{code_objects, mismatches};
use code_object::CodeObject;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut bad = Vec::new();
    for folder in std::env::args().skip(1) {
        let folder = Path::new(&folder);
        let mut expected = code_objects();
        for path in files(folder) {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            expected.retain(|other| *other != name);
            match fs::read(&path)
                .map_err(|e| e.to_string())
                .and_then(|b| CodeObject::parse(&b).map_err(|e| e.to_string()))
            {
                Ok(object) => {
                    print(&object);
                    bad.extend(mismatches(&name, &object).iter().map(ToString::to_string));
                }
                Err(error) => bad.push(format!("{}: {error}", path.display())),
            }
        }
        bad.extend(expected.iter().map(|name| format!("{}: no {name}.co", folder.display())));
    }
    for line in &bad {
        eprintln!("error: {line}");
    }
    if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "co")).collect();
    files.sort();
    files
}

fn print(object: &CodeObject) {
    for kernel in &object.kernels {
        println!(
            "{:14} {:36} vgpr {:3}  sgpr {:3}  lds {:5}  scratch {:4}  arguments {}",
            object.target.name(),
            kernel.name,
            kernel.vgpr,
            kernel.sgpr,
            kernel.lds,
            kernel.scratch,
            kernel.kernarg_size
        );
    }
}
