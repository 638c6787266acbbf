//! The catalogue as a page of the documentation.

use super::{EXCEPTIONS, INSTANCES, Instance};
use gfx::Wmma;
use std::fmt::Write;

const HEAD: &str = "# The kernels

<!-- Made from aiter-kernels/src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it. -->

Every kernel of [aiter-kernels](aiter-kernels.md), with the tile that it works on and what it may take; the last table has the targets on which it may take more.

One row a kernel. *Tile*: rows of the output that a work-group makes, and keys or elements of one step. *Budget*: what the build allows on gfx11
(RDNA3, RDNA3.5) and on gfx12 (RDNA4); LDS is exact, the others are upper bounds; the generic targets may take 8 registers and 64 bytes of scratch more. `-`: there is no such kernel.

| kernel | type | head dim | sequences | window | soft cap | tile | waves | LDS bytes gfx11, gfx12 | VGPRs gfx11, gfx12 | scratch bytes gfx11, gfx12 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// `docs/kernels.md`.
pub fn documentation() -> String {
    let mut page = HEAD.to_owned();
    for instance in INSTANCES {
        page += &row(instance);
    }
    page += "\nOn some targets the compiler makes worse code than on the others of their generation, and the budget is another:\n\n";
    page += "| targets | kernels | VGPRs | scratch bytes |\n| --- | --- | --- | --- |\n";
    for exception in EXCEPTIONS {
        let targets: Vec<&str> = exception.targets.iter().map(|target| target.name()).collect();
        let entries: Vec<String> = exception.entries.iter().map(|entry| format!("`{entry}`")).collect();
        let super::Exception { vgprs, scratch_bytes, .. } = exception;
        let (targets, entries) = (targets.join(", "), entries.join(", "));
        let _ = writeln!(page, "| {targets} | {entries} | {vgprs} | {scratch_bytes} |");
    }
    page
}

fn row(instance: &Instance) -> String {
    let attention = instance.attention.map(|a| {
        let modes: Vec<&str> = a.modes.iter().map(|mode| mode.name()).collect();
        let yes = |is: bool| if is { "yes" } else { "no" };
        format!("{} | {} | {} | {}", a.head_dim, modes.join(", "), yes(a.masked), yes(a.soft_cap))
    });
    let budget = |f: fn(&super::Budget) -> u32| {
        let of = |wmma| instance.budget(wmma).map_or("-".to_owned(), |budget| f(budget).to_string());
        format!("{}, {}", of(Wmma::Gfx11), of(Wmma::Gfx12))
    };
    let mut row = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        row,
        "| `{}` | {} | {} | {}x{} | {} | {} | {} | {} |",
        instance.entry,
        instance.data_type.name(),
        attention.as_deref().unwrap_or(" | | | "),
        instance.tile.m,
        instance.tile.n,
        instance.warps,
        budget(|b| b.lds_bytes),
        budget(|b| b.vgprs),
        budget(|b| b.scratch_bytes),
    );
    row
}
