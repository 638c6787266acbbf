//! The published schemas of SBOMs, and Python's jsonschema to check with.

use super::workspace_root;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The packages in a folder of the target directory, through the machine's pip.
fn python_path() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = workspace_root().join("target/sbom-schemas");
        let has_it = || {
            let import = ["-c", "import cyclonedx.schema, jsonschema"];
            let output = Command::new("python3").args(import).env("PYTHONPATH", &folder).output();
            output.is_ok_and(|output| output.status.success())
        };
        for packages in [&["jsonschema==4.26.0"][..], &["--no-deps", "cyclonedx-python-lib==11.12.0"]] {
            if has_it() {
                break;
            }
            let pip =
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target"];
            let output =
                Command::new("python3").args(pip).arg(&folder).args(packages).output().expect("python3");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        assert!(has_it());
        folder
    })
}

fn schemas() -> PathBuf {
    workspace_root().join("xtask/tests/schemas")
}

/// Checks both SBOMs in an unpacked release; gives what does not fit.
pub(crate) fn schema_complaints(release: &Path) -> String {
    let boms = [release.join("sbom.spdx.json"), release.join("sbom.cdx.json")];
    complaints(
        Command::new("python3")
            .arg(schemas().join("validate.py"))
            .arg(schemas().join("spdx-2.3.schema.json"))
            .args(boms),
    )
}

/// Checks a JSON document against a schema of ours in `xtask/tests/schemas`; gives what does not fit.
pub(crate) fn misfits(schema: &str, document: &Path) -> String {
    complaints(
        Command::new("python3").arg(schemas().join("fits.py")).arg(schemas().join(schema)).arg(document),
    )
}

fn complaints(command: &mut Command) -> String {
    let output = command
        .env("PYTHONPATH", python_path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { String::new() } else { text }
}

/// Checks one JSON document a line against the schema in a file; gives what does not fit.
pub(crate) fn json_complaints(schema: &Path, lines: &str) -> String {
    let folder = tempfile::tempdir().expect("temp");
    let file = folder.path().join("lines");
    std::fs::write(&file, lines).expect("write");
    let script = "import json, sys, jsonschema
schema = json.load(open(sys.argv[1], encoding='utf-8'))
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
for line in open(sys.argv[2], encoding='utf-8'):
    for error in kind(schema).iter_errors(json.loads(line)):
        print(f'{line.strip()[:200]}: {error.json_path}: {error.message[:200]}')
";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(schema)
        .arg(&file)
        .env("PYTHONPATH", python_path())
        .output();
    let output = output.expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
