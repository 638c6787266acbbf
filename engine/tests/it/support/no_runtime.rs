//! No HIP runtime, whatever the machine has. Tests include this file by path.

/// A folder where every name of the runtime is a file that is no library, so that none is found on any machine.
pub(crate) fn no_runtime() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so"] {
        let no_library =
            "not a library, and longer than the header of one, so that the loader sees what it is";
        std::fs::write(folder.path().join(name), no_library).expect("a file");
    }
    folder
}
