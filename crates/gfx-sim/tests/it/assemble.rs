//! From assembler text to a loaded program.

use crate::toolchain::llvm;
use gfx::{Target, Wmma};
use gfx_sim::{Counts, Disassembler, Error, Launch, Memory, Program, libraries_of_tree};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A kernel `k` with the argument segment of two addresses at s[0:1].
const FRAME: &str = "
	.text
	.globl k
	.p2align 8
	.type k,@function
k:
BODY
	s_endpgm
	.rodata
	.amdhsa_kernel k
	  .amdhsa_next_free_vgpr 256
	  .amdhsa_next_free_sgpr 100
	  .amdhsa_enable_private_segment 1
	  .amdhsa_kernarg_size 16
	  .amdhsa_user_sgpr_kernarg_segment_ptr 1
	  .amdhsa_group_segment_fixed_size 4096
	  .amdhsa_private_segment_fixed_size 64
	  .amdhsa_float_denorm_mode_32 3
	  .amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--TARGET
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 64
    .wavefront_size: 32
    .sgpr_count: 100
    .vgpr_count: 256
    .max_flat_workgroup_size: 1024
...
	.end_amdgpu_metadata
";

/// Waits for everything that loads count on, in the target's spelling.
pub(crate) fn wait(target: Target) -> &'static str {
    match target.wmma() {
        Some(Wmma::Gfx12) => "s_wait_loadcnt 0\ns_wait_dscnt 0\ns_wait_kmcnt 0\n",
        _ => "s_waitcnt vmcnt(0) lgkmcnt(0)\n",
    }
}

/// The addresses of the input in s[4:5], of the output in s[6:7], and four bytes times the work item in v0, and in v1.
pub(crate) fn prologue(target: Target) -> String {
    format!("s_load_b128 s[4:7], s[0:1], 0x0\nv_lshlrev_b32 v0, 2, v0\nv_mov_b32 v1, v0\n{}", wait(target))
}

fn run(program: &str, arguments: &[&str], files: &[&Path]) {
    let mut command = Command::new(llvm().join("usr/lib/llvm-22/bin").join(program));
    command.env("LD_LIBRARY_PATH", libraries_of_tree(llvm())).args(arguments).args(files);
    let output = command.output().expect(program);
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Assembles, links, disassembles and loads a kernel with this body.
pub(crate) fn assemble(target: Target, body: &str) -> Program {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let [source, object, linked] = ["s", "o", "co"].map(|ending| folder.join(format!("{name}.{ending}")));
    std::fs::write(&source, FRAME.replace("BODY", body).replace("TARGET", target.name())).expect("a source");
    let cpu = format!("-mcpu={target}");
    run("llvm-mc", &["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", "-o"], &[&object, &source]);
    run("ld.lld", &["-shared", "-o"], &[&linked, &object]);
    let text = Disassembler::of_tree(llvm()).run(&linked, target).expect("a disassembly");
    let program = Program::load(&std::fs::read(&linked).expect("linked"), &text).expect("a program");
    for file in [&source, &object, &linked] {
        std::fs::remove_file(file).expect("was made above");
    }
    assert!(program.unsupported().is_empty(), "{target}: {:?}", program.unsupported());
    program
}

/// Launches `k` with an input and an output.
pub(crate) fn launch(
    program: &Program,
    memory: &mut Memory,
    block: u32,
    input: u64,
    output: u64,
) -> Result<Counts, Error> {
    let arguments = [input.to_le_bytes(), output.to_le_bytes()].concat();
    let launch =
        Launch { kernel: "k", grid: [1, 1, 1], block: [block, 1, 1], arguments: &arguments, dynamic_lds: 0 };
    program.launch(memory, &launch)
}
