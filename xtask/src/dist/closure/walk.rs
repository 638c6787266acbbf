//! The walk: from the roots through every header to the last library.

use super::problem::place_of;
use super::{Binary, How, Link, Listing, Machine, Problem, System, is_debug_crt};
use crate::dist::Error;
use crate::lock::Host;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where libraries may be found.
pub(crate) struct Place<'a> {
    /// As errors name it: the package, `outputs`, `redistributable`.
    pub(crate) name: String,
    /// Its files.
    pub(crate) listing: &'a dyn Listing,
    /// The folders that are searched, in order; `""`: the root.
    pub(crate) folders: Vec<String>,
}

/// A file of a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    /// Index of the place.
    pub(crate) place: usize,
    /// In the place.
    pub(crate) path: String,
}

/// Where a walk begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Root {
    /// A program.
    File {
        /// Where it lies.
        location: Location,
        /// The libraries that it loads by name, found as it would find them.
        loads: Vec<String>,
    },
    /// A library that somebody loads by name while it runs.
    Loaded {
        /// Its name.
        name: String,
        /// Who says so.
        by: String,
    },
}

/// One file of the closure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Where it lies.
    pub(crate) location: Location,
    /// From the root to it.
    pub(crate) chain: String,
    /// What its headers say.
    pub(crate) binary: Binary,
}

/// Everything that the roots need.
#[derive(Debug, Clone, Default)]
pub(crate) struct Closure {
    /// The roots and the libraries, in the order in which they were found.
    pub(crate) found: Vec<Found>,
    /// What the system owns of it, with the list's reasons.
    pub(crate) system: BTreeMap<String, &'static str>,
}

/// What libraries load by name without an import, which no header tells: the loader, and the name with a trailing * for any version
/// (facts/strata.md 4.2).
const LOADED_BY_LIBRARIES: [(&str, &str); 4] = [
    ("amdhip64_7.dll", "amd_comgr*"),
    ("hiprtc0*", "hiprtc-builtins*"),
    ("libamdhip64.so.7", "libamd_comgr.so.*"),
    ("libhiprtc.so.*", "libhiprtc-builtins.so.*"),
];

/// Walks from `roots` through `places`. All problems are collected.
pub(crate) fn walk(roots: Vec<Root>, places: &[Place], host: Host) -> Result<Closure, Error> {
    let mut walk = Walk {
        places,
        host,
        system: System::of(host),
        closure: Closure::default(),
        known: BTreeSet::new(),
        open: VecDeque::new(),
        problems: Vec::new(),
    };
    for root in roots {
        match root {
            Root::File { location, loads } => {
                let name = file_name(&location.path).to_owned();
                walk.enter(location, name, loads)?;
            }
            Root::Loaded { name, by } => walk.resolve(&Link { name, how: How::Loaded }, None, &by)?,
        }
    }
    while let Some(index) = walk.open.pop_front() {
        let Found { location, chain, binary } = walk.closure.found[index].clone();
        for link in &binary.links {
            walk.resolve(link, Some((&location, &binary)), &chain)?;
        }
        walk.loaded_by((&location, &binary), &chain)?;
    }
    match walk.problems.is_empty() {
        true => Ok(walk.closure),
        false => Err(Error::Closure { problems: walk.problems }),
    }
}

struct Walk<'a> {
    places: &'a [Place<'a>],
    host: Host,
    system: System,
    closure: Closure,
    /// Folded names that are settled, found or not.
    known: BTreeSet<String>,
    open: VecDeque<usize>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    /// Adds the file at `location`.
    fn enter(&mut self, location: Location, chain: String, loads: Vec<String>) -> Result<(), Error> {
        self.known.insert(self.folded(file_name(&location.path)));
        let Some(mut binary) = self.places[location.place].listing.binary(&location.path)? else {
            // A program may be a script; a library has headers.
            if chain.contains(" -> ") {
                let path = place_of(self.places, &location);
                self.problems.push(Problem::NoLibrary { chain, path });
            }
            return Ok(());
        };
        if binary.machine != Machine::X86_64 {
            let path = place_of(self.places, &location);
            self.problems.push(Problem::Machine { chain, path, machine: binary.machine });
            return Ok(());
        }
        binary.links.extend(loads.into_iter().map(|name| Link { name, how: How::Loaded }));
        self.open.push_back(self.closure.found.len());
        self.closure.found.push(Found { location, chain, binary });
        Ok(())
    }

    /// Finds what `link` names. A name that was found once is the one that the loader takes from then on.
    fn resolve(
        &mut self,
        link: &Link,
        from: Option<(&Location, &Binary)>,
        parents: &str,
    ) -> Result<(), Error> {
        let name = &link.name;
        if let Some(reason) = self.system.reason(name) {
            self.closure.system.insert(name.clone(), reason);
            return Ok(());
        }
        if !self.known.insert(self.folded(name)) {
            return Ok(());
        }
        let how = match link.how {
            How::Import => "",
            How::Delay => " (delay import)",
            How::Forward => " (forwarded export)",
            How::Loaded => " (loaded at run time)",
        };
        let chain = format!("{parents} -> {name}{how}");
        if is_debug_crt(name) {
            self.problems.push(Problem::DebugCrt { chain, name: name.clone() });
            return Ok(());
        }
        let (hits, looked_in) = self.search(name, from);
        match hits.as_slice() {
            [] => self.problems.push(Problem::Missing { chain, name: name.clone(), looked_in }),
            [first, rest @ ..] => {
                for second in rest {
                    self.refuse_another(name, first, second)?;
                }
                self.enter(first.clone(), chain, Vec::new())?;
            }
        }
        Ok(())
    }

    /// One content under one name is no contradiction.
    fn refuse_another(&mut self, name: &str, first: &Location, second: &Location) -> Result<(), Error> {
        let digest = |at: &Location| self.places[at.place].listing.digest(&at.path);
        if digest(first)? != digest(second)? {
            let (first, second) = (place_of(self.places, first), place_of(self.places, second));
            self.problems.push(Problem::Duplicate { name: name.to_owned(), first, second });
        }
        Ok(())
    }

    /// The folders that a loader would search for what `from` needs, in their order: RUNPATH on Linux, else all places.
    fn folders(&self, from: Option<(&Location, &Binary)>) -> Vec<(usize, String)> {
        if let (Host::Linux, Some((location, binary))) = (self.host, from) {
            let origin = location.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let expanded = binary.runpath.iter().filter_map(|entry| below_origin(entry, origin));
            return expanded.map(|folder| (location.place, folder)).collect();
        }
        let all = self.places.iter().enumerate();
        all.flat_map(|(index, place)| place.folders.iter().map(move |folder| (index, folder.clone())))
            .collect()
    }

    /// Every file of this name in the folders that a loader would search, and those folders.
    fn search(&self, name: &str, from: Option<(&Location, &Binary)>) -> (Vec<Location>, Vec<String>) {
        let folders = self.folders(from);
        let mut hits = Vec::new();
        for (place, folder) in &folders {
            let names = self.places[*place].listing.names(folder);
            for own in names.into_iter().filter(|own| self.folded(own) == self.folded(name)) {
                let location = Location { place: *place, path: below(folder, &own) };
                if !hits.contains(&location) {
                    hits.push(location);
                }
            }
        }
        let shown = |(place, folder): &(usize, String)| {
            let folder = if folder.is_empty() { "." } else { folder };
            format!("{} `{folder}`", self.places[*place].name)
        };
        let mut looked_in: Vec<String> = folders.iter().map(shown).collect();
        if looked_in.is_empty() {
            looked_in.push("no folder: it has no RUNPATH".into());
        }
        // RUNPATH has an order; the first one is taken.
        if self.host == Host::Linux && from.is_some() {
            hits.truncate(1);
        }
        (hits, looked_in)
    }

    /// What a library loads without an import, found as it would find it.
    fn loaded_by(&mut self, from: (&Location, &Binary), chain: &str) -> Result<(), Error> {
        let loader = file_name(&from.0.path);
        for (_, pattern) in LOADED_BY_LIBRARIES.iter().filter(|(by, _)| matches(by, loader)) {
            if self.known.iter().any(|known| matches(pattern, known)) {
                continue;
            }
            let mut names = self.names_like(pattern, from)?;
            if names.is_empty() {
                names.push(pattern.trim_end_matches('*').trim_end_matches('.').to_owned());
            }
            for name in names {
                self.resolve(&Link { name, how: How::Loaded }, Some(from), chain)?;
            }
        }
        Ok(())
    }

    /// The libraries that a pattern means; of an ELF library only the file that has its soname for a name.
    fn names_like(&self, pattern: &str, from: (&Location, &Binary)) -> Result<Vec<String>, Error> {
        let mut names = BTreeSet::new();
        for (place, folder) in self.folders(Some(from)) {
            let listing = self.places[place].listing;
            for name in listing.names(&folder).into_iter().filter(|name| matches(pattern, name)) {
                let Some(binary) = listing.binary(&below(&folder, &name))? else { continue };
                if self.host != Host::Linux || binary.soname.as_deref() == Some(&name) {
                    names.insert(name);
                }
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Windows does not tell case apart.
    fn folded(&self, name: &str) -> String {
        match self.host {
            Host::Linux => name.to_owned(),
            Host::WindowsMsvc | Host::WindowsGnu => name.to_ascii_lowercase(),
        }
    }
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn matches(pattern: &str, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A RUNPATH entry as a folder of the tree: only `$ORIGIN` and what is below or above it is part of a release; `None` for any other.
fn below_origin(entry: &str, origin: &str) -> Option<String> {
    let rest = entry.strip_prefix("$ORIGIN").or_else(|| entry.strip_prefix("${ORIGIN}"))?;
    let mut parts: Vec<&str> = origin.split('/').filter(|part| !part.is_empty()).collect();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
