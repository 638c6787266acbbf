//! The catalogue as the CMake project reads it: a list of code objects, and for attention the source that names its instances.

use super::{INSTANCES, Instance, Mode, Operation, code_objects};
use gfx::Wmma;
use std::fmt::Write;

/// The files under `native/` that are made from the catalogue, each with its path there and its text.
pub fn native_files() -> Vec<(String, String)> {
    let mut files = vec![("kernels.cmake".to_owned(), cmake_list())];
    for name in code_objects() {
        let members = members(name);
        if let Some(header) = instance_header(members[0].operation) {
            files.push((instances_path(name), instances(header, &members)));
        }
    }
    files
}

fn members(code_object: &str) -> Vec<&'static Instance> {
    INSTANCES.iter().filter(|i| i.code_object == code_object).collect()
}

fn instances_path(name: &str) -> String {
    format!("instances/{name}.hip")
}

/// One `kernels()` call for each code object, in the order of their names.
fn cmake_list() -> String {
    let mut text = notice('#');
    for name in code_objects() {
        let members = members(name);
        let operation = members[0].operation;
        let source = match instance_header(operation) {
            Some(_) => instances_path(name),
            None => source(operation).to_owned(),
        };
        let operations = unique(&members, |i| vec![i.operation.name()]);
        let families = unique(&members, |i| i.budgets.iter().map(|b| family(b.wmma)).collect());
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\nkernels({name}\n  SOURCE {source}\n  OPERATIONS {operations}\n  FAMILIES {families})\n"
        );
    }
    text
}

fn notice(comment: char) -> String {
    let comment = if comment == '/' { "//".to_owned() } else { comment.to_string() };
    format!(
        "{comment} Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes it anew.\n"
    )
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

/// The header whose macro of the operation's name, in capitals, defines one kernel.
fn instance_header(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::FmhaFwd => Some("fmha/fmha_fwd.h"),
        Operation::FmhaPaged => Some("fmha/fmha_paged.h"),
        Operation::FmhaSplitKv => Some("fmha/fmha_split_kv.h"),
        _ => None,
    }
}

/// The source that has all kernels of an operation in it.
fn source(operation: Operation) -> &'static str {
    match operation {
        Operation::FmhaCombine => "combine/combine.hip",
        Operation::RmsNorm | Operation::LayerNorm | Operation::Softmax => "norm/norm.hip",
        _ => "activation/activation.hip",
    }
}

fn family(wmma: Wmma) -> &'static str {
    match wmma {
        Wmma::Gfx11 => "gfx11",
        Wmma::Gfx12 => "gfx12",
    }
}

/// A source that defines the kernels of one code object, one a line.
fn instances(header: &str, members: &[&Instance]) -> String {
    let mut text = notice('/') + &format!("#include \"../{header}\"\n\n");
    for instance in members {
        let _ = writeln!(text, "{}({});", instance.operation.name().to_uppercase(), parameters(instance));
    }
    text
}

fn parameters(instance: &Instance) -> String {
    let Instance { entry, data_type, tile, warps, attention, .. } = instance;
    let Some(attention) = attention else { return (*entry).to_owned() };
    let mut words = vec![(*entry).to_owned(), data_type.name().to_owned()];
    if instance.operation == Operation::FmhaFwd {
        words.push((attention.mode == Mode::Varlen).to_string());
        words.push(attention.masked.to_string());
    }
    let numbers = [attention.head_dim, tile.m, tile.n, attention.k0, attention.k1, *warps];
    words.extend(numbers.map(|number| number.to_string()));
    words.join(", ")
}
