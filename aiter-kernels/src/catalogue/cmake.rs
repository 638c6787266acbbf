//! The catalogue as the CMake project reads it: a list of code objects, and for attention the source that names its instances.

use super::{EXCEPTIONS, INSTANCES, Instance, Operation, code_objects, expected, expected_on};
use code_object::Expected;
use gfx::{Target, Wmma};
use std::fmt::Write;

/// The files under `native/` that are made from the catalogue, each with its path there and its text.
pub fn native_files() -> Vec<(String, String)> {
    let mut files =
        vec![("kernels.cmake".to_owned(), cmake_list()), ("kernels.json".to_owned(), gate_list())];
    for name in code_objects() {
        let members = members(name);
        if instance_header(members[0].operation).is_some() {
            files.push((instances_path(name), instances(&members)));
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

/// What the build holds the code objects to (`catalogue` in the package metadata): family, code object, kernel; one kernel a line.
fn gate_list() -> String {
    let of_family = |wmma: Wmma| {
        let object = |name: &&str| {
            let kernels = expected(name, wmma).iter().map(line).collect::<Vec<_>>().join(",\n      ");
            format!("    \"{name}\": [\n      {kernels}\n    ]")
        };
        let objects = code_objects().iter().map(object).collect::<Vec<_>>().join(",\n");
        format!("  \"{}\": {{\n{objects}\n  }}", family(wmma))
    };
    let families = [Wmma::Gfx11, Wmma::Gfx12].map(of_family).join(",\n");
    let targets = Target::ALL.iter().filter(|target| EXCEPTIONS.iter().any(|e| e.targets.contains(target)));
    let exceptions = targets.map(|target| exceptions(*target)).collect::<Vec<_>>().join(",\n");
    format!("{{\n{families},\n  \"exceptions\": {{\n{exceptions}\n  }}\n}}\n")
}

/// The code objects of a target with kernels that are not held to their generation's budgets.
fn exceptions(target: Target) -> String {
    let object = |name: &str| {
        let kernels = expected_on(name, target);
        let is_usual = target.wmma().is_some_and(|wmma| kernels == expected(name, wmma));
        let lines = kernels.iter().map(line).collect::<Vec<_>>().join(",\n        ");
        (!is_usual).then(|| format!("      \"{name}\": [\n        {lines}\n      ]"))
    };
    let objects = code_objects().into_iter().filter_map(object).collect::<Vec<_>>().join(",\n");
    format!("    \"{}\": {{\n{objects}\n    }}", target.name())
}

fn line(kernel: &Expected) -> String {
    serde_json::to_string(kernel).unwrap_or_default()
}

fn notice(comment: char) -> String {
    let comment = if comment == '/' { "//".to_owned() } else { comment.to_string() };
    format!(
        "{comment} Made from src/catalogue; do not edit: `UPDATE_KERNELS=1 cargo test -p aiter-kernels` rewrites it.\n"
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
        Operation::QuantiseInt8 | Operation::QuantiseE4m3 => "quantise/quantise.hip",
        Operation::Rope => "position/rope.hip",
        Operation::AppendKv => "position/append_kv.hip",
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
fn instances(members: &[&Instance]) -> String {
    let mut text = notice('/');
    let headers = unique(members, |i| instance_header(i.operation).into_iter().collect());
    for header in headers.split(' ') {
        let _ = writeln!(text, "#include \"../{header}\"");
    }
    text.push('\n');
    let everywhere = |i: &Instance| i.budget(Wmma::Gfx11).is_some();
    let (everywhere, gfx12): (Vec<&Instance>, Vec<&Instance>) = members.iter().partition(|i| everywhere(i));
    everywhere.iter().for_each(|instance| text += &definition(instance));
    if !gfx12.is_empty() {
        text += "#if defined(__GFX12__)\n";
        gfx12.iter().for_each(|instance| text += &definition(instance));
        text += "#endif\n";
    }
    text
}

fn definition(instance: &Instance) -> String {
    format!("{}({});\n", instance.operation.name().to_uppercase(), parameters(instance))
}

fn parameters(instance: &Instance) -> String {
    let Instance { entry, data_type, tile, warps, attention, .. } = instance;
    let Some(attention) = attention else { return (*entry).to_owned() };
    let mut words = vec![(*entry).to_owned(), data_type.name().to_owned()];
    words.extend([attention.head_dim, tile.m, tile.n, attention.k0].map(|number| number.to_string()));
    words.push(match attention.k1 {
        [gfx11, gfx12] if gfx11 == gfx12 => gfx11.to_string(),
        [gfx11, gfx12] => format!("fmha::of_family({gfx11}, {gfx12})"),
    });
    words.push(warps.to_string());
    words.join(", ")
}
