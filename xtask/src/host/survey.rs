//! Asks the machine everything that `doctor` wants to know.

use super::machine::{Hindrance, Machine, Needed, State, Toolchain, Volume};
use super::visual_studio::{self, ClangHeaders};
use super::{MINIMUM_CMAKE, MINIMUM_NINJA, detect_gpus, find_program, runtime, sdk, windows_value};
use crate::fetch::{self, Mirrors, check_client};
use crate::lock::{self, Channel, Host, Lock, Part, Selected};
use crate::store::{Error, Installed, Store, load_installed};
use crate::ui::mend_of;
use std::path::{Path, PathBuf};

/// pip's own minimum.
const MINIMUM_PYTHON: [u32; 2] = [3, 9];
const INSTALL_PYTHON: &str =
    if cfg!(windows) { "winget install Python.Python.3.13" } else { "apt-get install python3-pip" };
/// Unpacked and packed bytes for each packed one, where the lock does not say more.
const SPACE_RATIO: u64 = 7;

/// What is asked about.
pub(crate) struct Question<'a> {
    /// The store.
    pub(crate) store: &'a Store,
    /// The checkout.
    pub(crate) root: &'a Path,
    /// The lock.
    pub(crate) lock: &'a Lock,
    /// The chosen toolchain.
    pub(crate) selected: Selected<'a>,
}

/// The whole machine.
pub(crate) fn survey(question: &Question) -> Machine {
    let Question { store, root, lock, selected } = question;
    let installed = load_installed(store, *selected).ok();
    let part = |part: Part| installed.as_ref().and_then(|installed| installed.parts.get(&part).cloned());
    let names = lock.toolchains.iter().filter(|toolchain| toolchain.host == selected.toolchain.host);
    let toolchains: Vec<Toolchain> = names
        .filter_map(|toolchain| lock::select(lock, &toolchain.name, toolchain.host).ok())
        .map(|selected| toolchain(store, selected))
        .collect();
    let sdks = sdk::candidates(&sdk::places(root, store), Host::THIS);
    let hip_roots = sdk::hip_roots(part(Part::Hip), &sdks);
    let to_fetch = toolchains.iter().find(|toolchain| toolchain.name == selected.toolchain.name);
    let to_fetch = match to_fetch.map(|toolchain| &toolchain.state) {
        Some(State::Missing(_, bytes)) => bytes * SPACE_RATIO,
        _ => 0,
    };
    let needs_studio = cfg!(windows) && selected.toolchain.host == Host::WindowsMsvc;
    let headers = part(Part::Compiler).map(|clang| ClangHeaders::of_compiler(&clang)).unwrap_or_default();
    Machine {
        host: Host::THIS,
        chosen: selected.toolchain.name.clone(),
        targets: selected.toolchain.targets.clone(),
        gpus: detect_gpus(&hip_roots),
        kernel_driver: kernel_driver(),
        runtimes: runtime::runtimes(),
        own_runtime: part(Part::Hip).and_then(|root| own_runtime(&root)),
        studio: needs_studio.then(|| visual_studio::survey(headers)),
        programs: programs(*selected, installed.as_ref()),
        hindrances: hindrances(store, *selected),
        volumes: volumes(store, root, to_fetch),
        longest_path: longest_path(store, *selected),
        long_paths: long_paths(),
        page_file: page_file(),
        variables: crate::build::Parent::of_process().0,
        toolchains,
        sdks,
    }
}

fn toolchain(store: &Store, selected: Selected) -> Toolchain {
    let state = match load_installed(store, selected) {
        Ok(installed) => match installed.parts.values().find(|path| !path.exists()) {
            None => State::Installed(installed.packages.len()),
            Some(path) => State::Broken(format!("`{}` is gone", path.display())),
        },
        Err(Error::NotInstalled { package, .. }) => {
            State::Missing(format!("{package} is missing"), to_download(store, selected))
        }
        Err(error) => State::Broken(error.to_string()),
    };
    Toolchain { name: selected.toolchain.name.clone(), rocm: selected.toolchain.rocm.clone(), state }
}

/// Bytes of the archives that are not in the store, as far as the lock tells.
fn to_download(store: &Store, selected: Selected) -> u64 {
    missing(store, &selected)
        .filter_map(|package| package.sources.first())
        .flat_map(|source| &source.archives)
        .filter_map(|a| a.size)
        .sum()
}

/// The packages of which the store has no source.
fn missing<'s>(store: &Store, selected: &'s Selected) -> impl Iterator<Item = &'s lock::Package> {
    let is_there =
        |source: &lock::Source, only: &[String]| store.receipt(source.key(only)).ok().flatten().is_some();
    selected
        .packages()
        .filter(move |package| !package.sources.iter().any(|source| is_there(source, &package.only)))
}

/// What the clients lack that the missing packages come by. A package that also comes another way needs none.
fn hindrances(store: &Store, selected: Selected) -> Vec<Hindrance> {
    let mirrors = Mirrors::of_machine();
    let missing: Vec<_> = missing(store, &selected).collect();
    let hindrance = |channel: Channel| {
        let alone = missing.iter().filter(|p| p.sources.iter().all(|source| source.channel == channel));
        let archives: Vec<_> = alone.flat_map(|p| &p.sources).flat_map(|source| &source.archives).collect();
        let (false, Err(error)) = (archives.is_empty(), check_client(channel, &archives, &mirrors)) else {
            return None;
        };
        let mend = match error {
            fetch::Error::NoPip { .. } => INSTALL_PYTHON,
            _ => mend_of(&error),
        };
        Some(Hindrance { what: error.to_string(), mend: mend.to_owned() })
    };
    [Channel::Deb, Channel::Pip].into_iter().filter_map(hindrance).collect()
}

fn kernel_driver() -> Option<String> {
    let text = std::fs::read_to_string("/sys/module/amdgpu/version").ok()?;
    Some(text.trim().to_owned()).filter(|version| !version.is_empty())
}

/// The runtime of a dist, on either system.
fn own_runtime(root: &Path) -> Option<String> {
    let files = ["bin/amdhip64_7.dll", "lib/libamdhip64.so.7"].map(|file| root.join(file));
    files.iter().find(|path| path.is_file()).and_then(|path| runtime::version_of(path))
}

fn programs(selected: Selected, installed: Option<&Installed>) -> Vec<Needed> {
    let has = |part: Part| selected.packages().any(|package| package.provides.contains(&part));
    let uses_pip = installed.is_none()
        && selected
            .packages()
            .any(|package| package.sources.iter().any(|source| source.channel == Channel::Pip));
    let python = if cfg!(windows) { "python" } else { "python3" };
    let (cmake, ninja) = match cfg!(windows) {
        true => ("winget install Kitware.CMake", "winget install Ninja-build.Ninja"),
        false => ("apt-get install cmake", "apt-get install ninja-build"),
    };
    let needed = |name, minimum, purpose, install| Needed {
        name,
        minimum,
        purpose,
        found: find_program(name, minimum),
        install,
    };
    vec![
        needed("cmake", MINIMUM_CMAKE, (!has(Part::Cmake)).then_some("to build"), cmake),
        needed("ninja", MINIMUM_NINJA, (!has(Part::Ninja)).then_some("to build"), ninja),
        needed(python, MINIMUM_PYTHON, uses_pip.then_some("to fetch packages through pip"), INSTALL_PYTHON),
    ]
}

fn volumes(store: &Store, root: &Path, needed: u64) -> Vec<Volume> {
    let volume = |what, path: PathBuf, needed, option| {
        let existing = path.ancestors().find(|path| path.exists()).map(Path::to_owned);
        let free = existing.and_then(|path| fs4::available_space(&path).ok());
        Volume { what, path, free, needed, option }
    };
    vec![
        volume("the store", store.root().to_owned(), needed, "--store DIR"),
        volume("artifacts and build folders", root.to_owned(), 0, "a checkout on another volume"),
        volume("temporary files", std::env::temp_dir(), 0, if cfg!(windows) { "TEMP" } else { "TMPDIR" }),
    ]
}

/// Of the longest path that the toolchain has in the store, where the lock tells.
fn longest_path(store: &Store, selected: Selected) -> Option<usize> {
    let sources = selected.packages().filter_map(|package| package.sources.first());
    let longest = sources.filter_map(|source| source.tree.as_ref()?.longest).max()?;
    Some(store.length_of(longest))
}

/// The setting that holds one line for each file, and is empty where there is none.
fn page_file() -> Option<bool> {
    let key = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management";
    cfg!(windows).then(|| windows_value(key, "PagingFiles").is_some_and(|files| !files.trim().is_empty()))
}

fn long_paths() -> Option<bool> {
    let key = r"SYSTEM\CurrentControlSet\Control\FileSystem";
    cfg!(windows).then(|| windows_value(key, "LongPathsEnabled").as_deref() == Some("1"))
}
