//! SHA256SUMS files, in the format of sha256sum(1).

use super::Error;
use crate::digest::Sha256;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The file's name.
pub(crate) const SUMS_FILE: &str = "SHA256SUMS";

/// Digests by file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sums(pub(crate) BTreeMap<String, Sha256>);

impl Sums {
    /// From files and their digests.
    pub(crate) fn new(sums: impl Iterator<Item = (String, Sha256)>) -> Self {
        Self(sums.collect())
    }

    /// From a file's text; `path` is only named in errors.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Error> {
        let entry = |(index, line): (usize, &str)| {
            let parsed =
                line.split_once("  ").and_then(|(sum, file)| Some((file.to_owned(), sum.parse().ok()?)));
            parsed.ok_or_else(|| Error::Sums { path: path.to_owned(), line: index + 1 })
        };
        text.lines().enumerate().map(entry).collect::<Result<_, _>>().map(Self)
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(file, sum)| writeln!(f, "{sum}  {file}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_and_refusal() {
        let sums = Sums::new(
            [("a b.zip".to_owned(), Sha256::of(b"1")), ("c".to_owned(), Sha256::of(b"2"))].into_iter(),
        );
        let path = Path::new("SHA256SUMS");
        assert_eq!(Sums::parse(path, &sums.to_string()).expect("parses"), sums);
        let error = Sums::parse(path, &format!("{sums}garbage\n")).expect_err("garbage");
        assert_eq!(error.to_string(), "`SHA256SUMS`:3: expected `<sha256>  <file>`");
    }
}
