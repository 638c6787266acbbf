//! The licence texts that go with a release: ours, and those of every package whose code is part of it.

use crate::files::{self, Named};
use crate::lock::Part;
use crate::store::Installed;
use std::collections::BTreeMap;
use std::path::Path;

/// Parts whose headers are compiled into code objects, or whose libraries are shipped.
const COMPILED_IN: [Part; 3] = [Part::Hip, Part::ComposableKernel, Part::DeviceLibs];

/// Path in the release and text of each licence.
pub(crate) fn collect(root: &Path, toolchain: &Installed) -> Result<Vec<(String, Vec<u8>)>, files::Error> {
    let own = root.join("LICENSE");
    let mut licences = BTreeMap::from([("LICENSE".to_owned(), std::fs::read(&own).named("read", &own)?)]);
    for package in &toolchain.packages {
        let receipt = &package.receipt;
        if !receipt.parts.keys().any(|part| COMPILED_IN.contains(part)) {
            continue;
        }
        let paths: Vec<String> =
            files::list(&package.tree)?.into_iter().filter(|path| is_licence(path)).collect();
        let is_only_one = paths.len() == 1;
        for path in paths {
            let full = package.tree.join(&path);
            let text = std::fs::read(&full).named("read", &full)?;
            let name = format!("licenses/{}/{}", receipt.package, file_name(&path, is_only_one));
            // Two components of one name: the longer path tells them apart.
            match licences.get(&name) {
                Some(other) if *other != text => {
                    licences.insert(format!("licenses/{}/{}", receipt.package, path.replace('/', "-")), text);
                }
                _ => drop(licences.insert(name, text)),
            }
        }
    }
    Ok(licences.into_iter().collect())
}

/// `share/doc/rocblas/LICENSE.md` is `rocblas-LICENSE.md`; the only one of a package keeps its name.
fn file_name(path: &str, is_only_one: bool) -> String {
    let mut parts = path.rsplit('/');
    let name = parts.next().unwrap_or(path);
    match parts.next().filter(|_| !is_only_one) {
        Some(component) => format!("{component}-{name}"),
        None => name.to_owned(),
    }
}

fn is_licence(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    ["license", "licence", "copying", "copyright", "notice"]
        .iter()
        .any(|word| name.strip_prefix(word).is_some_and(|rest| matches!(rest, "" | ".txt" | ".md" | ".rst")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_component_of_a_dist_keeps_its_own_text() {
        assert_eq!(file_name("share/doc/rocblas/LICENSE.md", false), "rocblas-LICENSE.md");
        assert_eq!(file_name("composable_kernel/LICENSE", true), "LICENSE");
        assert_eq!(file_name("LICENSE", false), "LICENSE");
        assert!(is_licence("a/COPYING.txt") && is_licence("NOTICE") && !is_licence("licenses/x"));
    }
}
