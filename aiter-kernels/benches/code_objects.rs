//! What each kernel takes of the hardware, read from the code objects, beside the checked-in table and ck_tile's default tiles.
//!
//!     cargo bench -p aiter-kernels [-- FOLDER...]
//!
//! FOLDER holds the code objects of one target, e.g. `artifacts/0.1.0/x86_64-unknown-linux-gnu/aiter-kernels/gfx1201/kernels/gfx1201/aiter-kernels`;
//! without one, those of the last `cargo xtask build`. `UPDATE_TABLE=1` writes `benches/table.md` anew.
//!
//! The rows `ck_tile_fwd_…` are ck_tile's default tiles, from `benches/default_tiles.hip`, compiled by hand with the flags that BUILD.json has for
//! `attention_d128`, into a folder that is given here as one more.

use code_object::{CodeObject, Instruction, Kernel, Kind, instructions};
use gfx::Target;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|a| !a.starts_with("--")).map(PathBuf::from).collect();
    let folders = if given.is_empty() { built() } else { given };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/table.md");
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    let mut rows = BTreeMap::new();
    for folder in &folders {
        for object in objects(folder) {
            rows.extend(object.kernels.iter().map(|kernel| row(&object, kernel)));
        }
    }
    if rows.is_empty() {
        eprintln!("no code objects: run `cargo xtask build` first, or name a folder that holds some");
        std::process::exit(1);
    }
    let before: BTreeMap<String, String> = recorded.lines().filter_map(parse).collect();
    println!("{HEAD}");
    for (name, row) in &rows {
        match before.get(name) {
            Some(old) if old != row => println!("| {name} | {row} | was {old}"),
            Some(_) => println!("| {name} | {row} |"),
            None => println!("| {name} | {row} | new"),
        }
    }
    if std::env::var_os("UPDATE_TABLE").is_some() {
        let all: BTreeMap<String, String> = before.into_iter().chain(rows).collect();
        let lines: Vec<String> = all.iter().map(|(name, row)| format!("| {name} | {row} |\n")).collect();
        let text = format!("{NOTICE}{HEAD}\n{}", lines.concat());
        fs::write(&path, text).unwrap_or_else(|error| eprintln!("{}: {error}", path.display()));
    }
}

const NOTICE: &str = "<!-- Written by `UPDATE_TABLE=1 cargo bench -p aiter-kernels`. -->\n\n";
const HEAD: &str = "| target, kernel | VGPRs | waves a SIMD | LDS bytes | scratch bytes | code bytes | WMMA in the inner loop |\n\
                    | --- | --- | --- | --- | --- | --- | --- |";

/// Target and kernel, and the rest of a line of the table.
fn parse(line: &str) -> Option<(String, String)> {
    let (name, row) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    name.starts_with("gfx").then(|| (name.to_owned(), row.to_owned()))
}

/// The folders of the artifacts.
fn built() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../artifacts").join(env!("CARGO_PKG_VERSION"));
    let children = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect::<Vec<_>>()
    };
    let targets = children(&root).into_iter().flat_map(|host| children(&host.join("aiter-kernels")));
    let kernels =
        |folder: PathBuf| Some(folder.join("kernels").join(folder.file_name()?).join("aiter-kernels"));
    targets.filter_map(kernels).collect()
}

fn objects(folder: &Path) -> Vec<CodeObject> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let objects = files.filter(|path| path.extension().is_some_and(|e| e == "co"));
    objects.filter_map(|path| CodeObject::parse(&fs::read(path).ok()?).ok()).collect()
}

fn row(object: &CodeObject, kernel: &Kernel) -> (String, String) {
    let code = object.code(&kernel.name).unwrap_or_default();
    let waves = occupancy(object.target, kernel);
    let share = object.target.wmma().and_then(|wmma| inner_loop(&instructions(code, wmma)));
    let share = share.map_or("-".to_owned(), |(products, all)| {
        format!("{products} of {all} ({:.0} %)", 100.0 * products as f64 / all as f64)
    });
    let Kernel { vgpr, lds, scratch, .. } = kernel;
    let row = format!("{vgpr} | {waves} | {lds} | {scratch} | {} | {share}", code.len());
    (format!("{} {}", object.target, kernel.name), row)
}

/// Waves of the kernel that fit a SIMD: by vector registers, which a wave gets in granules, and by the 128 KiB of LDS that four SIMDs share
/// (LLVM, AMDGPUBaseInfo: total and granule of the targets with and without half as many registers again).
fn occupancy(target: Target, kernel: &Kernel) -> u32 {
    use Target::{Gfx12Generic, Gfx1100, Gfx1101, Gfx1151, Gfx1200, Gfx1201};
    let has_more = matches!(target, Gfx1100 | Gfx1101 | Gfx1151 | Gfx1200 | Gfx1201 | Gfx12Generic);
    let (total, granule) = if has_more { (1536, 24) } else { (1024, 16) };
    let by_registers = total / kernel.vgpr.max(1).next_multiple_of(granule);
    let groups = 131_072u32.checked_div(kernel.lds).unwrap_or(u32::MAX);
    let by_lds = groups.saturating_mul(kernel.max_flat_workgroup_size / 32) / 4;
    by_registers.min(by_lds).min(16)
}

/// Matrix products and all instructions of the loop that has the most of them; the smallest such loop.
fn inner_loop(code: &[Instruction]) -> Option<(usize, usize)> {
    let body = |branch: &Instruction| {
        let Kind::Branch { distance } = branch.kind else { return None };
        let start =
            usize::try_from(branch.offset as i64 + distance).ok().filter(|&start| start < branch.offset)?;
        let inside = || code.iter().filter(|i| (start..=branch.offset).contains(&i.offset));
        Some((inside().filter(|i| i.kind == Kind::Wmma).count(), inside().count()))
    };
    let loops = code.iter().filter_map(body).filter(|(products, _)| *products > 0);
    loops.max_by_key(|&(products, all)| (products, std::cmp::Reverse(all)))
}
