//! B: building. The last good artifact stays where it was.

use crate::build::Error;

super::explanations! { Error {
    Error::Metadata(_) => B01 Failed: "cargo could not describe the workspace.",
        "A Cargo.toml that is not valid, or a Cargo.lock that would change.",
        "run `cargo metadata --locked` to see what it says";
    Error::ComponentMetadata { .. } => B02 Failed: "`[package.metadata.component]` of a crate is not understood.",
        "A typing mistake in its Cargo.toml.",
        "docs/architecture.md (\"The CMake contract\") describes every key";
    Error::UnknownComponent { .. } => B03 Usage: "There is no component of this name.",
        "A typing mistake.",
        "leave --component out to build all";
    Error::MissingPart { .. } => B04 Prerequisite: "A component needs a part that the toolchain does not have.",
        "`lite` has no ROCm libraries; other toolchains have no Composable Kernel.",
        "`cargo xtask lock show` lists what each toolchain has";
    Error::DamagedToolchain { .. } => B05 Mismatch: "A file of the installed toolchain is gone.",
        "Somebody removed it from the store.",
        "cargo xtask store verify --repair";
    Error::Start { .. } => B06 Prerequisite: "A program of the build could not be started.",
        "A damaged toolchain, a file system that forbids programs (noexec), or a scanner that holds it.",
        "cargo xtask store verify tells whether the toolchain is whole";
    Error::Step { .. } => B07 Failed: "CMake or the compiler ended with an error.",
        "The source does not compile for this target. The message has the last lines, the log has all.",
        "read the log; after a change to the source run the same command again: what is built already is kept";
    Error::TimedOut { .. } => B08 Failed: "A step did not end within its limit and was ended.",
        "A compiler that hangs, or a machine that is overloaded.",
        "run it again with fewer compilers at a time: --jobs 1";
    Error::Cargo { .. } => B09 Failed: "cargo could not build the programs of a component.",
        "The Rust source does not compile, or a crate could not be downloaded.",
        "read the log; `cargo build --release --package NAME` shows the same";
    Error::Gate { .. } => B10 Failed: "A code object compiled and is not acceptable.",
        "It is for another target, uses more than the budget of its kernel, or its kernels are not those that Cargo.toml declares.",
        "mend the kernel, or what its catalogue says of it (docs/kernels.md)";
    Error::Interrupted => B11 Interrupted: "The build was interrupted.",
        "Ctrl-C, SIGTERM or SIGHUP. Its compilers were ended too.",
        "run the command again: what is built already is kept";
    Error::NoProject { .. } => B12 Usage: "What `build --from` names has no component.toml.",
        "The wrong folder, or a project that was never described.",
        "write it: name = \"…\" and version = \"…\" are enough (docs/architecture.md, \"Projects of others\")";
    Error::Project { .. } => B13 Usage: "A component.toml is not understood.",
        "A typing mistake.",
        "docs/architecture.md (\"Projects of others\") describes every key";
    Error::CrossBuild { .. } => B14 Prerequisite: "Programs for another host cannot be built on this machine.",
        "Its linker or its standard library is not installed, or it is built on Windows only.",
        "the hint names the command; docs/windows-builds.md tells what is needed";
    Error::NoSource { .. } => B15 Usage: "`build --from` names neither a folder nor a source package of the toolchain.",
        "A typing mistake, or a package that is not among the toolchain's packages in toolchains.lock.",
        "name a folder, or a package without a host of the toolchain: `cargo xtask lock show` lists them";
    Error::SourcesChanged { .. } => B16 Failed: "Sources changed while they were built; nothing was published.",
        "An editor, a `git checkout`, or a build that writes into its own sources.",
        "run the command again when the sources are at rest";
} else {
    Error::Files(_) => &super::machine::FILES;
} }
