//! The edge: starts hipInfo and pnputil, reads the registry.

use super::registry::{self, Row};
use super::{Detection, hip_info, merge};
use crate::host::process::output_within;
use crate::host::{windows_folder, windows_value};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A driver that hangs is one of the things that hipInfo may meet.
const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn detect(hip_roots: &[PathBuf]) -> Detection {
    let adapters = registry::adapters(&rows(), present().as_deref());
    let mut unanswered = Vec::new();
    for root in hip_roots {
        let folder = root.join("bin");
        let program = folder.join("hipInfo.exe");
        if !program.is_file() {
            continue;
        }
        match hip_info(&program, &folder) {
            Ok(report) => return merge::merge(Some(&report), &adapters),
            Err(error) => unanswered.push(format!("`{}` does not answer: {error}", program.display())),
        }
    }
    let mut detection = merge::merge(None, &adapters);
    detection.remarks.extend(unanswered);
    detection
}

/// Windows looks for the runtime beside the program first, then in the working folder's PATH: both are the dist's.
fn hip_info(program: &Path, folder: &Path) -> std::io::Result<hip_info::Report> {
    let mut command = Command::new(program);
    command.current_dir(folder).env_remove("HIP_VISIBLE_DEVICES");
    let output = output_within(&mut command, LIMIT)?;
    let text = [output.stdout, output.stderr].concat();
    Ok(hip_info::parse(&String::from_utf8_lossy(&text)))
}

#[cfg(not(windows))]
fn rows() -> Vec<Row> {
    Vec::new()
}

#[cfg(windows)]
fn rows() -> Vec<Row> {
    use winreg::{RegKey, enums::HKEY_LOCAL_MACHINE};
    let Ok(class) = RegKey::predef(HKEY_LOCAL_MACHINE).open_subkey(registry::CLASS) else {
        return Vec::new();
    };
    // `Properties` may not be read, and is no adapter.
    let row = |subkey: String| {
        let key = class.open_subkey(&subkey).ok()?;
        let values = key.enum_values().flatten().map(|(name, value)| (name, plain(&value))).collect();
        Some(Row { subkey, values })
    };
    class.enum_keys().flatten().filter_map(row).collect()
}

#[cfg(windows)]
fn plain(value: &winreg::RegValue) -> registry::Value {
    use winreg::enums::{REG_DWORD, REG_EXPAND_SZ, REG_QWORD, REG_SZ};
    use winreg::types::FromRegValue;
    let known = match value.vtype {
        REG_DWORD => u32::from_reg_value(value).ok().map(|number| registry::Value::Number(number.into())),
        REG_QWORD => u64::from_reg_value(value).ok().map(registry::Value::Number),
        REG_SZ | REG_EXPAND_SZ => String::from_reg_value(value).ok().map(registry::Value::Text),
        _ => None,
    };
    known.unwrap_or_else(|| registry::Value::Bytes(value.bytes.to_vec()))
}

/// The class subkeys of adapters that are in the machine now; `None` where Windows does not say.
fn present() -> Option<Vec<String>> {
    let mut command = Command::new(windows_folder().join("System32").join("pnputil.exe"));
    command.args(["/enum-devices", "/connected", "/class", "Display"]);
    let output = output_within(&mut command, LIMIT).ok().filter(|output| output.status.success())?;
    // Its words are in the user's language, ids are not.
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ids: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with(r"PCI\VEN_")).collect();
    let subkey = |id: &&str| {
        let driver = windows_value(&format!(r"SYSTEM\CurrentControlSet\Enum\{id}"), "Driver")?;
        Some(driver.rsplit('\\').next()?.to_owned())
    };
    Some(ids.iter().filter_map(subkey).collect()).filter(|subkeys: &Vec<String>| !subkeys.is_empty())
}
