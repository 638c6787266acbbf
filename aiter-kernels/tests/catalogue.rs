//! The catalogue against what is derived from it: the CMake list, the package metadata, and the names that it gives itself.

use aiter_kernels::catalogue::{
    DataType, EXCEPTIONS, Exception, INSTANCES, Instance, Mode, Operation, code_objects, documentation,
    expected_on, instances, native_files,
};
use gfx::{Target, Wmma};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_files_of_the_build_are_the_catalogue() {
    let folder = here("native/instances");
    let files = native_files();
    if std::env::var_os("UPDATE_KERNELS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("native/instances is writable");
        for (path, text) in &files {
            fs::write(here("native").join(path), text).expect("the file is writable");
        }
    }
    for (path, text) in &files {
        let found = fs::read_to_string(here("native").join(path)).unwrap_or_default();
        assert!(&found == text, "{path}: write it anew: UPDATE_KERNELS=1 cargo test -p aiter-kernels");
    }
    let sources = files[0].1.lines().filter_map(|line| line.trim().strip_prefix("SOURCE "));
    for source in sources {
        assert!(here("native").join(source).is_file(), "{source}");
    }
    let there = fs::read_dir(&folder).expect("native/instances is there").count();
    assert_eq!(there, files.len() - 2, "native/instances holds files that the catalogue does not make");
}

#[test]
fn the_page_of_the_documentation_is_the_catalogue() {
    let path = here("../docs/kernels.md");
    if std::env::var_os("UPDATE_KERNELS").is_some() {
        fs::write(&path, documentation()).expect("docs is writable");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == documentation(),
        "docs/kernels.md: write it anew: UPDATE_KERNELS=1 cargo test -p aiter-kernels"
    );
}

#[test]
fn the_package_metadata_lists_the_code_objects() {
    let manifest = fs::read_to_string(here("Cargo.toml")).expect("the manifest is there");
    let list = manifest.split_once("\nkernels = [").and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.expect("[package.metadata.component] has kernels");
    let names: Vec<_> =
        list.split(',').map(|name| name.trim().trim_matches('"')).filter(|n| !n.is_empty()).collect();
    assert_eq!(names, code_objects());
}

#[test]
fn entries_are_unique_and_say_what_they_are() {
    let mut seen = HashSet::new();
    for instance in INSTANCES {
        assert!(seen.insert(instance.entry), "{} twice", instance.entry);
        assert_eq!(instance.entry, name(instance));
    }
}

fn name(instance: &Instance) -> String {
    let mut name = format!("{}_{}", instance.operation, instance.data_type.name());
    let Some(attention) = instance.attention else { return name };
    name += &format!("_d{}", attention.head_dim);
    if instance.operation == Operation::FmhaPaged {
        name += &format!("_n{}", instance.tile.n);
    }
    name
}

#[test]
fn every_operation_has_an_instance_on_every_generation() {
    for &operation in Operation::ALL {
        for wmma in [Wmma::Gfx11, Wmma::Gfx12] {
            assert!(instances(operation, wmma).next().is_some(), "{operation} on {wmma:?}");
        }
    }
}

#[test]
fn budgets_are_within_the_hardware() {
    for instance in INSTANCES {
        assert!(!instance.budgets.is_empty(), "{}", instance.entry);
        for budget in instance.budgets {
            assert!(budget.vgprs <= 256 && budget.lds_bytes <= 65_536, "{}", instance.entry);
        }
        let attention = [Operation::FmhaFwd, Operation::FmhaPaged, Operation::FmhaSplitKv];
        assert_eq!(
            instance.attention.is_some(),
            attention.contains(&instance.operation),
            "{}",
            instance.entry
        );
    }
}

#[test]
fn the_tile_of_an_activation_is_one_row_of_256_times_16_bytes() {
    let tile = |data_type: DataType| {
        let is = |i: &&Instance| i.operation == Operation::SiluAndMul && i.data_type == data_type;
        INSTANCES.iter().find(is).map(|i| (i.tile.m, i.tile.n, i.warps))
    };
    assert_eq!(tile(DataType::Bf16), Some((1, 2048, 8)));
    assert_eq!(tile(DataType::F32), Some((1, 1024, 8)));
}

#[test]
fn the_geometry_follows_the_row() {
    let is = |i: &&Instance| i.attention.is_some_and(|a| a.head_dim == 64 && a.modes.contains(&Mode::Dense));
    let instance = INSTANCES.iter().find(is).expect("d64 dense");
    let geometry = instance.geometry(Wmma::Gfx12).expect("on gfx12");
    assert_eq!((geometry.threads, geometry.tile_m, geometry.tile_n, geometry.head_dim), (128, 64, 64, 64));
    assert_eq!((geometry.argument_bytes, geometry.lds_bytes), (160, 4608));
    assert_eq!(instance.geometry_symbol(), "fmha_fwd_bf16_d64_geometry");
}

#[test]
fn an_exception_changes_the_budgets_of_its_targets_alone() {
    let budget = |target, entry: &str, name| {
        let kernels = expected_on(name, target);
        let kernel = kernels.iter().find(|kernel| kernel.name == entry).expect("a kernel");
        (kernel.vgprs, kernel.scratch_bytes)
    };
    for exception in EXCEPTIONS {
        for entry in exception.entries {
            let instance = INSTANCES.iter().find(|instance| instance.entry == *entry).expect("a kernel");
            for target in Target::ALL.iter().filter(|target| target.wmma() == Some(Wmma::Gfx11)) {
                let usual = instance.budget(Wmma::Gfx11).expect("a budget");
                let found = budget(*target, entry, instance.code_object);
                let is_own = |e: &&Exception| e.entries.contains(entry) && e.targets.contains(target);
                let own = EXCEPTIONS.iter().find(is_own);
                let wanted = own.map_or((usual.vgprs, usual.scratch_bytes), |e| (e.vgprs, e.scratch_bytes));
                assert_eq!(found, wanted, "{target:?} {entry}");
                assert!(
                    own.is_none_or(|_| wanted > (usual.vgprs, usual.scratch_bytes)),
                    "needless: {target:?} {entry}"
                );
            }
        }
    }
}

/// `benches/table.md` has every kernel of every exact target, within its budget.
#[test]
fn the_table_of_what_kernels_take_is_complete_and_within_the_budgets() {
    let table = fs::read_to_string(here("benches/table.md")).expect("the table");
    let mut rows = HashMap::new();
    for line in table.lines().filter(|line| line.starts_with("| gfx")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |column: usize| cells[column].parse::<u32>().expect("a number");
        rows.insert(cells[1], (number(2), number(4), number(5)));
    }
    rows.retain(|name, _| !name.contains(" ck_tile_"));
    let exact = Target::ALL.iter().filter(|target| target.wmma().is_some() && !target.is_generic());
    for &target in exact {
        for kernel in code_objects().into_iter().flat_map(|object| expected_on(object, target)) {
            let name = format!("{target} {}", kernel.name);
            let (vgprs, lds, scratch) =
                rows.remove(name.as_str()).unwrap_or_else(|| panic!("no row `{name}`"));
            assert!(vgprs <= kernel.vgprs && scratch <= kernel.scratch_bytes, "{name}");
            assert_eq!(lds, kernel.lds_bytes, "{name}");
        }
    }
    assert!(rows.is_empty(), "rows of no kernel: {rows:?}");
}
