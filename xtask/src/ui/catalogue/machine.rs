//! M: the machine and the command line.

use super::Explanation;
use crate::commands::{CheckError, MissingPrerequisite, NativeError, NotReady, SimulationFailed, Usage};
use crate::files;
use crate::ui::exit::Exit;
use std::error::Error;

/// A file operation.
pub(in crate::ui) const FILES: Explanation = Explanation {
    code: "M01",
    exit: Exit::Failed,
    meaning: "A file or folder could not be read, written, renamed or removed.",
    cause: "Permissions, a path that is not there, a removed volume. The system's reason follows as `caused by`.",
    mend: "check that the path is there and that you may read and write it",
};

/// No space left, wherever it was.
pub(in crate::ui) const DISK_FULL: Explanation = Explanation {
    code: "M02",
    exit: Exit::NoSpace,
    meaning: "The disk is full, or a quota is used up.",
    cause: "The volume of the store, of the output folder or of the temporary folder.",
    mend: "free some space, or choose another volume with --store DIR; nothing was changed",
};

/// On Windows: a file that could not be renamed or removed for half a minute.
pub(in crate::ui) const HELD: Explanation = Explanation {
    code: "M03",
    exit: Exit::Failed,
    meaning: "Another program holds a file (Windows).",
    cause: "Most likely an antivirus that scans it. xtask waited half a minute for it.",
    mend: "another program holds the file, most likely an antivirus that scans it: close it, or exclude the store's folder from scanning, then run the command again; nothing was lost",
};

const PREREQUISITE: Explanation = Explanation {
    code: "M04",
    exit: Exit::Prerequisite,
    meaning: "A program or a setting that the command needs is not there.",
    cause: "It was never installed, or is too old.",
    mend: "the hint names the command that mends it; `cargo xtask doctor` lists everything that is missing",
};

const USAGE: Explanation = Explanation {
    code: "M05",
    exit: Exit::Usage,
    meaning: "What was typed does not make sense.",
    cause: "A typing mistake, or options that do not go together.",
    mend: "`cargo xtask COMMAND --help` has examples",
};

const SIMULATION: Explanation = Explanation {
    code: "M20",
    exit: Exit::Failed,
    meaning: "Kernels do not compute on the interpreter what their references compute.",
    cause: "A defect of the kernel, of the compiler or of the interpreter. Each is named with the first difference.",
    mend: "do not ship these kernels; docs/kernels.md tells how one is looked into",
};

const CHECKLIST: Explanation = Explanation {
    code: "M21",
    exit: Exit::Failed,
    meaning: "Something is missing before a release may be tagged.",
    cause: "`cargo xtask checklist` prints each point as ok or missing.",
    mend: "do what stands below each missing point, then run the command again",
};

/// What was never foreseen.
pub(in crate::ui) const UNKNOWN: Explanation = Explanation {
    code: "M00",
    exit: Exit::Failed,
    meaning: "An error that has no code of its own.",
    cause: "Nobody foresaw it.",
    mend: "report it with all that was printed; -v says more",
};

/// A panic.
pub(in crate::ui) const BUG: Explanation = Explanation {
    code: "M99",
    exit: Exit::Bug,
    meaning: "xtask has a defect and stopped.",
    cause: "An assumption of its code did not hold. Store, artifacts and releases are as they were: nothing gets its name before it is whole.",
    mend: "report what was printed: it has the version and the lock's digest, and no path of yours",
};

mod native {
    use crate::commands::NativeError;
    crate::ui::catalogue::explanations! { NativeError {
        NativeError::NoGpu => M06 Prerequisite: "`--targets native`, and the driver lists no AMD GPU.",
            "No card, no driver, or a container without /dev/kfd.",
            "name the targets, e.g. --targets gfx1201; `cargo xtask doctor` lists what this machine has";
        NativeError::Unsupported(_) => M07 Prerequisite: "`--targets native`, and no GPU of this machine is a target.",
            "The cards are older or newer than what this project builds for.",
            "name the targets, e.g. --targets gfx1201; `cargo xtask doctor` lists what this machine has";
    } }
}

mod targets {
    use gfx::ParseError;
    crate::ui::catalogue::explanations! { ParseError {
        ParseError::Empty => M08 Usage: "A list of targets names none.",
            "An empty variable in a script.",
            "name targets, e.g. --targets gfx1100,gfx1201, or `all`";
        ParseError::Unknown { .. } => M09 Usage: "A target has a name that is not known.",
            "A typing mistake, or a card that is no target.",
            "`cargo xtask lock show` lists the targets of each toolchain";
        ParseError::Feature { .. } => M10 Usage: "A target has a suffix that is no feature.",
            "A name of hipInfo or rocminfo that was typed wrong.",
            "leave the suffix out, e.g. gfx1100";
    } }
}

mod selection {
    use crate::commands::NativeError;
    use gfx::SelectionError;
    crate::ui::catalogue::explanations! { SelectionError<NativeError> {
        SelectionError::EmptyFamily(_) => M11 Usage: "No target of a family can be built by the toolchain.",
            "The dist is of another family.",
            "choose another --toolchain; `cargo xtask lock show` lists what each builds";
        SelectionError::Empty => M12 Usage: "The targets come to nothing.",
            "`all` of a toolchain that builds none.",
            "choose another --toolchain; `cargo xtask lock show` lists what each builds";
    } else {
        SelectionError::Native(error) => super::native::explain(error);
    } }
}

mod check {
    use crate::commands::CheckError;
    crate::ui::catalogue::explanations! { CheckError {
        CheckError::Wrong { .. } => M13 Mismatch: "`lock check --online` found sources that do not give what the lock says.",
            "A publisher replaced a file, or somebody in between did.",
            "do not install from these sources; if a publisher really changed a file, `cargo xtask lock update NAME` measures it again";
        CheckError::Unasked { .. } => M14 Network: "`lock check --online` could not ask every source.",
            "The network, a proxy, or a server that is down.",
            "check the network and any proxy (HTTPS_PROXY), then run the command again";
    } }
}

mod simulation {
    use simulate::Error;
    crate::ui::catalogue::explanations! { Error {
        Error::NoKernels { .. } => M15 Usage: "A folder to simulate has no kernels.",
            "It is no artifact folder and no unpacked release.",
            "name a folder with kernels/<target>/<component>/<name>.co";
        Error::Read { .. } => M16 Failed: "A file of the simulation cannot be read.",
            "Permissions, or a file that was removed meanwhile.",
            "check that the folder can be read";
        Error::Target { .. } => M17 Failed: "A folder below `kernels` is named after no target.",
            "A folder that does not belong there.",
            "remove the folder, or build again";
        Error::Load { .. } => M18 Failed: "A code object cannot be loaded into the interpreter.",
            "It is damaged, or uses something that the interpreter does not know.",
            "cargo xtask verify FOLDER tells whether it is what was built";
        Error::Missing { .. } => M19 Failed: "A code object of the catalogue is not there.",
            "The component was built only in part.",
            "build it again: cargo xtask build";
    } }
}

mod studio {
    use crate::host::visual_studio::Error;
    crate::ui::catalogue::explanations! { Error {
        Error::NoVisualStudio { .. } => M22 Prerequisite: "No Visual Studio will do (Windows).",
            "None is installed, or none has C++ tools of 14.42 or later that this clang's headers take. Each is named with its reason.",
            "the hint has the installer's command; `cargo xtask doctor` lists every installation";
        Error::NoWindowsSdk { .. } => M23 Prerequisite: "No Windows SDK is whole (Windows).",
            "None is installed, or headers, libraries, rc.exe and mt.exe are of different versions.",
            "the hint has the installer's command; `cargo xtask doctor` lists every kit";
        Error::Start { .. } => M24 Prerequisite: "The script that sets up Visual Studio's environment could not be run (Windows).",
            "cmd.exe or vcvars64.bat is not there, or a policy forbids it.",
            "cargo xtask doctor";
        Error::Script { .. } => M25 Prerequisite: "The script set up no environment (Windows).",
            "A broken installation; its last words are in the message.",
            "cargo xtask doctor";
        Error::Missing { .. } => M26 Prerequisite: "The script set up an environment in which something is not there (Windows).",
            "A component of Visual Studio was never installed.",
            "the hint has the installer's command";
    } }
}

const SINGLE: &[Explanation] = &[UNKNOWN, FILES, DISK_FULL, HELD, PREREQUISITE, USAGE, SIMULATION, CHECKLIST];

/// All of this chapter.
pub(super) const ALL: &[&[Explanation]] =
    &[SINGLE, native::ALL, targets::ALL, selection::ALL, check::ALL, simulation::ALL, studio::ALL, &[BUG]];

pub(super) fn of_cause(cause: &(dyn Error + 'static)) -> Option<&'static Explanation> {
    if let Some(error) = cause.downcast_ref::<CheckError>() {
        return Some(check::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<gfx::SelectionError<NativeError>>() {
        return Some(selection::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<gfx::ParseError>() {
        return Some(targets::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<simulate::Error>() {
        return Some(simulation::explain(error));
    }
    if let Some(error) = cause.downcast_ref::<crate::host::visual_studio::Error>() {
        return Some(studio::explain(error));
    }
    if cause.is::<NotReady>() {
        return Some(&CHECKLIST);
    }
    if cause.is::<SimulationFailed>() {
        return Some(&SIMULATION);
    }
    if cause.is::<MissingPrerequisite>() {
        return Some(&PREREQUISITE);
    }
    if cause.is::<Usage>() {
        return Some(&USAGE);
    }
    if cause.is::<files::Error>() {
        return Some(&FILES);
    }
    None
}
