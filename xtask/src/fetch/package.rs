//! One package: its sources in order, each unpacked into a fresh folder until one is good.

use super::archive::TreeWriter;
use super::channel::{self, deb::Mirrors};
use super::pipeline::receive;
use super::{Error, Refusal};
use crate::lock::{Package, Source};
use crate::store::Manifest;
use crate::ui::Ui;
use std::path::Path;

/// What fetching needs from outside.
pub(crate) struct Context<'a> {
    /// Where progress goes.
    pub(crate) ui: &'a Ui,
    /// The machine's Debian mirrors.
    pub(crate) mirrors: Mirrors,
}

/// Unpacks `package` into `tree`, which this creates, and gives the index of the source that was good with the manifest of the tree.
///
/// `scratch` is an empty folder for downloads; both are left behind on failure, for the caller to remove.
pub(crate) fn fetch_package(
    package: &Package,
    tree: &Path,
    scratch: &Path,
    context: &Context,
) -> Result<(usize, Manifest), Error> {
    let mut failures = Vec::new();
    for (index, source) in package.sources.iter().enumerate() {
        match fetch_source(package, source, tree, scratch, context) {
            Ok(manifest) => return Ok((index, manifest)),
            Err(error) if error.is_about_the_source() => {
                let label = format!("{} {}", source.channel, source.archives[0].label());
                if index + 1 < package.sources.len() {
                    context.ui.warn(&format!("{label}: {error}; trying the next source"));
                }
                failures.push((label, Box::new(error)));
            }
            Err(error) => return Err(error),
        }
    }
    match failures.len() {
        1 => Err(*failures.remove(0).1),
        _ => Err(Error::AllSources {
            package: package.name.clone(),
            version: package.version.clone(),
            failures,
        }),
    }
}

fn fetch_source(
    package: &Package,
    source: &Source,
    tree: &Path,
    scratch: &Path,
    context: &Context,
) -> Result<Manifest, Error> {
    recreate(tree)?;
    channel::prepare(&package.name, source, scratch, context)?;
    let mut writer = TreeWriter::new(tree, &package.only);
    let total: u64 = source.archives.iter().filter_map(|archive| archive.size).sum();
    let bar = context.ui.bar(&format!("{} {}", package.name, package.version), total);
    for archive in &source.archives {
        let opened = channel::open(source.channel, archive, scratch)?;
        if let (Some(expected), Some(actual)) = (archive.size, opened.length)
            && expected != actual
        {
            return Err(Error::Size { what: archive.label(), expected, actual, looks_like_html: false });
        }
        receive(opened, archive, &mut writer, scratch, &bar)?;
    }
    bar.finish();
    let refused = |source: Refusal| Error::Archive { what: package.name.clone(), source };
    writer.finish().map_err(refused)
}

fn recreate(folder: &Path) -> Result<(), Error> {
    let failed = |verb| move |source| Error::Io { verb, path: folder.to_owned(), source };
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed("remove"))?;
    }
    std::fs::create_dir_all(folder).map_err(failed("create"))
}
