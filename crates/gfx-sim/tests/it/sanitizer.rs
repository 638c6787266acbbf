//! One small kernel for each fault, with the kernel that does the same and is right.

use crate::assemble::{assemble, launch, prologue, wait};
use crate::sequences::TARGETS;
use gfx::{Target, Wmma};
use gfx_sim::{Error, Fault, FaultKind, Memory};

/// Runs a body on two waves over 64 words of input and output.
fn run(target: Target, body: &str) -> Result<(), Box<Fault>> {
    let program = assemble(target, &(prologue(target) + body));
    let mut memory = Memory::new();
    let input = memory.read_only("input", &(0..64).collect::<Vec<u32>>());
    let output = memory.output::<u32>("output", 64);
    match launch(&program, &mut memory, 64, input, output) {
        Ok(_) => Ok(()),
        Err(Error::Fault(fault)) => Err(fault),
        Err(other) => panic!("{other}"),
    }
}

/// `right` runs, `wrong` gives a fault that is `expected`, with the line that has `line` in it.
fn shows(target: Target, right: &str, wrong: &str, line: &str, expected: fn(&FaultKind) -> bool) {
    run(target, right).unwrap_or_else(|fault| panic!("{target}: {fault}"));
    let fault = run(target, wrong).expect_err("a fault");
    assert!(expected(&fault.kind) && fault.line.contains(line), "{fault}");
    assert!(fault.to_string().starts_with("k: workgroup 0,0,0 wave ") && fault.pc > 0, "{fault}");
}

fn barrier(target: Target) -> &'static str {
    if target.wmma() == Some(Wmma::Gfx12) {
        "s_barrier_signal -1\ns_barrier_wait -1\n"
    } else {
        "s_barrier\n"
    }
}

const STORE: &str = "global_store_b32 v0, v8, s[6:7]\n";

#[test]
fn a_register_that_nothing_has_written() {
    for target in TARGETS {
        let is =
            |kind: &FaultKind| matches!(kind, FaultKind::Uninitialised { register, .. } if register == "v9");
        shows(
            target,
            &format!("v_mov_b32 v8, 1\n{STORE}"),
            &format!("v_add_nc_u32 v8, 1, v9\n{STORE}"),
            "global_store",
            is,
        );
        // What is masked away does not matter, nor does the side that a selection does not take.
        let hidden =
            "v_and_b32 v8, 0, v9\nv_mov_b32 v10, 1\ns_mov_b32 s20, -1\nv_cndmask_b32 v8, v9, v10, s20\n";
        run(target, &format!("{hidden}{STORE}")).expect("nothing of v9 is stored");
        let branch = "v_cmp_lt_u32 vcc_lo, 3, v9\ns_cbranch_vccz 0\n";
        assert!(run(target, branch).expect_err("a branch").line.contains("s_cbranch_vccz"));
    }
}

#[test]
fn lds_that_nothing_has_written() {
    for target in TARGETS {
        let load = format!("ds_load_b32 v8, v0\n{}{STORE}", wait(target));
        let is =
            |kind: &FaultKind| matches!(kind, FaultKind::Uninitialised { register, .. } if register == "LDS");
        shows(target, &format!("ds_store_b32 v0, v0\n{}{load}", wait(target)), &load, "global_store", is);
    }
}

#[test]
fn global_memory_out_of_bounds() {
    for target in TARGETS {
        let load =
            |offset: i32| format!("global_load_b32 v8, v0, s[4:5] offset:{offset}\n{}{STORE}", wait(target));
        let is = |kind: &FaultKind| matches!(kind, FaultKind::OutOfBounds { nearest, .. } if nearest.contains("input"));
        shows(target, &load(0), &load(4), "global_load_b32", is);
        shows(target, &load(0), &load(-4), "global_load_b32", is);
        let read_only = |kind: &FaultKind| matches!(kind, FaultKind::ReadOnly { .. });
        shows(target, &load(0), "global_store_b32 v0, v0, s[4:5]\n", "global_store_b32", read_only);
    }
}

#[test]
fn lds_out_of_bounds() {
    for target in TARGETS {
        let store = |offset: u32| format!("ds_store_b32 v0, v0 offset:{offset}\n");
        let is = |kind: &FaultKind| matches!(kind, FaultKind::LdsOutOfBounds { size: 4096, .. });
        shows(target, &store(4096 - 256), &store(4096 - 252), "ds_store_b32", is);
    }
}

#[test]
fn misaligned_addresses() {
    for target in TARGETS {
        let is = |kind: &FaultKind| matches!(kind, FaultKind::Misaligned { .. });
        shows(target, "ds_store_b32 v0, v0\n", "ds_store_b32 v0, v0 offset:2\n", "ds_store_b32", is);
        let load = |offset: u32| format!("global_load_b32 v8, v9, s[4:5] offset:{offset}\n");
        let zero = "v_mov_b32 v9, 0\n";
        shows(target, &format!("{zero}{}", load(2)), &format!("{zero}{}", load(1)), "global_load_b32", is);
    }
}

#[test]
fn results_that_were_not_waited_for() {
    for target in TARGETS {
        let waits = wait(target);
        let is = |kind: &FaultKind| matches!(kind, FaultKind::NotWaited { .. });
        let uses = [
            ("global_load_b32 v8, v0, s[4:5]\n", "v_add_nc_u32 v8, 1, v8\n", "v_add_nc_u32"),
            ("global_load_b32 v8, v0, s[4:5]\n", "v_mov_b32 v8, 1\n", "v_mov_b32"),
            ("ds_store_b32 v0, v0\nds_load_b32 v8, v0\n", "v_add_nc_u32 v8, 1, v8\n", "v_add_nc_u32"),
            ("s_load_b32 s20, s[4:5], 0x0\n", "v_mov_b32 v8, s20\n", "v_mov_b32"),
        ];
        for (issue, used, line) in uses {
            shows(
                target,
                &format!("{issue}{waits}{used}{STORE}"),
                &format!("{issue}{used}{STORE}"),
                line,
                is,
            );
        }
        // Two loads: waiting until one is left is enough for the first only.
        let one =
            if target.wmma() == Some(Wmma::Gfx12) { "s_wait_loadcnt 1\n" } else { "s_waitcnt vmcnt(1)\n" };
        let loads = format!("global_load_b32 v8, v0, s[4:5]\nglobal_load_b32 v9, v0, s[4:5]\n{one}");
        shows(
            target,
            &format!("{loads}{STORE}"),
            &format!("{loads}global_store_b32 v0, v9, s[6:7]\n"),
            "v9",
            is,
        );
    }
}

#[test]
fn lds_races() {
    for target in TARGETS {
        let (waits, barrier) = (wait(target), barrier(target));
        // Each wave reads what the other has written.
        let store = "ds_store_b32 v0, v0\n";
        let load = format!("v_xor_b32 v9, 0x80, v0\nds_load_b32 v8, v9\n{waits}{STORE}");
        let is = |kind: &FaultKind| matches!(kind, FaultKind::LdsRace { .. });
        let right = format!("{store}{waits}{barrier}{load}");
        // The wave that runs second is caught, here with its store.
        let filled = format!("{store}{waits}{barrier}");
        shows(target, &right, &format!("{filled}{store}{waits}{load}"), "ds_store_b32", is);
        // The store is still under way at the barrier.
        shows(target, &right, &format!("{store}{barrier}{load}"), "ds_load_b32", is);
        // Written again while another may still read.
        shows(target, &right, &format!("{right}{store}"), "ds_load_b32", is);
        run(target, &format!("{right}{barrier}{store}")).expect("a barrier between");
    }
}

#[test]
fn divergent_barriers() {
    for target in TARGETS {
        let barrier = barrier(target);
        let is = |kind: &FaultKind| matches!(kind, FaultKind::DivergentBarrier(_));
        // Some lanes only.
        let line = if target.wmma() == Some(Wmma::Gfx12) { "s_barrier_signal" } else { "s_barrier" };
        shows(target, barrier, &format!("v_cmpx_gt_u32 20, v0\n{barrier}"), line, is);
        // One wave ends before it.
        let ends = "v_readfirstlane_b32 s20, v0\ns_cmp_eq_u32 s20, 0\ns_cbranch_scc1 1\ns_endpgm\n";
        assert!(is(&run(target, &format!("{ends}{barrier}")).expect_err("a wave has ended").kind));
    }
}

#[test]
fn matrices_want_all_lanes_and_on_gfx11_both_halves_alike() {
    let zeros: String = (8..48).map(|register| format!("v_mov_b32 v{register}, 0\n")).collect();
    let product = "v_wmma_f32_16x16x16_f16 v[40:47], v[8:15], v[16:23], v[40:47]\n";
    let is = |kind: &FaultKind| matches!(kind, FaultKind::MatrixExec { .. });
    let right = format!("{zeros}{product}");
    shows(Target::Gfx1100, &right, &format!("{zeros}v_cmpx_gt_u32 20, v0\n{product}"), "v_wmma", is);
    let is = |kind: &FaultKind| matches!(kind, FaultKind::MatrixHalves { register: 9 });
    shows(Target::Gfx1100, &right, &format!("{zeros}v_mov_b32 v9, v0\n{product}"), "v_wmma", is);
}

#[test]
fn an_unknown_opcode_and_a_wave_that_does_not_end() {
    // A structured buffer is a form that is not known: the fault names it.
    let body = "s_mov_b32 s8, s4\ns_mov_b32 s9, 0x00100000\ns_mov_b32 s10, 64\ns_mov_b32 s11, 0\nbuffer_load_b32 v8, v0, s[8:11], 0 offen\n";
    let fault = run(Target::Gfx1100, body).expect_err("not known");
    assert!(matches!(&fault.kind, FaultKind::Unsupported(what) if what.contains("buffer")), "{fault}");
    assert!(matches!(run(Target::Gfx1201, "s_trap 2\n").expect_err("a trap").kind, FaultKind::Trap));
}
