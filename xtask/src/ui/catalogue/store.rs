//! S: the store.

use crate::store::Error;

super::explanations! { Error {
    Error::NoSpace { .. } => S01 NoSpace: "The store's volume has not enough free space for a package.",
        "Archive and tree are there at the same time for a moment. It is asked before the first byte.",
        "free some space, or choose another volume with --store DIR";
    Error::Layout { .. } => S02 Failed: "A package unpacked well and lacks what it is there for.",
        "The publisher changed the layout, or the lock names the wrong archive. Every missing piece is listed.",
        "the archive has another layout than any known one; nothing was installed";
    Error::Version { .. } => S03 Mismatch: "A dist tells another release than the lock.",
        "The lock's version was typed wrong, or the address leads to another file.",
        "the lock names another release than the archive holds: mend the version, or measure the right archive with `cargo xtask lock add`";
    Error::PathLength { .. } => S04 Failed: "The store lies too deep for a file of the package.",
        "Windows opens 259 characters; rocBLAS fails in folders of more than 174.",
        "choose a store with a shorter path: --store DIR, e.g. C:\\s";
    Error::Damaged { .. } => S05 Mismatch: "A record of the store cannot be read.",
        "Somebody changed it, or the disk did.",
        "cargo xtask store verify --repair";
    Error::NotInstalled { .. } => S06 Prerequisite: "A command needs a toolchain that is not installed.",
        "Nothing was bootstrapped yet, or into another store.",
        "cargo xtask bootstrap --toolchain NAME";
    Error::OtherHost { .. } => S07 Usage: "The toolchain runs on another system.",
        "A Windows toolchain was named on Linux, or the other way round.",
        "`cargo xtask lock show` lists the toolchains and their hosts";
    Error::Interrupted => S08 Interrupted: "The install was interrupted.",
        "Ctrl-C, SIGTERM or SIGHUP. The store is as it was.",
        "run the command again: what was downloaded is kept";
} else {
    Error::Files(_) => &super::machine::FILES;
    Error::Fetch { source, .. } => super::fetch::explain(source);
} }
