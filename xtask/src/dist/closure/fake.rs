//! PE files for tests: real headers and tables, no code.

use super::{Binary, Listing};
use crate::digest::Sha256;
use std::collections::BTreeMap;

/// What a PE file is to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakePe {
    /// COFF machine number; 0: x86-64.
    pub(crate) machine: u16,
    /// Import table.
    pub(crate) imports: Vec<&'static str>,
    /// Delay import table.
    pub(crate) delays: Vec<&'static str>,
    /// Export table: targets of forwarders, such as `other.function`.
    pub(crate) forwards: Vec<&'static str>,
}

const BASE: u32 = 0x1000;
const DATA_AT: usize = 0x400;

impl FakePe {
    /// With imports only.
    pub(crate) fn importing(imports: &[&'static str]) -> Self {
        Self { imports: imports.to_vec(), ..Self::default() }
    }

    /// The file's bytes (Microsoft, "PE Format").
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut data = Vec::new();
        let descriptors = |data: &mut Vec<u8>, count: usize, size: usize| {
            let at = data.len();
            data.resize(at + (count + 1) * size, 0);
            at
        };
        let imports = descriptors(&mut data, self.imports.len(), 20);
        let delays = descriptors(&mut data, self.delays.len(), 32);
        let thunks = data.len();
        data.resize(thunks + 16, 0);
        for (index, name) in self.imports.iter().enumerate() {
            let name = text(&mut data, name);
            put(&mut data, imports + index * 20 + 12, name);
            put(&mut data, imports + index * 20 + 16, BASE + thunks as u32);
        }
        for (index, name) in self.delays.iter().enumerate() {
            let name = text(&mut data, name);
            put(&mut data, delays + index * 32, 1);
            put(&mut data, delays + index * 32 + 4, name);
        }
        let exports = data.len();
        if !self.forwards.is_empty() {
            let count = self.forwards.len();
            data.resize(exports + 40 + count * 10, 0);
            let (addresses, names, ordinals) =
                (exports + 40, exports + 40 + count * 4, exports + 40 + count * 8);
            let own = text(&mut data, "own.dll");
            let at = |place: usize| BASE + place as u32;
            for (offset, value) in [
                (12, own),
                (16, 1),
                (20, count as u32),
                (24, count as u32),
                (28, at(addresses)),
                (32, at(names)),
                (36, at(ordinals)),
            ] {
                put(&mut data, exports + offset, value);
            }
            for (index, target) in self.forwards.iter().enumerate() {
                let target = text(&mut data, target);
                put(&mut data, addresses + index * 4, target);
                let name = text(&mut data, &format!("f{index}"));
                put(&mut data, names + index * 4, name);
                data[ordinals + index * 2] = index as u8;
            }
        }
        let exports_size = if self.forwards.is_empty() { 0 } else { data.len() - exports };
        data.resize(data.len().next_multiple_of(0x200), 0);
        let mut file = self.headers(data.len());
        let directory = |file: &mut Vec<u8>, index: usize, place: usize, size: usize| {
            if size > 0 {
                put(file, 0x58 + 112 + index * 8, BASE + place as u32);
                put(file, 0x58 + 112 + index * 8 + 4, size as u32);
            }
        };
        directory(&mut file, 0, exports, exports_size);
        directory(
            &mut file,
            1,
            imports,
            if self.imports.is_empty() { 0 } else { (self.imports.len() + 1) * 20 },
        );
        directory(
            &mut file,
            13,
            delays,
            if self.delays.is_empty() { 0 } else { (self.delays.len() + 1) * 32 },
        );
        file.extend(data);
        file
    }

    /// DOS stub, COFF header, optional header with 16 directories, one section.
    fn headers(&self, data: usize) -> Vec<u8> {
        let mut file = vec![0; DATA_AT];
        file[..2].copy_from_slice(b"MZ");
        put(&mut file, 0x3c, 0x40);
        file[0x40..0x44].copy_from_slice(b"PE\0\0");
        let machine = if self.machine == 0 { 0x8664 } else { self.machine };
        file[0x44..0x46].copy_from_slice(&machine.to_le_bytes());
        file[0x46] = 1;
        file[0x54] = 240;
        file[0x56..0x58].copy_from_slice(&0x2022_u16.to_le_bytes());
        file[0x58..0x5a].copy_from_slice(&0x20b_u16.to_le_bytes());
        put(&mut file, 0x58 + 32, 0x1000);
        put(&mut file, 0x58 + 36, 0x200);
        put(&mut file, 0x58 + 56, 0x1000 + (data as u32).next_multiple_of(0x1000));
        put(&mut file, 0x58 + 60, DATA_AT as u32);
        put(&mut file, 0x58 + 108, 16);
        let section = 0x58 + 240;
        file[section..section + 6].copy_from_slice(b".rdata");
        for (offset, value) in
            [(8, data as u32), (12, BASE), (16, data as u32), (20, DATA_AT as u32), (36, 0x4000_0040)]
        {
            put(&mut file, section + offset, value);
        }
        file
    }
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Adds a text and gives its address.
fn text(data: &mut Vec<u8>, text: &str) -> u32 {
    let at = BASE + data.len() as u32;
    data.extend(text.as_bytes());
    data.push(0);
    at
}

/// A listing that is a table: what each file's headers say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table(pub(crate) BTreeMap<String, Binary>);

impl Listing for Table {
    fn names(&self, folder: &str) -> Vec<String> {
        let split = |path: &String| {
            let (own, name) = path.rsplit_once('/').unwrap_or(("", path));
            (own == folder).then(|| name.to_owned())
        };
        self.0.keys().filter_map(split).collect()
    }

    fn binary(&self, path: &str) -> Result<Option<Binary>, crate::dist::Error> {
        Ok(self.0.get(path).cloned())
    }

    fn digest(&self, path: &str) -> Result<Sha256, crate::dist::Error> {
        Ok(Sha256::of(format!("{:?}", self.0.get(path)).as_bytes()))
    }
}
