//! Every row has a doc line and an example, and gives the example's result.

use super::{Env, Run, rows};
use crate::number::Mode;
use std::collections::HashSet;

/// Round to nearest, denormals kept: as LLVM sets MODE.
const MODE: Mode = Mode(0xf0);

#[test]
fn every_row_gives_its_examples_results() {
    let mut names = HashSet::new();
    for row in rows() {
        assert!(names.insert(row.name), "{} is there twice", row.name);
        assert!(!row.doc.is_empty() && !row.examples.is_empty(), "{} has no doc or no example", row.name);
        for (inputs, expected) in row.examples {
            let sources: [u64; 3] = std::array::from_fn(|i| inputs.get(i).copied().unwrap_or(0));
            let env = Env { mode: MODE, lane: 5, vcc: false };
            let found = match row.run {
                Run::Lane(run) | Run::Packed(run) => run(env, sources),
                Run::LaneAndMask(run) => run(env, sources).0,
                Run::Scalar(run) => run(MODE, sources, false).0,
            };
            // v_mbcnt counts below the lane, which is 5 here.
            let expected = if row.name == "v_mbcnt_lo_u32_b32" { expected + 5 } else { *expected };
            assert_eq!(found, expected, "{} of {inputs:x?}: {found:#x}, not {expected:#x}", row.name);
        }
    }
    assert!(names.len() > 330, "{} opcodes", names.len());
}

#[test]
fn every_signature_is_well_formed() {
    for row in rows() {
        let signature = crate::decode::signature(row.signature);
        let inputs = row.examples[0].0.len();
        assert_eq!(signature.inputs.len(), inputs, "{}: {} and its example", row.name, row.signature);
        for of in signature.inputs.iter().chain(&signature.output) {
            assert!("uifmdk".contains(of.kind) && [8, 16, 32, 64].contains(&of.bits), "{}", row.name);
        }
    }
}
