//! What the programs of a release need to run: the import closure, found in the toolchain and in the named redistributable, with the kernel
//! libraries of its targets.

use super::closure::{Closure, Listing, Place, Root, Tree, file_name, walk};
use super::member::{Draft, Origin};
use super::rocm::{
    Count, KernelFolder, RocmTree, library_folder, place_below_rocm, place_of_library, serves_one,
    sort_kernels,
};
use super::{Error, Parts};
use crate::build::Component;
use crate::files;
use crate::lock::Host;
use std::path::PathBuf;

/// The files, and what was found out on the way.
#[derive(Debug, Default)]
pub(super) struct Runtime {
    pub(super) drafts: Vec<Draft>,
    /// Libraries that the programs load by name and that are in the release.
    pub(super) loaded: Vec<String>,
    /// Libraries that the programs load by name and that the user's driver has to bring.
    pub(super) of_driver: Vec<String>,
    /// Kernel folder, how many of its files went where.
    pub(super) counts: Vec<(String, Count)>,
}

/// Names of places.
const OUTPUTS: &str = "outputs";
const REDISTRIBUTABLE: &str = "redistributable";

/// Walks from the programs among `outputs` and takes what they need.
pub(super) fn collect(parts: &Parts, outputs: &[Draft]) -> Result<Runtime, Error> {
    let rocm = parts.rocm;
    let own = OutputTree(outputs);
    let redistributable = parts.redistributable.map(Redistributable::open).transpose()?;
    let mut places = vec![Place { name: OUTPUTS.into(), listing: &own, folders: vec![String::new()] }];
    let rocm_listing = rocm.map(RocmTree::listing);
    if let (Some(rocm), Some(listing)) = (rocm, &rocm_listing) {
        let folders = vec![library_folder(parts.host).to_owned()];
        places.push(Place { name: rocm.package.clone(), listing, folders });
    }
    if let Some(redistributable) = &redistributable {
        let folders = redistributable.folders.clone();
        places.push(Place { name: REDISTRIBUTABLE.into(), listing: &redistributable.tree, folders });
    }
    let mut runtime = Runtime::default();
    let mut declared = declared(parts, |component| &component.runtime);
    let mut roots = own.programs();
    match rocm {
        Some(rocm) => {
            let optional = declared_optional(parts, rocm);
            declared.extend(optional);
            let loaded = |(name, by): &(String, String)| Root::Loaded { name: name.clone(), by: by.clone() };
            roots.extend(declared.iter().map(loaded));
            runtime.loaded = declared.into_iter().map(|(name, _)| name).collect();
        }
        None => runtime.of_driver = declared.into_iter().map(|(name, _)| name).collect(),
    }
    let closure = walk(roots, &places, parts.host)?;
    for found in &closure.found {
        let place = &places[found.location.place];
        match (place.name.as_str(), rocm, &redistributable) {
            (OUTPUTS, ..) => {}
            (REDISTRIBUTABLE, _, Some(redistributable)) => {
                runtime.drafts.push(redistributable.draft(&found.location.path)?);
            }
            (_, Some(rocm), _) => {
                runtime.drafts.push(rocm_draft(
                    rocm,
                    &found.location.path,
                    place_of_library(&found.location.path, parts.host),
                ));
            }
            _ => {}
        }
    }
    if let Some(rocm) = rocm {
        add_kernels(parts, rocm, &closure, &mut runtime)?;
    }
    Ok(runtime)
}

/// Of the libraries that a component does without, those that the dist has and that have kernels for one of the targets.
fn declared_optional(parts: &Parts, rocm: &RocmTree) -> Vec<(String, String)> {
    let mut optional = declared(parts, |component| &component.optional);
    optional.retain(|(name, _)| {
        let is_there = rocm.file(&format!("{}/{name}", library_folder(parts.host))).is_some();
        is_there && serves_one(name, &parts.targets)
    });
    optional
}

/// Name of each library that a component loads at run time on this host, and the component; `of` is which of its lists is meant.
fn declared(parts: &Parts, of: impl Fn(&Component) -> &Vec<String>) -> Vec<(String, String)> {
    let is_for_host =
        |name: &&String| name.to_ascii_lowercase().ends_with(".dll") != (parts.host == Host::Linux);
    let mut declared: Vec<(String, String)> = Vec::new();
    for component in &parts.components {
        for name in of(component).iter().filter(is_for_host) {
            if !declared.iter().any(|(known, _)| known == name) {
                declared.push((name.clone(), component.name.clone()));
            }
        }
    }
    declared
}

/// The kernel folders of every library that is shipped.
fn add_kernels(
    parts: &Parts,
    rocm: &RocmTree,
    closure: &Closure,
    runtime: &mut Runtime,
) -> Result<(), Error> {
    for kernels in KernelFolder::ALL {
        if !closure.found.iter().any(|found| kernels.belongs_to(file_name(&found.location.path))) {
            continue;
        }
        let folder = match kernels.folder.starts_with('.') {
            true => kernels.folder.to_owned(),
            false => format!("{}/{}", library_folder(parts.host), kernels.folder),
        };
        let sorted = sort_kernels(kernels, &folder, rocm.below(&folder), &parts.targets)?;
        for path in sorted.taken {
            let place = place_below_rocm(&path);
            runtime.drafts.push(rocm_draft(rocm, &path, place));
        }
        runtime.counts.push((folder, sorted.count));
    }
    Ok(())
}

fn rocm_draft(rocm: &RocmTree, path: &str, place: String) -> Draft {
    let origin = Origin::Package(rocm.package.clone(), rocm.version.clone());
    match rocm.file(path) {
        Some(file) => Draft::file(place, &rocm.root.join(file.path), file.size, Some(*file.sha256), origin),
        // What the manifest does not lead to is read, and fails, by its own name.
        None => Draft::file(place, &rocm.root.join(path), 0, None, origin),
    }
}

/// The outputs as a tree of their own, whatever folders they lie in.
struct OutputTree<'a>(&'a [Draft]);

impl OutputTree<'_> {
    fn programs(&self) -> Vec<Root> {
        let is_program =
            |draft: &&Draft| draft.executable || draft.path.ends_with(".dll") || draft.path.ends_with(".so");
        let root = |draft: &Draft| Root::File {
            location: super::closure::Location { place: 0, path: draft.path.clone() },
            loads: Vec::new(),
        };
        self.0.iter().filter(is_program).map(root).collect()
    }

    fn folder_of(&self, path: &str) -> Option<Tree> {
        let draft = self.0.iter().find(|draft| draft.path == path)?;
        match &draft.content {
            archive::Content::File { path: full, .. } => {
                // An output lies in its artifact folder under its own path.
                let root: PathBuf = full.ancestors().nth(path.split('/').count())?.to_owned();
                Some(Tree::of_paths(&root, [path]))
            }
            archive::Content::Bytes(_) => None,
        }
    }
}

impl Listing for OutputTree<'_> {
    fn names(&self, folder: &str) -> Vec<String> {
        let in_folder = |path: &&str| path.rsplit_once('/').map_or("", |(own, _)| own) == folder;
        let paths = self.0.iter().map(|draft| draft.path.as_str());
        paths.filter(in_folder).map(|path| file_name(path).to_owned()).collect()
    }

    fn binary(&self, path: &str) -> Result<Option<super::closure::Binary>, Error> {
        self.folder_of(path).map_or(Ok(None), |tree| tree.binary(path))
    }

    fn digest(&self, path: &str) -> Result<crate::digest::Sha256, Error> {
        match self.0.iter().find(|draft| draft.path == path).and_then(|draft| draft.expected) {
            Some(digest) => Ok(digest),
            None => self.folder_of(path).map_or(Ok(crate::digest::Sha256::of(b"")), |tree| tree.digest(path)),
        }
    }
}

/// The Visual C++ redistributable that the user named, `VC\Redist\MSVC\<version>`: its folders `x64/Microsoft.VC*.CRT`. The debug ones beside
/// (`debug_nonredist`) are not looked at.
struct Redistributable {
    root: PathBuf,
    tree: Tree,
    folders: Vec<String>,
}

impl Redistributable {
    fn open(root: &std::path::Path) -> Result<Self, Error> {
        let paths = files::list(root)?;
        let is_crt = |folder: &str| {
            folder
                .strip_prefix("x64/Microsoft.VC")
                .is_some_and(|rest| rest.ends_with(".CRT") && !rest.contains('/'))
        };
        let mut folders: Vec<String> = paths
            .iter()
            .filter_map(|path| path.rsplit_once('/'))
            .map(|(folder, _)| folder.to_owned())
            .collect();
        folders.sort();
        folders.dedup();
        folders.retain(|folder| is_crt(folder));
        match folders.is_empty() {
            true => Err(Error::Redistributable { path: root.to_owned() }),
            false => Ok(Self {
                root: root.to_owned(),
                tree: Tree::of_paths(root, paths.iter().map(String::as_str)),
                folders,
            }),
        }
    }

    /// Beside the programs, where Windows looks first.
    fn draft(&self, path: &str) -> Result<Draft, Error> {
        let full = self.root.join(path);
        let size = files::Named::named(std::fs::metadata(&full), "read", &full)?.len();
        Ok(Draft::file(file_name(path).to_ascii_lowercase(), &full, size, None, Origin::Redistributable))
    }
}
