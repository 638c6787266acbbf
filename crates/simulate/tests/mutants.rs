//! A compiled kernel with one thing changed must fail: the check of a check. The kernel is the engine's RMS norm as it lies in engine/tests/data.

#[path = "../../gfx-sim/tests/it/toolchain.rs"]
mod toolchain;

use gfx::Target;
use gfx_sim::{Disassembler, Program};
use simulate::{CodeObjects, check_component};
use std::path::Path;

/// One change to the code of `rms_norm_f32`: the `nth` line (from 0) that starts with `line` has its first `from` replaced with `to`.
struct Mutant {
    what: &'static str,
    line: &'static str,
    nth: usize,
    from: &'static str,
    to: &'static str,
}

const fn mutant(
    what: &'static str,
    line: &'static str,
    nth: usize,
    from: &'static str,
    to: &'static str,
) -> Mutant {
    Mutant { what, line, nth, from, to }
}

const NOTHING: &str = "s_nop 0";

#[rustfmt::skip] // a table reads by columns
const BOTH: [Mutant; 13] = [
    mutant("a wrong register of a sum", "v_fmac_f32_e32 v4, v7, v7", 0, "v7, v7", "v7, v6"),
    mutant("a register that is never written", "v_fmac_f32_e32 v4, v9, v9", 0, "v9, v9", "v10, v9"),
    mutant("a bound that is one too large", "v_cmp_gt_u32_e32 vcc_lo, s10, v1", 0, "v_cmp_gt", "v_cmp_ge"),
    mutant("a loop that runs once more", "v_cmp_le_u32_e64 s1, s14, v5", 0, "v_cmp_le", "v_cmp_lt"),
    mutant("a first lane too many", "v_cmp_gt_u32_e64 s0, s14, v0", 0, "v_cmp_gt", "v_cmp_ge"),
    mutant("a load from the next number", "global_load_b128 v[6:9], v[1:2]", 0, "offset:-8", "offset:-4"),
    mutant("a wrong partner of a reduction", "v_xor_b32_e32 v7, 16, v6", 0, "16", "32"),
    mutant("a load behind the partial sums", "ds_load_b128 v[8:11], v2 offset:16", 0, "offset:16", "offset:32"),
    mutant("a store of a partial sum elsewhere", "v_lshrrev_b32_e32 v4, 3, v0", 0, ", 3,", ", 2,"),
    mutant("a wrong epsilon", "v_fma_f32 v2, v4, v2, s11", 0, "s11", "s10"),
    mutant("a store to the next number", "global_store_b128 v[13:14], v[5:8], off", 0, "off", "off offset:4"),
    mutant("a wrong half of an address", "v_add_co_ci_u32_e64 v6, null, s3, v6, s1", 0, "s3", "s2"),
    mutant("a mask that is not applied", "s_and_saveexec_b32 s0, vcc_lo", 0, "s_and_saveexec_b32", "s_mov_b32"),
];

#[rustfmt::skip] // a table reads by columns
const GFX1100: [Mutant; 7] = [
    mutant("no wait for the arguments", "s_waitcnt lgkmcnt(0)", 0, "s_waitcnt lgkmcnt(0)", NOTHING),
    mutant("no wait for a load", "s_waitcnt vmcnt(0)", 0, "s_waitcnt vmcnt(0)", NOTHING),
    mutant("a wait for a load that leaves one", "s_waitcnt vmcnt(0)", 0, "vmcnt(0)", "vmcnt(1)"),
    mutant("no wait for another lane's number", "s_waitcnt lgkmcnt(0)", 1, "s_waitcnt lgkmcnt(0)", NOTHING),
    mutant("no wait before the barrier", "s_waitcnt lgkmcnt(0)", 6, "s_waitcnt lgkmcnt(0)", NOTHING),
    mutant("no barrier", "s_barrier", 0, "s_barrier", NOTHING),
    mutant("a wait for LDS that leaves two", "s_waitcnt lgkmcnt(1)", 0, "lgkmcnt(1)", "lgkmcnt(2)"),
];

#[rustfmt::skip] // a table reads by columns
const GFX1201: [Mutant; 7] = [
    mutant("no wait for the arguments", "s_wait_kmcnt 0x0", 0, "s_wait_kmcnt 0x0", NOTHING),
    mutant("no wait for a load", "s_wait_loadcnt 0x0", 0, "s_wait_loadcnt 0x0", NOTHING),
    mutant("a wait for a load that leaves one", "s_wait_loadcnt 0x0", 0, "0x0", "0x1"),
    mutant("no wait for another lane's number", "s_wait_dscnt 0x0", 0, "s_wait_dscnt 0x0", NOTHING),
    mutant("no wait before the barrier", "s_wait_dscnt 0x0", 5, "s_wait_dscnt 0x0", NOTHING),
    mutant("no wait at the barrier", "s_barrier_wait 0xffff", 0, "s_barrier_wait 0xffff", NOTHING),
    mutant("a wait for LDS that leaves two", "s_wait_dscnt 0x1", 0, "0x1", "0x2"),
];

/// The text with the mutant in the kernel, or `None` where there is no such line.
fn change(disassembly: &str, Mutant { line, nth, from, to, .. }: &Mutant) -> Option<String> {
    let start = disassembly.find("<rms_norm_f32>:")?;
    let end = disassembly[start..].find("s_endpgm").map(|end| start + end)?;
    let (before, kernel, after) = (&disassembly[..start], &disassembly[start..end], &disassembly[end..]);
    let mut seen = 0;
    let lines = kernel.lines().map(|text| {
        let is_it = text.trim_start().starts_with(line);
        seen += usize::from(is_it);
        match is_it && seen == nth + 1 && text.contains(from) {
            true => text.replacen(from, to, 1),
            false => text.to_owned(),
        }
    });
    let changed = lines.collect::<Vec<_>>().join("\n");
    (changed != kernel).then(|| format!("{before}{changed}{after}"))
}

fn objects(target: Target, bytes: &[u8], text: &str) -> CodeObjects {
    let mut objects = CodeObjects::new(target);
    objects.add("rms_norm", Program::load(bytes, text).expect("a program"));
    objects
}

fn check(target: Target, own: &[Mutant]) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../engine/tests/data/{target}/rms_norm.co"));
    let bytes = std::fs::read(&path).expect("the fixture");
    let text = Disassembler::of_tree(toolchain::llvm()).run(&path, target).expect("a disassembly");
    let failed = |text: &str| {
        let outcomes =
            check_component("engine", &objects(target, &bytes, text), &|kernel| kernel == "rms_norm_f32");
        let outcomes = outcomes.expect("it runs");
        outcomes.iter().find(|outcome| !outcome.is_good()).map(ToString::to_string)
    };
    assert_eq!(failed(&text), None, "the kernel as it is");
    let mutants: Vec<&Mutant> = own.iter().chain(&BOTH).collect();
    assert_eq!(mutants.len(), 20);
    for mutant in mutants {
        let what = mutant.what;
        let changed = change(&text, mutant).unwrap_or_else(|| panic!("{target} {what}: no such line"));
        let why = failed(&changed);
        println!("{target} {what}: {}", why.as_deref().unwrap_or("SURVIVED"));
        assert!(why.is_some(), "{target}: nobody noticed {what}");
    }
}

#[test]
fn twenty_mutants_of_gfx1100_fail() {
    check(Target::Gfx1100, &GFX1100);
}

#[test]
fn twenty_mutants_of_gfx1201_fail() {
    check(Target::Gfx1201, &GFX1201);
}
