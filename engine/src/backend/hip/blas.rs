//! hipBLASLt for large products of halves, where it is there, and the table that tunes it.

use gfx::Target;
use hip::{BlasElement, BlasError, BlasLt, BlasProduct, LoadError, Runtime, Stream};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Rows of activations from which on it is asked. Not measured: no GPU at hand.
pub(super) const MANY: usize = 64;

/// hipBLASLt on one card.
pub(super) struct Blas {
    library: BlasLt,
    tuning: Tuning,
    /// Products that it does not take: they are not asked for again.
    refused: Mutex<HashSet<Shape>>,
}

impl Blas {
    /// Looks for it, and says in a line what was found. Not to have it is no fault.
    pub(super) fn load(runtime: &Runtime, target: Target) -> (Option<Self>, String) {
        let library = match BlasLt::load(runtime, &crate::blas_folders()) {
            Ok(library) => library,
            Err(LoadError::NotFound { .. }) => return (None, "hipBLASLt: not there".to_owned()),
            Err(error) => return (None, format!("hipBLASLt: {error}")),
        };
        let version = match library.version() {
            Ok(version) => version,
            Err(error) => return (None, format!("hipBLASLt: {error}")),
        };
        let path = library.path().display().to_string();
        let table = std::env::var_os("STRATA_HIPBLASLT_TUNING").map(PathBuf::from);
        let table = table.map(|path| {
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
            let table = text.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
            (path.display().to_string(), table)
        });
        let (tuning, said) = Tuning::of(table, target, version);
        let refused = Mutex::default();
        (
            Some(Self { library, tuning, refused }),
            format!("hipBLASLt {} of `{path}`; {said}", in_words(version)),
        )
    }

    /// Queues a product, by the algorithm that the table has for it or else the library's own choice. Whether it did: what it does not take is remembered, and the
    /// first of it is said.
    ///
    /// # Errors
    /// [`BlasError::Status`]: it took the product and failed.
    pub(super) fn multiply(&self, stream: &Stream, product: &BlasProduct) -> Result<bool, BlasError> {
        let BlasProduct { element, rows, columns, count, .. } = *product;
        let shape = Shape { element, rows, columns, count };
        let refused = || self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused().contains(&shape) {
            return Ok(false);
        }
        let tuned = self.tuning.choice(shape);
        let multiply = |choice: usize| self.library.multiply(stream, product, choice);
        let done = match multiply(tuned) {
            Err(BlasError::NoAlgorithm { .. }) if tuned != 0 => multiply(0),
            done => done,
        };
        match done {
            Err(error @ BlasError::NoAlgorithm { .. }) => {
                let mut refused = refused();
                if refused.is_empty() {
                    eprintln!("the engine's own kernel multiplies {rows}x{columns}x{count}: {error}");
                }
                refused.insert(shape);
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }
}

/// `1.2.3` for 100203: major * 100,000 + minor * 100 + patch.
fn in_words(version: i32) -> String {
    format!("{}.{}.{}", version / 100_000, version / 100 % 1000, version % 100)
}

/// A product that may be tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Shape {
    #[serde(with = "element")]
    pub(super) element: BlasElement,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) count: usize,
}

mod element {
    use hip::BlasElement;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(element: &BlasElement, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(if *element == BlasElement::F16 { "f16" } else { "bf16" })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BlasElement, D::Error> {
        match String::deserialize(from)?.as_str() {
            "f16" => Ok(BlasElement::F16),
            "bf16" => Ok(BlasElement::Bf16),
            other => Err(serde::de::Error::custom(format!("`{other}` is neither f16 nor bf16"))),
        }
    }
}

/// A table of measured choices. It holds for one target and one version of the library: another version numbers its algorithms anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Table {
    target: String,
    /// As the library encodes it.
    hipblaslt: i32,
    products: Vec<Tuned>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Tuned {
    #[serde(flatten)]
    shape: Shape,
    /// Which of the heuristic's results.
    choice: usize,
}

/// The choices that hold here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tuning(Vec<Tuned>);

impl Tuning {
    /// The rule: a table is used for the exact pair of target and version that it was measured on, else calls are plain, and one line says so.
    /// `table`: its path, and what it holds or why it cannot be read.
    fn of(table: Option<(String, Result<Table, String>)>, target: Target, version: i32) -> (Self, String) {
        let plain = |why: String| (Self::default(), format!("plain calls: {why}"));
        let Some((path, table)) = table else { return plain("there is no tuning table".to_owned()) };
        let table = match table {
            Ok(table) => table,
            Err(error) => return plain(format!("the tuning table `{path}` cannot be read: {error}")),
        };
        if (table.target.as_str(), table.hipblaslt) != (target.name(), version) {
            return plain(format!(
                "the tuning table `{path}` is for {} with hipBLASLt {}, and this is {target} with {}",
                table.target,
                in_words(table.hipblaslt),
                in_words(version)
            ));
        }
        (Self(table.products.clone()), format!("{} products tuned by `{path}`", table.products.len()))
    }

    fn choice(&self, shape: Shape) -> usize {
        self.0.iter().find(|tuned| tuned.shape == shape).map_or(0, |tuned| tuned.choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gfx::Target::{Gfx1100, Gfx1201};

    const TEXT: &str = r#"{ "target": "gfx1201", "hipblaslt": 100203,
        "products": [{ "element": "f16", "rows": 4096, "columns": 2048, "count": 512, "choice": 7 }] }"#;

    #[test]
    fn a_table_holds_for_its_exact_pair_only() {
        let table =
            || Some(("t.json".to_owned(), serde_json::from_str(TEXT).map_err(|error| error.to_string())));
        let shape = Shape { element: BlasElement::F16, rows: 4096, columns: 2048, count: 512 };
        let broken = || Some(("t.json".to_owned(), Err("gone".to_owned())));
        let other = "plain calls: the tuning table `t.json` is for gfx1201 with hipBLASLt 1.2.3, and this is";
        let cases = [
            (table(), Gfx1201, 100_203, 7, "1 products tuned by `t.json`".to_owned()),
            (table(), Gfx1201, 100_204, 0, format!("{other} gfx1201 with 1.2.4")),
            (table(), Gfx1201, 110_203, 0, format!("{other} gfx1201 with 1.102.3")),
            (table(), Gfx1100, 100_203, 0, format!("{other} gfx1100 with 1.2.3")),
            (None, Gfx1201, 100_203, 0, "plain calls: there is no tuning table".to_owned()),
            (
                broken(),
                Gfx1201,
                100_203,
                0,
                "plain calls: the tuning table `t.json` cannot be read: gone".to_owned(),
            ),
        ];
        for (table, target, version, choice, said) in cases {
            let (tuning, line) = Tuning::of(table, target, version);
            assert_eq!((tuning.choice(shape), line), (choice, said));
            assert_eq!(tuning.choice(Shape { element: BlasElement::Bf16, ..shape }), 0);
            assert_eq!(tuning.choice(Shape { count: 511, ..shape }), 0);
        }
    }

    #[test]
    fn versions_are_encoded_as_the_library_does_it() {
        for (version, words) in
            [(100_203, "1.2.3"), (0, "0.0.0"), (200_000, "2.0.0"), (1_099_999, "10.999.99")]
        {
            assert_eq!(in_words(version), words);
        }
        let wrong = TEXT.replace("f16", "f64");
        assert!(
            serde_json::from_str::<Table>(&wrong)
                .is_err_and(|error| error.to_string().contains("neither f16 nor bf16"))
        );
    }
}
