//! What somebody says of the kernels of a code object, and where the code object says otherwise.

use crate::{CodeObject, Kernel, Kind, instructions};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// LDS that a work-group can have on every RDNA target.
const LDS_LIMIT: u32 = 65_536;
/// What clang leaves of the id of a HIP compilation unit with `-fuse-cuid=none`.
const NO_CUID: &str = "__hip_cuid_";
/// Bytes of the implicit arguments that follow the block of a kernel that reads them (LLVM AMDGPU usage, "Code Object V5 Kernel Metadata").
const IMPLICIT_ARGUMENTS: u32 = 256;

/// What a family's generic target may take beyond a budget: its code has to run on every chip of the family, so the compiler may use only what the least of
/// them has. It is the fallback for a card without a code object of its own.
const GENERIC_VGPRS: u32 = 8;
const GENERIC_SCRATCH: u32 = 64;

/// What is said of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The kernel's name.
    pub name: String,
    /// Work-items of a work-group, exactly.
    pub threads: u32,
    /// Bytes of the argument block, exactly; implicit arguments come on top.
    pub argument_bytes: u32,
    /// Bytes of static LDS, exactly.
    pub lds_bytes: u32,
    /// Vector registers of one lane, at most; eight more on a generic target.
    pub vgprs: u32,
    /// Bytes of scratch of one lane, at most; 64 more on a generic target.
    pub scratch_bytes: u32,
    /// Whether it multiplies matrices: such a kernel has `v_wmma` instructions, and another has none.
    pub wmma: bool,
    /// The constants that it exports, as little-endian words.
    pub constants: BTreeMap<String, Vec<u32>>,
}

/// Something that a code object has and should not, or the other way round.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {found}, expected {expected}")]
pub struct Violation {
    /// The kernel and its property, e.g. `fmha_fwd_bf16_d64: vgprs`.
    pub what: String,
    /// What was expected, e.g. `at most 224`.
    pub expected: String,
    /// What the code object says.
    pub found: String,
}

/// Everything in which `object` is not as expected; empty: nothing. `expected` are all kernels that it should have.
pub fn violations(object: &CodeObject, expected: &[Expected]) -> Vec<Violation> {
    let mut found = Violations::default();
    for kernel in &object.kernels {
        if !expected.iter().any(|e| e.name == kernel.name) {
            found.equal(&kernel.name, "kernel", "absent", "present");
        }
    }
    for expected in expected {
        match object.kernel(&expected.name) {
            Some(kernel) => found.kernel(expected, kernel, object),
            None => found.equal(&expected.name, "kernel", "present", "absent"),
        }
    }
    let symbols: BTreeSet<String> = (expected.iter())
        .flat_map(|e| {
            [e.name.clone(), format!("{}.kd", e.name)].into_iter().chain(e.constants.keys().cloned())
        })
        .collect();
    for symbol in object.symbols().filter(|symbol| !symbols.contains(*symbol) && *symbol != NO_CUID) {
        found.equal(symbol, "symbol", "absent", "present");
    }
    found.0
}

#[derive(Default)]
struct Violations(Vec<Violation>);

impl Violations {
    fn kernel(&mut self, expected: &Expected, kernel: &Kernel, object: &CodeObject) {
        let name = &kernel.name;
        self.equal(name, "wave size", 32, kernel.wave_size);
        self.equal(name, "largest work-group", expected.threads, kernel.max_flat_workgroup_size);
        self.equal(name, "dynamic stack", false, kernel.uses_dynamic_stack);
        self.equal(name, "LDS bytes", expected.lds_bytes, kernel.lds);
        self.most(name, "LDS bytes", LDS_LIMIT, kernel.lds);
        let (vgprs, scratch) = match object.target.is_generic() {
            true => (GENERIC_VGPRS, GENERIC_SCRATCH),
            false => (0, 0),
        };
        self.most(name, "vgprs", expected.vgprs + vgprs, kernel.vgpr);
        self.most(name, "scratch bytes", expected.scratch_bytes + scratch, kernel.scratch);
        if kernel.kernarg_size != expected.argument_bytes + IMPLICIT_ARGUMENTS {
            self.equal(name, "argument bytes", expected.argument_bytes, kernel.kernarg_size);
        }
        for (symbol, words) in &expected.constants {
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
            let found = object.constant(symbol);
            self.equal(name, symbol, format!("{bytes:?}"), format!("{:?}", found.unwrap_or_default()));
        }
        self.code(expected, object);
    }

    fn code(&mut self, expected: &Expected, object: &CodeObject) {
        let Some((code, wmma)) = object.code(&expected.name).zip(object.target.wmma()) else {
            return self.equal(&expected.name, "machine code", "present", "absent");
        };
        let kinds: Vec<Kind> = instructions(code, wmma).iter().map(|i| i.kind).collect();
        let there = |kind: Kind| if kinds.contains(&kind) { "present" } else { "absent" };
        let wanted = if expected.wmma { "present" } else { "absent" };
        self.equal(&expected.name, "v_wmma", wanted, there(Kind::Wmma));
        self.equal(&expected.name, "load to LDS", "absent", there(Kind::LoadToLds));
        self.equal(&expected.name, "unknown instruction", "absent", there(Kind::Unknown));
    }

    fn equal<T: Display>(&mut self, name: &str, what: &str, expected: T, found: T) {
        self.note(name, what, expected.to_string(), found.to_string());
    }

    fn most(&mut self, name: &str, what: &str, expected: u32, found: u32) {
        if found > expected {
            self.note(name, what, format!("at most {expected}"), found.to_string());
        }
    }

    fn note(&mut self, name: &str, what: &str, expected: String, found: String) {
        if expected != found {
            self.0.push(Violation { what: format!("{name}: {what}"), expected, found });
        }
    }
}
