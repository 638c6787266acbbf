//! Loads and stores of every width, to global memory, LDS and scratch and back.

use crate::assemble::{assemble, launch, prologue, wait};
use crate::sequences::{Random, SEQUENCES, TARGETS};
use gfx_sim::Memory;

/// What a load of this name makes of four bytes at a place.
type Load = (&'static str, u32, fn(u32) -> u32);
const LOADS: [Load; 5] = [
    ("u8", 1, |word| word & 0xff),
    ("i8", 1, |word| i32::from(word as u8 as i8) as u32),
    ("u16", 2, |word| word & 0xffff),
    ("i16", 2, |word| i32::from(word as u16 as i16) as u32),
    ("b32", 4, |word| word),
];

#[test]
fn values_come_back_from_every_memory() {
    for target in TARGETS {
        let mut random = Random(5);
        let input: Vec<u32> = (0..128).map(|_| random.bits() as u32).collect();
        let mut body = prologue(target) + "v_lshlrev_b32 v2, 2, v0\n";
        let mut expected = Vec::new();
        let waits = wait(target);
        for sequence in 0..SEQUENCES {
            // Through LDS or scratch, four words a lane, then a part of one of them.
            let (word, load) = (random.below(4), LOADS[random.below(5)]);
            let byte = random.below(4) as u32 / load.1 * load.1;
            let place = 4 * word as u32 + byte;
            body += &format!("global_load_b128 v[8:11], v2, s[4:5]\n{waits}");
            let stored = if target.wmma() == Some(gfx::Wmma::Gfx12) {
                "s_wait_storecnt 0\n"
            } else {
                "s_waitcnt_vscnt null, 0\n"
            };
            body += &match random.below(4) {
                0 => format!(
                    "ds_store_b128 v2, v[8:11]\n{waits}ds_load_{} v20, v2 offset:{place}\n{waits}",
                    load.0
                ),
                1 => format!(
                    "ds_store_2addr_b64 v2, v[8:9], v[10:11] offset1:1\n{waits}ds_load_{} v20, v2 offset:{place}\n{waits}",
                    load.0
                ),
                2 => format!(
                    "scratch_store_b128 off, v[8:11], off\n{stored}scratch_load_{} v20, off, off offset:{place}\n{waits}",
                    load.0
                ),
                _ => format!("global_load_{} v20, v2, s[4:5] offset:{place}\n{waits}", load.0),
            };
            body +=
                &format!("v_add_nc_u32 v1, {:#x}, v0\nglobal_store_b32 v1, v20, s[6:7]\n", 128 * sequence);
            expected.extend((0..32).map(|lane| (load.2)(input[4 * lane + word] >> (8 * byte))));
        }
        let program = assemble(target, &body);
        let mut memory = Memory::new();
        let (from, to) = (memory.read_only("input", &input), memory.output::<u32>("output", 32 * SEQUENCES));
        launch(&program, &mut memory, 32, from, to).expect("runs");
        assert_eq!(memory.numbers::<u32>(to), expected, "{target}");
    }
}

/// A raw buffer gives zero beyond its end and takes nothing there; atomic operations of all lanes add up.
#[test]
fn buffers_end_and_atomics_add_up() {
    for target in TARGETS {
        let none = if target.wmma() == Some(gfx::Wmma::Gfx12) { "null" } else { "0" };
        let body = prologue(target)
            + "s_mov_b32 s8, s4\ns_mov_b32 s9, s5\ns_mov_b32 s10, 40\ns_mov_b32 s11, 0x31000000\n"
            + &format!("buffer_load_b32 v8, v0, s[8:11], {none} offen\n{}", wait(target))
            + "global_store_b32 v0, v8, s[6:7]\nv_mov_b32 v9, 0\nglobal_atomic_add_u32 v9, v0, s[6:7] offset:128\n";
        let program = assemble(target, &body);
        let mut memory = Memory::new();
        let input = memory.read_only("input", &(1..=10).collect::<Vec<u32>>());
        let output = memory.read_write("output", &[0u32; 33]);
        launch(&program, &mut memory, 32, input, output).expect("runs");
        let mut expected: Vec<u32> = (1..=32).map(|x| if x <= 10 { x } else { 0 }).collect();
        expected.push((0..32).map(|lane| 4 * lane).sum());
        assert_eq!(memory.numbers::<u32>(output), expected, "{target}");
    }
}
