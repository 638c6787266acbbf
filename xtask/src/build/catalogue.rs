//! A component's catalogue: what it says of each of its kernels, and the build refuses a code object for.
//!
//! `catalogue = "native/kernels.json"` in `[package.metadata.component]`: by matrix generation (`gfx11`, `gfx12`) and code object, the kernels
//! with their budgets and exported constants, and under `exceptions` those of single targets. It lies among the native sources, so that a changed budget is a changed input.

use crate::files::{self, Error};
use code_object::{CodeObject, Expected, violations};
use gfx::{Target, Wmma};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

type Objects = BTreeMap<String, Vec<Expected>>;

/// The catalogue of a component.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalogue {
    gfx11: Objects,
    gfx12: Objects,
    /// By target: code objects with kernels that are held to budgets of their own there.
    #[serde(default)]
    exceptions: BTreeMap<String, Objects>,
}

impl Catalogue {
    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        files::read_json(path)
    }

    /// Where the code object of this name is not as the catalogue says; `None`: nowhere.
    pub(super) fn refusal(&self, name: &str, object: &CodeObject) -> Option<String> {
        let usual = || self.objects(object.target).and_then(|objects| objects.get(name));
        let exception = self.exceptions.get(object.target.name()).and_then(|objects| objects.get(name));
        let expected = exception.or_else(usual);
        let found = violations(object, expected.map_or(&[], Vec::as_slice));
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        (!lines.is_empty()).then(|| format!("is not what the catalogue says:\n  {}", lines.join("\n  ")))
    }

    fn objects(&self, target: Target) -> Option<&Objects> {
        match target.wmma()? {
            Wmma::Gfx11 => Some(&self.gfx11),
            Wmma::Gfx12 => Some(&self.gfx12),
        }
    }
}
