//! One package: its sources in order, then the mirrors, each unpacked into a fresh folder until one is good.

use super::archive::{Limits, TreeWriter};
use super::channel::{self, deb::Mirrors};
use super::feed::{Feed, HttpFeed};
use super::pipeline::{check, receive};
use super::{Error, Mirror, Refusal, mirror, partial};
use crate::digest::Sha256;
use crate::files::{self, Named};
use crate::lock::{Archive, Channel, Package, Source};
use crate::store::Manifest;
use crate::ui::Ui;
use std::path::Path;
use std::time::Duration;

/// What fetching needs from outside.
pub(crate) struct Context<'a> {
    /// Where progress goes.
    pub(crate) ui: &'a Ui,
    /// The machine's Debian mirrors.
    pub(crate) debian: Mirrors,
    /// Mirrors that hold archives by digest.
    pub(crate) mirrors: Vec<Mirror>,
    /// Whether only what is on this machine may be used.
    pub(crate) offline: bool,
    /// How long is waited.
    pub(crate) timing: Timing,
}

/// How long is waited.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timing {
    /// Waits between tries are multiplied by this.
    pub(crate) retry_scale: f64,
    /// A transfer that gives nothing for this long is broken.
    pub(crate) stall: Duration,
    /// How many connections bring one archive; `None`: as its size asks.
    pub(crate) connections: Option<u64>,
}

/// Folders of one fetch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places<'a> {
    /// Becomes the unpacked tree.
    pub(crate) tree: &'a Path,
    /// For the clients of the registries; empty.
    pub(crate) scratch: &'a Path,
    /// Keeps what has come for the next run.
    pub(crate) partials: &'a Path,
}

/// One place to get a source's archives from.
#[derive(Clone, Copy)]
enum Route<'a> {
    Channel(Channel),
    Mirror(&'a Mirror),
    /// Bytes that came whole in an earlier run.
    Partials,
}

/// Unpacks `package` into `places.tree` and gives the index of the source that was good with the manifest of the tree.
///
/// Tree and scratch are left behind on failure, for the caller to remove.
pub(crate) fn fetch_package(
    package: &Package,
    places: Places,
    context: &Context,
) -> Result<(usize, Manifest), Error> {
    try_routes(package, places, context, |source, route| {
        fetch_source(package, source, route, places, context)
    })
}

/// Saves the verified archives of `package`'s first good source below `out`, as a mirror has them; those that are there are left alone.
/// Gives the number of new files.
pub(crate) fn save_package(
    package: &Package,
    out: &Path,
    places: Places,
    context: &Context,
) -> Result<usize, Error> {
    let (_, saved) = try_routes(package, places, context, |source, route| {
        let missing =
            source.archives.iter().filter(|a| !out.join(mirror::path_below(a.sha256, &a.file)).is_file());
        let missing: Vec<&Archive> = missing.collect();
        if !missing.is_empty() {
            prepare(package, source, route, places, context)?;
        }
        missing.iter().try_for_each(|archive| save_archive(archive, route, out, places, context))?;
        Ok(missing.len())
    })?;
    Ok(saved)
}

fn save_archive(
    archive: &Archive,
    route: Route,
    out: &Path,
    places: Places,
    context: &Context,
) -> Result<(), Error> {
    let mut feed = open(archive, route, &places, context)?;
    let bar = context.ui.bar("fetch", &archive.file, archive.size.unwrap_or(0));
    if let Err(error) = check(feed.as_mut(), archive, &bar) {
        if is_wrong(&error) {
            feed.reject()?;
        }
        return Err(error);
    }
    let to = out.join(mirror::path_below(archive.sha256, &archive.file));
    files::create_folder(to.parent().unwrap_or(out))?;
    // Named only when it is whole.
    let unnamed = to.with_extension("unfinished");
    std::fs::copy(feed.file(), &unnamed).named("write", &unnamed)?;
    Ok(files::rename(&unnamed, &to)?)
}

fn try_routes<T>(
    package: &Package,
    places: Places,
    context: &Context,
    mut attempt: impl FnMut(&Source, Route) -> Result<T, Error>,
) -> Result<(usize, T), Error> {
    let routes = routes(package, places, context);
    if routes.is_empty() {
        let missing = |source: &Source| source.archives.iter().map(|a| (a.file.clone(), a.sha256)).collect();
        return Err(Error::Offline { package: package.name.clone(), missing: missing(&package.sources[0]) });
    }
    let mut failures = Vec::new();
    for (number, (index, route)) in routes.iter().enumerate() {
        let source = &package.sources[*index];
        match attempt(source, *route) {
            Ok(done) => return Ok((*index, done)),
            Err(error) if error.is_about_the_source() => {
                let label = label(*route, source);
                if number + 1 < routes.len() {
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

/// Folders first, since they cost nothing; then the sources; then servers.
fn routes<'a>(package: &Package, places: Places, context: &'a Context) -> Vec<(usize, Route<'a>)> {
    let sources = || package.sources.iter().enumerate();
    let complete =
        |source: &Source| source.archives.iter().all(|archive| is_complete(places.partials, archive));
    let mut routes: Vec<(usize, Route)> =
        sources().filter(|(_, source)| complete(source)).map(|(index, _)| (index, Route::Partials)).collect();
    let from_mirrors = |remote: bool| {
        context.mirrors.iter().filter(move |mirror| mirror.is_remote() == remote).flat_map(move |mirror| {
            sources()
                .filter(|(_, source)| source.archives.iter().all(|archive| mirror.may_have(archive)))
                .map(|(index, _)| (index, Route::Mirror(mirror)))
                .collect::<Vec<_>>()
        })
    };
    routes.extend(from_mirrors(false));
    if !context.offline {
        routes.extend(sources().map(|(index, source)| (index, Route::Channel(source.channel))));
        routes.extend(from_mirrors(true));
    }
    routes
}

/// Where the lock knows no size, only the hash tells the end from a break.
fn is_complete(partials: &Path, archive: &Archive) -> bool {
    let path = partial::path(partials, archive.sha256);
    match archive.size {
        Some(size) => std::fs::metadata(path).is_ok_and(|meta| meta.len() == size),
        None => Sha256::of_file(&path).is_ok_and(|(digest, _)| digest == archive.sha256),
    }
}

fn label(route: Route, source: &Source) -> String {
    let archive = source.archives[0].label();
    match route {
        Route::Channel(channel) => format!("{channel} {archive}"),
        Route::Mirror(mirror) => format!("mirror {mirror} {archive}"),
        Route::Partials => format!("kept bytes of {archive}"),
    }
}

fn fetch_source(
    package: &Package,
    source: &Source,
    route: Route,
    places: Places,
    context: &Context,
) -> Result<Manifest, Error> {
    prepare(package, source, route, places, context)?;
    loop {
        files::remove_tree(places.tree)?;
        files::create_folder(places.tree)?;
        match unpack_source(package, source, route, places, context) {
            // Bytes of an earlier run were part of it: they are put aside, and all is fetched again, once.
            Err(Unpacked::Stale(error)) => {
                context.ui.warn(&format!(
                    "{error}; what an earlier run had kept was wrong, so all is fetched again"
                ));
            }
            Err(Unpacked::Failed(error)) => return Err(error),
            Ok(manifest) => return Ok(manifest),
        }
    }
}

/// Has a registry's client bring its files.
fn prepare(
    package: &Package,
    source: &Source,
    route: Route,
    places: Places,
    context: &Context,
) -> Result<(), Error> {
    if let Route::Channel(_) = route {
        files::remove_tree(places.scratch)?;
        files::create_folder(places.scratch)?;
        channel::prepare(&package.name, source, places.scratch, context)?;
    }
    Ok(())
}

fn open<'a>(
    archive: &'a Archive,
    route: Route,
    places: &Places,
    context: &'a Context,
) -> Result<Box<dyn Feed + 'a>, Error> {
    match route {
        Route::Channel(channel) => channel::open(channel, archive, places, context),
        Route::Mirror(mirror) => mirror.open(archive, places, context),
        Route::Partials => {
            Ok(Box::new(HttpFeed::kept(archive, places.partials, context.timing, context.ui)?))
        }
    }
}

fn is_wrong(error: &Error) -> bool {
    matches!(error, Error::Hash { .. } | Error::Size { .. })
}

enum Unpacked {
    Stale(Error),
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Unpacked {
    fn from(error: E) -> Self {
        Unpacked::Failed(error.into())
    }
}

fn unpack_source(
    package: &Package,
    source: &Source,
    route: Route,
    places: Places,
    context: &Context,
) -> Result<Manifest, Unpacked> {
    let limits = source
        .tree
        .as_ref()
        .map_or(Limits::GENEROUS, |tree| Limits { members: tree.files, bytes: tree.bytes });
    let mut writer = TreeWriter::new(places.tree, &package.only, limits);
    let total: u64 = source.archives.iter().filter_map(|archive| archive.size).sum();
    let bar = context.ui.bar("fetch", &format!("{} {}", package.name, package.version), total);
    for archive in &source.archives {
        let mut feed = open(archive, route, &places, context)?;
        if let Err(error) = receive(feed.as_mut(), archive, &mut writer, &bar) {
            let is_wrong = is_wrong(&error);
            let was_resumed = feed.was_resumed();
            if is_wrong {
                feed.reject()?;
            }
            return Err(match is_wrong && was_resumed && !matches!(route, Route::Partials) {
                true => Unpacked::Stale(error),
                false => Unpacked::Failed(error),
            });
        }
    }
    bar.finish();
    let refused = |source: Refusal| Error::Archive { what: package.name.clone(), source };
    let manifest = writer.finish().map_err(refused)?;
    match &source.tree {
        Some(tree) if tree.sha256 != manifest.digest() => Err(Unpacked::Failed(Error::Tree {
            package: package.name.clone(),
            expected: tree.sha256,
            actual: manifest.digest(),
        })),
        _ => Ok(manifest),
    }
}
