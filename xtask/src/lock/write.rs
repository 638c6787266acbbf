//! Writes entries into a lock and leaves every other line, comment and order as it was.

use super::model::{Archive, Host, Package};
use crate::address;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value, value};

/// `lock` with `package` in place of the package of the same name and host, or appended.
///
/// The text must be a lock that [`super::parse`] accepts.
pub(crate) fn upsert_package(lock: &str, package: &Package) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = lock.parse()?;
    let host = package.host.map(Host::triple);
    let packages = document.entry("package").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    if let Some(packages) = packages.as_array_of_tables_mut() {
        let table = package_table(package);
        let text = |table: &Table, key| table.get(key).and_then(Item::as_str).map(str::to_owned);
        let same = |old: &&mut Table| {
            text(old, "name").as_deref() == Some(&package.name) && text(old, "host").as_deref() == host
        };
        if let Some(old) = packages.iter_mut().find(same) {
            overwrite(old, table);
        } else {
            packages.push(table);
        }
    }
    Ok(document.to_string())
}

/// Gives `old` the content of `new`; comments stay wherever a key or table stays.
fn overwrite(old: &mut Table, new: Table) {
    let gone: Vec<String> =
        old.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        old.remove(&key);
    }
    for (key, item) in new {
        match (old.get_mut(&key), item) {
            (Some(Item::ArrayOfTables(tables)), Item::ArrayOfTables(others))
                if tables.len() == others.len() =>
            {
                tables.iter_mut().zip(others).for_each(|(table, other)| overwrite(table, other));
            }
            (Some(Item::Value(value)), Item::Value(mut other)) => {
                *other.decor_mut() = value.decor().clone();
                *value = other;
            }
            (_, item) => {
                old.insert(&key, item);
            }
        }
    }
}

/// `package` alone, as it stands in a lock.
pub(crate) fn render_package(package: &Package) -> String {
    let mut document = DocumentMut::new();
    let mut packages = ArrayOfTables::new();
    packages.push(package_table(package));
    document.insert("package", Item::ArrayOfTables(packages));
    document.to_string()
}

fn package_table(package: &Package) -> Table {
    let mut table = Table::new();
    table.insert("name", value(&package.name));
    table.insert("version", value(&package.version));
    if let Some(host) = package.host {
        table.insert("host", value(host.triple()));
    }
    table.insert("license", value(&package.license));
    table.insert("provides", strings(package.provides.iter().map(|part| part.name())));
    if !package.only.is_empty() {
        table.insert("only", strings(package.only.iter().map(String::as_str)));
    }
    let mut sources = ArrayOfTables::new();
    for source in &package.sources {
        let mut entry = Table::new();
        entry.insert("channel", value(source.channel.to_string()));
        if let Some(tree) = &source.tree {
            let number = |n: u64| Value::from(i64::try_from(n).unwrap_or(i64::MAX));
            let mut facts = toml_edit::InlineTable::new();
            facts.insert("files", number(tree.files));
            facts.insert("bytes", number(tree.bytes));
            if let Some(longest) = tree.longest {
                facts.insert("longest", number(longest));
            }
            facts.insert("sha256", Value::from(tree.sha256.to_string()));
            entry.insert("tree", value(facts));
        }
        let mut archives = ArrayOfTables::new();
        source.archives.iter().for_each(|archive| archives.push(archive_table(archive)));
        entry.insert("archive", Item::ArrayOfTables(archives));
        sources.push(entry);
    }
    table.insert("source", Item::ArrayOfTables(sources));
    table
}

fn archive_table(archive: &Archive) -> Table {
    let mut table = Table::new();
    let file = if address::file(&archive.url) == archive.file { "" } else { &archive.file };
    let texts = [
        ("url", archive.url.as_str()),
        ("name", &archive.name),
        ("version", &archive.version),
        ("suite", &archive.suite),
        ("file", file),
    ];
    for (key, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        table.insert(key, value(text));
    }
    if let Some(size) = archive.size {
        table.insert("size", value(i64::try_from(size).unwrap_or(i64::MAX)));
    }
    table.insert("sha256", value(archive.sha256.to_string()));
    let mut measured = toml_edit::Array::new();
    for m in &archive.measured {
        let mut entry = toml_edit::InlineTable::new();
        entry.insert("by", Value::from(m.by.as_str()));
        entry.insert("on", Value::from(m.on.as_str()));
        measured.push(entry);
    }
    table.insert("measured", value(measured));
    table
}

fn strings<'a>(texts: impl Iterator<Item = &'a str>) -> Item {
    value(texts.collect::<toml_edit::Array>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::{Channel, Measured, Part, Source, parse};
    use std::path::Path;

    fn package(version: &str) -> Package {
        let archive = Archive {
            url: format!("https://example.org/dist-{version}.tar.gz"),
            name: String::new(),
            version: String::new(),
            suite: String::new(),
            file: format!("dist-{version}.tar.gz"),
            size: Some(7),
            sha256: crate::digest::Sha256::of(version.as_bytes()),
            measured: vec![Measured { by: "xtask lock add".into(), on: "2026-11-30".into() }],
        };
        Package {
            name: "dist".into(),
            version: version.into(),
            host: None,
            license: "MIT".into(),
            provides: vec![Part::Hip],
            only: Vec::new(),
            sources: vec![Source { channel: Channel::Url, archives: vec![archive], tree: None }],
        }
    }

    #[test]
    fn what_is_written_is_what_is_read_and_comments_stay() {
        let empty = "# a comment\nversion = 1\n";
        let first = upsert_package(empty, &package("1.0")).expect("edits");
        assert!(first.starts_with(empty), "{first}");
        let commented = first
            .replace("[[package]]", "# why this one\n[[package]]")
            .replace("size = 7", "size = 7 # packed")
            .replace("[[package.source.archive]]", "# from the publisher\n[[package.source.archive]]");
        let second = upsert_package(&commented, &package("2.0")).expect("edits");
        let lock = parse(Path::new("toolchains.lock"), &second).expect("a good lock");
        assert_eq!(lock.packages, [package("2.0")], "replaced, not added");
        for comment in
            ["# why this one\n[[package]]", "# packed", "# from the publisher\n[[package.source.archive]]"]
        {
            assert!(second.contains(comment), "{second}");
        }
    }
}
