//! What xtask starts does not outlive it. On Linux each program of a build has a group of its own, which is ended (`build/run.rs`); when xtask was
//! killed the system asks that program alone to end, and Ninja passes it on to its compilers, where CMake while it configures and cargo may not. Windows
//! has jobs, which end everything.

/// From now on what this process starts, and what that starts, ends when this process ends.
#[cfg(windows)]
#[allow(unsafe_code)]
pub(crate) fn die_with_this_process() {
    use windows_sys::Win32::System::JobObjects::{
        AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
        JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    };
    use windows_sys::Win32::System::Threading::GetCurrentProcess;
    let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    // SAFETY: a job without name and attributes takes null for both; `limits` is of the type that the class says, and its size is given. The job's only
    // handle is left open, so that the system closes it, and with it ends the job's processes, when this one is gone. Where a step fails (a job around us
    // that allows none in it, before Windows 8), children live on as they would without a job.
    unsafe {
        let job = CreateJobObjectW(std::ptr::null(), std::ptr::null());
        let size = size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32;
        if !job.is_null()
            && SetInformationJobObject(
                job,
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size,
            ) != 0
        {
            AssignProcessToJobObject(job, GetCurrentProcess());
        }
    }
}

/// From now on what this process starts, and what that starts, ends when this process ends.
#[cfg(not(windows))]
pub(crate) fn die_with_this_process() {}

/// Has what `command` starts be asked to end when the thread that starts it is gone, also when nobody could ask any more (SIGKILL).
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub(crate) fn end_with_this_thread(command: &mut std::process::Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only prctl(2) is called, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
}

/// Has what `command` starts be asked to end when the thread that starts it is gone.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end_with_this_thread(_: &mut std::process::Command) {}
