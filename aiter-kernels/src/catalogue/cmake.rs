//! The catalogue as the CMake project reads it.

use super::{INSTANCES, Instance, Mode, Operation, code_objects};
use gfx::Wmma;
use std::fmt::Write;

/// The text of `native/kernels.cmake`: one `kernels()` call for each code object, in the order of their names.
pub fn cmake_list() -> String {
    let mut text = String::from(
        "# Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.\n",
    );
    for name in code_objects() {
        let members: Vec<_> = INSTANCES.iter().filter(|i| i.code_object == name).collect();
        // Writing to a String cannot fail.
        let _ = write!(text, "\n{}", call(name, &members));
    }
    text
}

fn call(name: &str, members: &[&Instance]) -> String {
    let first = members[0];
    let mut lines = vec![
        format!("SOURCE {}", source(first.operation)),
        format!("OPERATIONS {}", unique(members, |i| vec![i.operation.name()])),
        format!("FAMILIES {}", unique(members, |i| i.budgets.iter().map(|b| family(b.wmma)).collect())),
    ];
    let definitions = definitions(first);
    if !definitions.is_empty() {
        lines.push(format!("DEFINITIONS {}", definitions.join(" ")));
    }
    format!("kernels({name}\n  {})\n", lines.join("\n  "))
}

/// The words that any of the members has, each once, in the order of their first appearance.
fn unique(members: &[&Instance], words: impl Fn(&Instance) -> Vec<&'static str>) -> String {
    let mut all: Vec<&str> = Vec::new();
    for word in members.iter().flat_map(|i| words(i)) {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all.join(" ")
}

fn source(operation: Operation) -> &'static str {
    match operation {
        Operation::FmhaFwd => "fmha/fmha_fwd.hip",
        Operation::FmhaPaged => "fmha/fmha_paged.hip",
        Operation::FmhaSplitKv => "fmha/fmha_split_kv.hip",
        Operation::FmhaCombine => "combine/combine.hip",
        Operation::RmsNorm | Operation::LayerNorm | Operation::Softmax => "norm/norm.hip",
        Operation::SiluAndMul | Operation::GeluAndMul | Operation::GeluTanhAndMul => {
            "activation/activation.hip"
        }
    }
}

fn family(wmma: Wmma) -> &'static str {
    match wmma {
        Wmma::Gfx11 => "gfx11",
        Wmma::Gfx12 => "gfx12",
    }
}

/// What a source that makes one kernel is told of it. The activations are all in one source that needs no telling.
fn definitions(instance: &Instance) -> Vec<String> {
    let Some(attention) = instance.attention else { return Vec::new() };
    let mut definitions = vec![
        format!("ENTRY={}", instance.entry),
        format!("ELEMENT={}", instance.data_type.name()),
        format!("HEAD_DIM={}", attention.head_dim),
        format!("TILE_M={}", instance.tile.m),
        format!("TILE_N={}", instance.tile.n),
        format!("TILE_K0={}", attention.k0),
        format!("TILE_K1={}", attention.k1),
        format!("WARPS={}", instance.warps),
    ];
    if instance.operation == Operation::FmhaFwd {
        definitions.push(format!("VARLEN={}", u8::from(attention.mode == Mode::Varlen)));
        definitions.push(format!("MASKED={}", u8::from(attention.masked)));
    }
    definitions
}
