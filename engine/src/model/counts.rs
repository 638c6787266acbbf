//! How often each expert of each layer was used: what is hot belongs on a card.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts that grow while a model runs: a row a layer, a number an expert.
#[derive(Debug, Default)]
pub struct ExpertCounts(Vec<Vec<AtomicU64>>);

/// Why counts cannot be taken or kept.
#[derive(Debug, thiserror::Error)]
pub enum CountsError {
    /// The file.
    #[error("failed to {verb} the counts of experts `{}`: {why}", path.display())]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// It holds something else.
    #[error("`{}` holds no counts of experts: {why}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// Why.
        why: serde_json::Error,
    },
    /// It is of another model.
    #[error("the counts `{}` are not of this model, which has {layers} layers of {experts} experts", path.display())]
    Other {
        /// Which.
        path: PathBuf,
        /// Of the model.
        layers: usize,
        /// Of a layer.
        experts: usize,
    },
}

impl ExpertCounts {
    /// Nothing was used yet.
    pub fn new(layers: usize, experts: usize) -> Self {
        let layer = || (0..experts).map(|_| AtomicU64::new(0)).collect();
        Self((0..layers).map(|_| layer()).collect())
    }

    /// Reads what [`Self::write`] wrote: one JSON array a layer.
    ///
    /// # Errors
    /// [`CountsError`].
    pub fn read(path: &Path, layers: usize, experts: usize) -> Result<Self, CountsError> {
        let text = std::fs::read_to_string(path).map_err(|why| CountsError::File {
            verb: "read",
            path: path.to_owned(),
            why,
        })?;
        let counts: Vec<Vec<u64>> =
            serde_json::from_str(&text).map_err(|why| CountsError::Content { path: path.to_owned(), why })?;
        if counts.len() != layers || counts.iter().any(|layer| layer.len() != experts) {
            return Err(CountsError::Other { path: path.to_owned(), layers, experts });
        }
        Ok(Self(counts.into_iter().map(|layer| layer.into_iter().map(AtomicU64::new).collect()).collect()))
    }

    /// Counts one use of each of these experts.
    pub(crate) fn add(&self, layer: usize, experts: impl Iterator<Item = usize>) {
        experts.for_each(|expert| {
            self.0[layer][expert].fetch_add(1, Relaxed);
        });
    }

    /// The numbers.
    pub fn counts(&self) -> Vec<Vec<u64>> {
        self.0.iter().map(|layer| layer.iter().map(|count| count.load(Relaxed)).collect()).collect()
    }

    /// Writes them to a file, whole or not at all.
    ///
    /// # Errors
    /// [`CountsError::File`].
    pub fn write(&self, path: &Path) -> Result<(), CountsError> {
        let rows: Vec<String> =
            self.counts().iter().map(|layer| serde_json::json!(layer).to_string()).collect();
        let text = format!("[\n{}\n]\n", rows.join(",\n"));
        // A link or a device stays one.
        let is_file = std::fs::symlink_metadata(path).map_or(true, |meta| meta.is_file());
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let replaced = || {
            let replaced = std::fs::write(&beside, &text).and_then(|()| std::fs::rename(&beside, path));
            replaced.inspect_err(|_| drop(std::fs::remove_file(&beside)))
        };
        let written = if is_file { replaced() } else { std::fs::write(path, &text) };
        written.map_err(|why| CountsError::File { verb: "write", path: path.to_owned(), why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_and_read_and_refused_for_another_model() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts.json");
        let missing = ExpertCounts::read(&path, 2, 3).expect_err("no file").to_string();
        assert!(missing.starts_with("failed to read the counts of experts `"), "{missing}");
        let counts = ExpertCounts::new(2, 3);
        counts.add(1, [0, 2, 2].into_iter());
        counts.write(&path).expect("a file");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing beside it");
        #[cfg(unix)]
        counts.write(Path::new("/dev/null")).expect("a device that takes everything");
        let again = ExpertCounts::read(&path, 2, 3).expect("counts");
        assert_eq!(again.counts(), [vec![0, 0, 0], vec![1, 0, 2]]);
        let other = ExpertCounts::read(&path, 2, 4).expect_err("another model").to_string();
        assert!(other.ends_with("are not of this model, which has 2 layers of 4 experts"), "{other}");
        std::fs::write(&path, "{}").expect("a file");
        let wrong = ExpertCounts::read(&path, 2, 3).expect_err("no counts").to_string();
        assert!(wrong.contains("holds no counts of experts"), "{wrong}");
    }
}
