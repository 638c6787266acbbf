//! Display adapters in Windows' registry (facts/strata.md 2.2): what there is to know before any SDK is there.

use gfx::{PciId, Target};
use std::collections::BTreeMap;

/// The class of display adapters, below `HKEY_LOCAL_MACHINE`.
#[cfg(windows)]
pub(super) const CLASS: &str =
    r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}";

/// A value of a key.
#[cfg_attr(
    not(any(windows, test)),
    expect(dead_code, reason = "only Windows has a registry to make them from")
)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// REG_SZ and REG_EXPAND_SZ.
    Text(String),
    /// REG_DWORD and REG_QWORD.
    Number(u64),
    /// Anything else, as its bytes.
    Bytes(Vec<u8>),
}

/// A subkey of the class: `0000`, `0001`, … for adapters, and others that are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The subkey's name.
    pub(super) subkey: String,
    /// Its values, as they are spelled.
    pub(super) values: BTreeMap<String, Value>,
}

/// An AMD adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Adapter {
    /// `DriverDesc`.
    pub(super) name: Option<String>,
    /// The device part of its PCI id.
    pub(super) pci_id: Option<PciId>,
    /// In bytes: the card's own, or what the firmware sets aside for an integrated one.
    pub(super) vram: Option<u64>,
    /// `DriverVersion`.
    pub(super) driver: Option<String>,
}

impl Adapter {
    /// By the PCI id: names are given by vendors and lie (facts/strata.md 2.4).
    pub(super) fn target_of_id(&self) -> Option<Target> {
        self.pci_id.and_then(gfx::target_of_pci_id)
    }

    /// By the PCI id, else by the name.
    pub(super) fn target(&self) -> Option<Target> {
        self.target_of_id().or_else(|| self.name.as_deref().and_then(gfx::target_of_card_name))
    }
}

/// The AMD adapters among the rows. The class keeps the rows of cards that were taken out: `present` names the subkeys of those that are
/// there; without it all count.
pub(super) fn adapters(rows: &[Row], present: Option<&[String]>) -> Vec<Adapter> {
    let is_adapter =
        |row: &&Row| !row.subkey.is_empty() && row.subkey.bytes().all(|byte| byte.is_ascii_digit());
    let is_present = |row: &&Row| present.is_none_or(|names| names.contains(&row.subkey));
    let mut rows: Vec<&Row> = rows.iter().filter(is_adapter).filter(is_present).collect();
    rows.sort_by(|a, b| a.subkey.cmp(&b.subkey));
    rows.into_iter().filter_map(adapter).collect()
}

fn adapter(row: &Row) -> Option<Adapter> {
    let value = |name: &str| {
        row.values.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    let text = |name: &str| match value(name)? {
        Value::Text(text) => Some(text.trim_matches(['\0', ' ']).to_owned()).filter(|text| !text.is_empty()),
        _ => None,
    };
    let id = text("MatchingDeviceId").map(|id| id.to_lowercase());
    let is_amd = match id.as_deref().and_then(|id| hex_after(id, "ven_")) {
        Some(vendor) => vendor == 0x1002,
        // Without a PCI id the maker's name has to do.
        None => text("ProviderName").is_some_and(|name| name.contains("Advanced Micro Devices")),
    };
    let vram = value("HardwareInformation.qwMemorySize").and_then(|value| size(value, 8));
    let small = || value("HardwareInformation.MemorySize").and_then(|value| size(value, 4));
    is_amd.then(|| Adapter {
        name: text("DriverDesc"),
        pci_id: id.as_deref().and_then(|id| hex_after(id, "dev_")),
        vram: vram.or_else(small).filter(|bytes| *bytes > 0),
        driver: text("DriverVersion"),
    })
}

/// A number, or its `width` bytes in little endian, as some drivers write it.
fn size(value: &Value, width: usize) -> Option<u64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Bytes(bytes) if bytes.len() == width => {
            Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        }
        Value::Bytes(_) | Value::Text(_) => None,
    }
}

/// The four hex digits after `prefix`.
fn hex_after(text: &str, prefix: &str) -> Option<u16> {
    let at = text.find(prefix)? + prefix.len();
    u16::from_str_radix(text.get(at..at + 4)?, 16).ok()
}
