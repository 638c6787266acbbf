//! The Python wheel: `<package>-<version>-py3-none-<platform>.whl`, a function of the artifacts like every release.
//!
//! The package is what a component has under `python/<package>/`, with its library, its header and the code objects of all targets beside it.
//! Format: PyPA, "Binary distribution format" 1.0; RECORD as in PEP 376.

use super::evidence::crate_licences;
use super::outputs::artifact;
use super::platform_tag::platform_tag;
use super::{Crate, Error};
use crate::digest::Sha256;
use crate::files::{self, Named};
use crate::lock::Host;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use gfx::Target;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// What a wheel is made from.
pub(crate) struct WheelParts<'a> {
    /// The component whose artifacts hold the package.
    pub(crate) component: &'a str,
    /// The workspace's version.
    pub(crate) version: &'a str,
    /// Where it will run.
    pub(crate) host: Host,
    /// Whose code objects it holds.
    pub(crate) targets: &'a [Target],
    /// `artifacts/`
    pub(crate) artifacts: &'a Path,
    /// Path and text of each licence.
    pub(crate) licences: &'a [(String, Vec<u8>)],
    /// The crates that are linked into the component's library.
    pub(crate) crates: &'a [Crate],
}

/// A wheel before it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wheel {
    /// The file's name, which says what it runs on.
    pub(crate) name: String,
    /// By path.
    members: BTreeMap<String, Vec<u8>>,
}

/// Collects the wheel of a component; every file is compared with its BUILD.json. `None`: the component has no Python package.
pub(crate) fn plan_wheel(parts: &WheelParts) -> Result<Option<Wheel>, Error> {
    let root = parts.artifacts.join(parts.version).join(parts.host.triple());
    let artifacts = parts.targets.iter().map(|target| artifact(&root, parts.component, *target));
    let artifacts = artifacts.collect::<Result<Vec<_>, Error>>()?;
    let mut outputs = artifacts.iter().flat_map(|(_, manifest)| &manifest.outputs);
    let Some(package) = outputs.find_map(|output| package_of(&output.path)) else { return Ok(None) };
    let mut files = BTreeMap::new();
    for (folder, manifest) in &artifacts {
        for output in &manifest.outputs {
            let path = folder.join(&output.path);
            let content = std::fs::read(&path).named("read", &path)?;
            let actual = Sha256::of(&content);
            if actual != output.sha256 {
                return Err(Error::Changed { path, expected: output.sha256, actual });
            }
            files.insert(output.path.clone(), content);
        }
    }
    Ok(Some(assemble(package, parts, files)))
}

/// The Python package that a file is the root of.
fn package_of(path: &str) -> Option<&str> {
    let (package, file) = path.strip_prefix("python/")?.split_once('/')?;
    (file == "__init__.py").then_some(package)
}

fn assemble(package: &str, parts: &WheelParts, files: BTreeMap<String, Vec<u8>>) -> Wheel {
    let WheelParts { version, host, .. } = parts;
    let tag = format!("py3-none-{}", platform_tag(*host, files.values().map(Vec::as_slice)));
    let info = format!("{package}-{version}.dist-info");
    let mut members = BTreeMap::new();
    for (path, content) in files {
        let path = match path.strip_prefix("python/") {
            Some(path) => path.to_owned(),
            None => format!("{package}/{path}"),
        };
        members.insert(path, content);
    }
    let targets: Vec<&str> = parts.targets.iter().map(|target| target.name()).collect();
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\
         Summary: Attention and activation kernels for AMD Radeon GPUs ({targets}), and the same on the CPU\n\
         License: MIT\nRequires-Python: >=3.9\n",
        name = package.replace('_', "-"),
        targets = targets.join(", "),
    );
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: xtask ({version})\nRoot-Is-Purelib: false\nTag: {tag}\n");
    members.insert(format!("{info}/METADATA"), metadata.into_bytes());
    members.insert(format!("{info}/WHEEL"), wheel.into_bytes());
    for (path, text) in parts.licences {
        members.insert(format!("{info}/licenses/{path}"), text.clone());
    }
    if let Some(text) = crate_licences(parts.crates) {
        members.insert(format!("{info}/licenses/licenses/rust-crates.txt"), text.into_bytes());
    }
    let record = format!("{info}/RECORD");
    let lines = members.iter().map(|(path, content)| {
        format!(
            "{path},sha256={},{}\n",
            BASE64_URL_SAFE_NO_PAD.encode(Sha256::of(content).as_bytes()),
            content.len()
        )
    });
    let text = lines.chain([format!("{record},,\n")]).collect::<String>();
    members.insert(record, text.into_bytes());
    Wheel { name: format!("{package}-{version}-{tag}.whl"), members }
}

impl Wheel {
    /// Writes it into `out`, whole or not at all. Installers do not look at the members' times, so there are none.
    pub(crate) fn write(&self, out: &Path) -> Result<PathBuf, Error> {
        let path = out.join(&self.name);
        let members = self.members.iter().map(|(name, content)| archive::Member {
            name: name.clone(),
            content: archive::Content::Bytes(content.clone()),
            executable: false,
        });
        let mut bytes = Cursor::new(Vec::new());
        archive::write_zip(&members.collect::<Vec<_>>(), archive::Timestamp(0), &mut bytes)
            .map_err(|source| Error::Archive { path: path.clone(), source })?;
        files::write_whole(&path, bytes.get_ref())?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(host: Host) -> WheelParts<'static> {
        WheelParts {
            component: "a-b",
            version: "1.2.3",
            host,
            targets: &[Target::Gfx1201],
            artifacts: Path::new(""),
            licences: &[],
            crates: &[],
        }
    }

    #[test]
    fn the_wheel_for_windows_has_the_dll_where_the_package_looks_for_it() {
        for host in [Host::WindowsMsvc, Host::WindowsGnu] {
            let library = host.library_name("a_b");
            let files = ["python/a_b/__init__.py", &library, "kernels/gfx1201/a-b/k.co", "include/a_b.h"];
            let files = files.map(|path| (path.to_owned(), Vec::new())).into();
            let wheel = assemble("a_b", &parts(host), files);
            assert_eq!(wheel.name, "a_b-1.2.3-py3-none-win_amd64.whl");
            for path in
                ["a_b/__init__.py", "a_b/a_b.dll", "a_b/kernels/gfx1201/a-b/k.co", "a_b/include/a_b.h"]
            {
                assert!(wheel.members.contains_key(path), "{path}");
            }
            let said = String::from_utf8_lossy(&wheel.members["a_b-1.2.3.dist-info/WHEEL"]).into_owned();
            assert!(said.ends_with("Root-Is-Purelib: false\nTag: py3-none-win_amd64\n"), "{said}");
        }
    }

    #[test]
    fn the_record_names_every_member_and_itself_without_a_hash() {
        let files =
            [("python/a_b/__init__.py", "x = 1\n"), ("liba_b.so", "ELF"), ("kernels/gfx1201/a-b/k.co", "")];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into();
        let licences = [("LICENSE".into(), b"MIT".to_vec())];
        let own = Crate {
            name: "dep".into(),
            version: "1.0.0".into(),
            license: None,
            checksum: None,
            texts: vec!["MIT of dep".into()],
        };
        let parts = WheelParts { licences: &licences, crates: &[own], ..parts(Host::Linux) };
        let wheel = assemble("a_b", &parts, files);
        assert_eq!(wheel.name, "a_b-1.2.3-py3-none-manylinux_2_17_x86_64.whl");
        let names: Vec<&str> = wheel.members.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "a_b-1.2.3.dist-info/METADATA",
                "a_b-1.2.3.dist-info/RECORD",
                "a_b-1.2.3.dist-info/WHEEL",
                "a_b-1.2.3.dist-info/licenses/LICENSE",
                "a_b-1.2.3.dist-info/licenses/licenses/rust-crates.txt",
                "a_b/__init__.py",
                "a_b/kernels/gfx1201/a-b/k.co",
                "a_b/liba_b.so",
            ]
        );
        let record = String::from_utf8_lossy(&wheel.members["a_b-1.2.3.dist-info/RECORD"]).into_owned();
        assert_eq!(record.lines().count(), names.len());
        // sha256 of nothing.
        let empty = "a_b/kernels/gfx1201/a-b/k.co,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n";
        assert!(record.contains(empty), "{record}");
        assert!(record.ends_with("a_b-1.2.3.dist-info/RECORD,,\n"));
    }
}
