//! A: archives that are not unpacked. Nothing of a refused archive stays.

use crate::fetch::Refusal;

super::explanations! { Refusal {
    Refusal::Format { .. } => A01 Failed: "The file's name tells no known archive format.",
        "The lock's `file` has another ending than those that are unpacked.",
        "name a .tar, .tar.gz, .tgz, .tar.xz, .tar.zst, .zip, .whl or .deb with `cargo xtask lock add`";
    Refusal::Unreadable { .. } => A02 Failed: "The archive is damaged inside.",
        "It was published damaged: its size and sha256 are those of the lock.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::NoEnd { .. } => A03 Failed: "The archive ends without its end marker.",
        "It was cut before it was measured.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::TrailingBytes => A04 Failed: "Something follows the end of the archive.",
        "Two archives in one file, or something that was hidden there.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::Absolute { .. } => A05 Failed: "A member would be written to an absolute path.",
        "A hostile archive, or one that was made from `/`.",
        "do not use this archive; another version of the package is needed";
    Refusal::ParentFolder { .. } => A06 Failed: "A member would be written outside its folder.",
        "A hostile archive.",
        "do not use this archive; another version of the package is needed";
    Refusal::NotText { .. } => A07 Failed: "A member has a name that is no plain text.",
        "A name in another encoding than UTF-8, or with control characters.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::WindowsName { .. } => A08 Failed: "A member has a name that Windows cannot hold.",
        "An archive that was never unpacked on Windows. It is refused on every host, so that a lock that works, works everywhere.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::Duplicate { .. } => A09 Failed: "A member is there twice.",
        "Unpackers differ in which one they keep; an attacker can use that.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::Collision { .. } => A10 Failed: "Two members are one file on Windows or macOS.",
        "Names that differ only in case or in how accents are written.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::FileAndFolder { .. } => A11 Failed: "A member is a file for one and a folder for another.",
        "A damaged or hostile archive.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::LinkEscapes { .. } => A12 Failed: "A symbolic link leads out of the archive.",
        "A hostile archive, or a link to a path of the machine that made it.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::LinkLoop { .. } => A13 Failed: "Symbolic links lead to each other.",
        "A damaged or hostile archive.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::TooManyMembers { .. } => A14 Failed: "The archive holds more files than the lock says, or than any dist has.",
        "An archive bomb, or a lock whose `tree` is of another version.",
        "if the package is right, measure it again with `cargo xtask lock add`";
    Refusal::TooManyBytes { .. } => A15 Failed: "The archive unpacks to more bytes than the lock says, or than any dist has.",
        "An archive bomb, or a lock whose `tree` is of another version.",
        "if the package is right, measure it again with `cargo xtask lock add`";
    Refusal::HardLinkTarget { .. } => A16 Failed: "A hard link names no earlier file of the archive.",
        "A damaged or hostile archive.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::SpecialFile { .. } => A17 Failed: "A member is a device, a fifo or a socket.",
        "No toolchain needs one.",
        "do not use this archive; another version of the package is needed";
    Refusal::Sparse { .. } => A18 Failed: "A member is a sparse file.",
        "An archive that was made with `tar --sparse`.",
        "the bytes are those of the lock, so another version of the package is needed";
    Refusal::Write { .. } => A19 Failed: "A member could not be written to the disk.",
        "The store's folder: permissions, a full disk (M02), a removed volume.",
        "check that the store can be written, or choose another with --store DIR";
} }
