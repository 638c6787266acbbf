//! Moves between lanes: DPP, permlane, readlane, ds_bpermute, ds_swizzle.

use crate::assemble::{assemble, launch, prologue, wait};
use crate::sequences::{Random, SEQUENCES, TARGETS};
use gfx_sim::Memory;

/// Of the lanes' values, what each lane has afterwards; `old` where a lane is not written.
type Effect = Box<dyn Fn(&[u32; 32]) -> [u32; 32]>;
type Move = (String, Effect);

fn of(f: impl Fn(usize) -> usize + 'static) -> Effect {
    Box::new(move |x| std::array::from_fn(|lane| x[f(lane)]))
}

/// One random move, spelled for `v9` from `v8`.
fn a_move(random: &mut Random, waits: &'static str) -> Move {
    let n = random.below(15) + 1;
    let masks = "row_mask:0xf bank_mask:0xf";
    let dpp = |control: String| format!("v_mov_b32_dpp v9, v8 {control} {masks}\n");
    // What is shifted in from beyond a row is zero with bound_ctrl.
    let shifted = |by: i32| -> Effect {
        Box::new(move |x| {
            std::array::from_fn(|lane| {
                let within = lane as i32 % 16 + by;
                if (0..16).contains(&within) { x[lane / 16 * 16 + within as usize] } else { 0 }
            })
        })
    };
    match random.below(11) {
        0 => {
            let p: [usize; 4] = std::array::from_fn(|_| random.below(4));
            (
                dpp(format!("quad_perm:[{},{},{},{}]", p[0], p[1], p[2], p[3])),
                of(move |lane| lane / 4 * 4 + p[lane % 4]),
            )
        }
        1 => (dpp(format!("row_xmask:{n}")), of(move |lane| lane ^ n)),
        2 => (dpp(format!("row_share:{n}")), of(move |lane| lane / 16 * 16 + n)),
        3 => (dpp(format!("row_ror:{n}")), of(move |lane| lane / 16 * 16 + (lane % 16 + 16 - n) % 16)),
        4 => (format!("v_mov_b32_dpp v9, v8 row_shr:{n} {masks} bound_ctrl:1\n"), shifted(-(n as i32))),
        5 => (format!("v_mov_b32_dpp v9, v8 row_shl:{n} {masks} bound_ctrl:1\n"), shifted(n as i32)),
        6 => (dpp("row_mirror".into()), of(|lane| lane / 16 * 16 + 15 - lane % 16)),
        7 => {
            let p: [usize; 8] = std::array::from_fn(|_| random.below(8));
            let list = p.map(|lane| lane.to_string()).join(",");
            (format!("v_mov_b32_dpp v9, v8 dpp8:[{list}]\n"), of(move |lane| lane / 8 * 8 + p[lane % 8]))
        }
        8 => {
            let p: [usize; 16] = std::array::from_fn(|_| random.below(16));
            let word = |from: usize| (0..8).fold(0u32, |word, i| word | (p[from + i] as u32) << (4 * i));
            let text = format!(
                "s_mov_b32 s20, {:#x}\ns_mov_b32 s21, {:#x}\nv_permlanex16_b32 v9, v8, s20, s21\n",
                word(0),
                word(8)
            );
            (text, of(move |lane| (1 - lane / 16) * 16 + p[lane % 16]))
        }
        9 => {
            let lane = random.below(32);
            (format!("v_readlane_b32 s20, v8, {lane}\nv_mov_b32 v9, s20\n"), of(move |_| lane))
        }
        _ => {
            let by = random.below(32);
            // The address is a lane times four; v0 is that of this lane.
            let text = format!("v_add_nc_u32 v20, {}, v0\nds_bpermute_b32 v9, v20, v8\n{waits}", 4 * by);
            (text, of(move |lane| (lane + by) % 32))
        }
    }
}

#[test]
fn moves_between_lanes() {
    for target in TARGETS {
        let mut random = Random(99);
        let values: [u32; 32] = std::array::from_fn(|_| random.bits() as u32);
        let mut body = prologue(target);
        let mut expected = Vec::new();
        for sequence in 0..SEQUENCES {
            body += &format!("global_load_b32 v8, v0, s[4:5]\n{}", wait(target));
            let mut now = values;
            for _ in 0..=random.below(3) {
                let (text, run) = a_move(&mut random, wait(target));
                body += &(text + "v_mov_b32 v8, v9\n");
                now = run(&now);
            }
            body += &format!("v_add_nc_u32 v1, {:#x}, v0\nglobal_store_b32 v1, v8, s[6:7]\n", 128 * sequence);
            expected.extend(now);
        }
        let program = assemble(target, &body);
        let mut memory = Memory::new();
        let (input, output) =
            (memory.read_only("input", &values), memory.output::<u32>("output", 32 * SEQUENCES));
        launch(&program, &mut memory, 32, input, output).expect("runs");
        assert_eq!(memory.numbers::<u32>(output), expected, "{target}");
    }
}
