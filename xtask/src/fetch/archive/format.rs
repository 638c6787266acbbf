//! The archive formats, told by a file's name.

use super::Refusal;

/// An archive format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `.tar`
    Tar,
    /// `.tar.gz`, `.tgz`
    TarGz,
    /// `.tar.xz`
    TarXz,
    /// `.tar.zst`
    TarZst,
    /// `.zip`, `.whl`
    Zip,
    /// `.deb`
    Deb,
}

impl Format {
    const ENDINGS: [(&'static str, Format); 8] = [
        (".tar", Format::Tar),
        (".tar.gz", Format::TarGz),
        (".tgz", Format::TarGz),
        (".tar.xz", Format::TarXz),
        (".tar.zst", Format::TarZst),
        (".zip", Format::Zip),
        (".whl", Format::Zip),
        (".deb", Format::Deb),
    ];

    /// The format of a file with this name.
    pub(crate) fn of_name(file: &str) -> Result<Self, Refusal> {
        let found = Self::ENDINGS.iter().find(|(ending, _)| file.ends_with(ending));
        found.map(|(_, format)| *format).ok_or_else(|| Refusal::Format { file: file.to_owned() })
    }
}
