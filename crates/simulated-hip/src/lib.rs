//! A HIP runtime whose devices are `gfx-sim`: a program that loads it as `libamdhip64.so.7` has its launches executed on the CPU, instruction by
//! instruction, under the interpreter's sanitizer. So a whole program can be shown to compute what it should where there is no GPU.
//!
//! It has the functions that `crates/hip` calls and is set up by the environment:
//!
//! - `STRATA_SIM_DEVICES`: targets of the devices, e.g. `gfx1100,gfx1100`; default `gfx1201`
//! - `STRATA_SIM_VRAM`: bytes of memory that each device has; default 16 GiB
//! - `STRATA_SIM_END_CAPTURE`: with `fails`, no recording of a stream ends well
//! - `STRATA_SIM_LLVM`: the unpacked LLVM whose disassembler reads the code objects
//! - `STRATA_SIM_MAPPED`: when the host sees what a device wrote to memory of the host: as soon as it is done, or with `driver` when the driver is entered, as
//!   Windows has it; `never`: there is no such memory
//! - `STRATA_SIM_LOG`: a file that gets a line for each launch, graph and copy between devices, and one for what the program did while a graph ran
//!
//! Each device has memory of its own: a kernel that follows another device's pointer faults. A launch that faults returns
//! `hipErrorLaunchFailure`, and `hipGetErrorString` says what the interpreter found.
#![allow(unsafe_code)] // This crate is a C interface.

mod calls;
mod device;
mod mapped;
mod pending;
mod state;
