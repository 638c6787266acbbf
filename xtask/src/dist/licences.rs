//! The licence texts that go with a release: ours, and those of every package whose code is part of an output.

use crate::files::{self, Named};
use crate::lock::Part;
use crate::store::Installed;
use std::path::Path;

/// Parts whose headers are compiled into code objects.
const COMPILED_IN: [Part; 3] = [Part::Hip, Part::ComposableKernel, Part::DeviceLibs];

/// Path in the release and text of each licence.
pub(crate) fn collect(root: &Path, toolchain: &Installed) -> Result<Vec<(String, Vec<u8>)>, files::Error> {
    let own = root.join("LICENSE");
    let mut licences = vec![("LICENSE".to_owned(), std::fs::read(&own).named("read", &own)?)];
    for package in &toolchain.packages {
        let receipt = &package.receipt;
        if !receipt.parts.keys().any(|part| COMPILED_IN.contains(part)) {
            continue;
        }
        for path in files::list(&package.tree)?.into_iter().filter(|path| is_licence(path)) {
            let full = package.tree.join(&path);
            let name = format!("licenses/{}/{}", receipt.package, path.rsplit('/').next().unwrap_or(&path));
            licences.push((name, std::fs::read(&full).named("read", &full)?));
        }
    }
    licences.sort();
    licences.dedup_by(|a, b| a.0 == b.0);
    Ok(licences)
}

fn is_licence(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["license", "licence", "copying", "copyright", "notice"]
        .iter()
        .any(|word| name.strip_prefix(word).is_some_and(|rest| matches!(rest, "" | ".txt" | ".md" | ".rst")))
}
