//! D: releases. No zip gets its name when one of these is said.

use crate::dist::Error;

super::explanations! { Error {
    Error::NotBuilt { .. } => D01 Prerequisite: "A component was not built for a target of the release.",
        "`dist` packs what `build` has made.",
        "cargo xtask build --targets TARGET";
    Error::Changed { .. } => D02 Mismatch: "A file of an artifact is not what its BUILD.json says.",
        "Somebody changed it after the build.",
        "somebody changed a file after it was recorded: build or download it again";
    Error::Collision { .. } => D03 Failed: "Two components bring a file of one name.",
        "Two kernels, programs or shared files with one name.",
        "rename one of them: each path of a release has one owner";
    Error::Mixed { .. } => D04 Mismatch: "The artifacts were not built from the same things.",
        "A component was built before the lock, the toolchain or the version changed.",
        "build all components again: cargo xtask build";
    Error::Archive { .. } => D05 Failed: "An archive could not be written.",
        "The output folder: permissions, a full disk (M02).",
        "check that the folder can be written, or choose another with --out DIR";
    Error::LongName { .. } => D06 Failed: "A file's name is longer than file systems take.",
        "A generated name.",
        "give the file a shorter name";
    Error::Headers { .. } => D07 Failed: "The headers of a program or library cannot be read.",
        "A damaged file, or one that is no PE or ELF file.",
        "cargo xtask store verify tells whether the toolchain is whole; else build again";
    Error::Closure { .. } => D08 Failed: "A program of the release would not start on a user's machine.",
        "A library that it imports is missing, for another processor, a debug runtime, or there twice. Each is named with the chain that needs it.",
        "no zip was written; docs/release.md (\"Import closure\") tells where libraries are looked for";
    Error::Kernels { .. } => D09 Failed: "A library of the toolchain has no kernels for a target.",
        "The dist is of another family.",
        "no zip was written; choose a toolchain that has the target (cargo xtask lock show), or leave the target out";
    Error::Redistributable { .. } => D10 Usage: "`--redist` names a folder that is no Visual C++ redistributable.",
        "A folder above or below the right one.",
        "it is VC\\Redist\\MSVC\\<version> in the folder of Visual Studio";
    Error::Crates(_) => D11 Failed: "The crates that are linked into the programs are not known.",
        "cargo could not describe the workspace.",
        "run `cargo metadata --locked` to see what it says";
    Error::Signer { .. } => D12 Failed: "The program of `--sign-command` did not sign a file.",
        "Its own words are in the message.",
        "run the program by hand on a copy of the file";
    Error::SigningKey { .. } => D13 Usage: "The signing key cannot be used.",
        "Not a key of minisign, or a wrong password.",
        "it is made with `minisign -G`; a key with a password needs STRATA_MINISIGN_PASSWORD";
    Error::PublicKey { .. } => D14 Usage: "`--pubkey` is no public key of minisign.",
        "The secret key, a fingerprint, or a cut line.",
        "it is the second line of minisign.pub, or that file";
    Error::Unsigned { .. } => D15 Mismatch: "A signature was asked for and there is none.",
        "The file was not downloaded, or the release was never signed.",
        "do not use the release; download SHA256SUMS, SHA256SUMS.minisig and the zip again from the publisher";
    Error::Signature { .. } => D16 Mismatch: "The signature was not made with this key over this list.",
        "Another publisher's key, or a list that was changed.",
        "do not use the release; download SHA256SUMS, SHA256SUMS.minisig and the zip again from the publisher";
    Error::Unlisted { .. } => D17 Mismatch: "The signed list does not name this file.",
        "The zip is of another release than the list.",
        "do not use the release; download SHA256SUMS, SHA256SUMS.minisig and the zip again from the publisher";
    Error::NothingToMerge { .. } => D18 Usage: "`--merge` was given a folder with nothing to merge.",
        "A folder above or below the right one, or a job that uploaded nothing.",
        "give folders that hold artifacts (BUILD.json) or finished zips (strata-*.zip)";
    Error::OtherHost { .. } => D19 Usage: "Artifacts of another system cannot be packed here.",
        "A release is packed where its libraries are.",
        "run cargo xtask dist on that machine and give --merge the folder with its zips";
    Error::NotReproducible { .. } => D20 Mismatch: "Two builds of the same sources differ.",
        "A path, a time, a random name or an order that the build took from the machine.",
        "docs/release.md (\"Reproducible builds\") tells what usually is the reason";
    Error::CheckBuild { .. } => D21 Failed: "One of the two builds of `dist --check` failed.",
        "Whatever makes a build fail; its last lines are in the message.",
        "run cargo xtask build first: it says more";
    Error::Unpack { .. } => D22 Mismatch: "A release cannot be unpacked.",
        "It is damaged, or no release of ours.",
        "somebody changed a file after it was recorded: build or download it again";
    Error::Sums { .. } => D23 Mismatch: "A SHA256SUMS file cannot be read.",
        "A line that is not `<sha256>  <file>`.",
        "somebody changed a file after it was recorded: build or download it again";
    Error::NothingToVerify { .. } => D24 Usage: "The path is nothing that can be verified.",
        "A folder above or below the right one.",
        "name a store entry, an artifact folder, an unpacked release or a zip";
    Error::Differs { .. } => D25 Mismatch: "Files differ from what was recorded.",
        "Somebody changed, added or removed them, or the disk did.",
        "somebody changed a file after it was recorded: build or download it again";
    Error::Start { .. } => D26 Failed: "A program of the unpacked release did not start, or failed its own test.",
        "A library that is found only on the machine that built it, or a defect of the program. Its words are in the message.",
        "start the program by hand with an empty environment (env -i) to see the same";
    Error::Interrupted => D27 Interrupted: "The packing was interrupted.",
        "Ctrl-C, SIGTERM or SIGHUP. No zip got its name.",
        "run the command again";
    Error::NotPinned { .. } => D28 Prerequisite: "A component was built with this machine's own SDK.",
        "`--toolchain system` is not pinned, and a release is made of pinned bytes only.",
        "build with a toolchain of the lock: cargo xtask build --targets TARGET";
    Error::Foreign { .. } => D29 Mismatch: "An artifact of `--merge` says that it is something else than what this workspace builds.",
        "It was built from another version of the workspace, or its BUILD.json was changed.",
        "build it again from these sources: cargo xtask build --targets TARGET";
    Error::Git { .. } => D30 Prerequisite: "git does not answer about the checkout, so that a release would have neither its time nor its revision.",
        "The checkout belongs to another user, as in a container, and git does not trust it; or it is a worktree whose repository is not there.",
        "see what git says of the folder: git -C FOLDER status; of dubious ownership: git config --global --add safe.directory FOLDER";
} else {
    Error::Files(_) => &super::machine::FILES;
    Error::Store(error) => super::store::explain(error);
} }
