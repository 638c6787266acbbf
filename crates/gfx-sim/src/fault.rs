//! What a launch is stopped for.

use std::fmt;

/// The counter that an outstanding result is counted by. gfx11 counts loads and stores of vector memory apart and everything else in
/// `lgkmcnt`; gfx12 has a counter for each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// gfx11 `vmcnt`, gfx12 `loadcnt`: loads of vector memory.
    Load,
    /// gfx11 `vscnt`, gfx12 `storecnt`.
    Store,
    /// gfx12 `dscnt`: LDS.
    Lds,
    /// gfx12 `kmcnt`: scalar loads and messages.
    Scalar,
    /// gfx11 `lgkmcnt`: LDS, scalar loads and messages.
    LdsAndScalar,
}

impl Counter {
    /// As the assembler spells it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "vmcnt/loadcnt",
            Self::Store => "vscnt/storecnt",
            Self::Lds => "dscnt",
            Self::Scalar => "kmcnt",
            Self::LdsAndScalar => "lgkmcnt",
        }
    }
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The interpreter lacks the opcode, or a form of it.
    #[error("not known to this interpreter: {0}")]
    Unsupported(String),
    /// A value decides something (an address, a branch, EXEC, what is stored) and comes from a register or memory that nothing wrote.
    #[error("{what} depends on {register}, which nothing has written (read at {first_read:#x})")]
    Uninitialised {
        /// What is decided.
        what: &'static str,
        /// The register or memory, e.g. `v12`, `s3`, `LDS`.
        register: String,
        /// Where it was read first.
        first_read: u64,
    },
    /// A result is used, or its register overwritten, before its counter was waited for.
    #[error("{register} is {used} before {} was waited for", .counter.name())]
    NotWaited {
        /// The register.
        register: String,
        /// `read` or `overwritten`.
        used: &'static str,
        /// What to wait for.
        counter: Counter,
    },
    /// A global access of no buffer, or over a buffer's end.
    #[error("{bytes} bytes at {address:#x} are out of bounds: {nearest}")]
    OutOfBounds {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u32,
        /// The nearest buffer, and where the access lies from it.
        nearest: String,
    },
    /// A store into memory that the kernel may only read.
    #[error("a store to {address:#x}, in {buffer}, which is read-only")]
    ReadOnly {
        /// The first byte.
        address: u64,
        /// The buffer's name.
        buffer: String,
    },
    /// An LDS access beyond what the workgroup has.
    #[error("{bytes} bytes at {address:#x} of LDS, the workgroup has {size} bytes")]
    LdsOutOfBounds {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u32,
        /// What there is.
        size: u32,
    },
    /// A scratch access beyond what the lane has.
    #[error("{bytes} bytes at {address:#x} of scratch, a lane has {size} bytes")]
    ScratchOutOfBounds {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u32,
        /// What there is.
        size: u32,
    },
    /// An address that is no multiple of what the access needs.
    #[error("{bytes} bytes at {address:#x} are not aligned to {alignment}")]
    Misaligned {
        /// The first byte.
        address: u64,
        /// How many.
        bytes: u32,
        /// What it should be a multiple of.
        alignment: u32,
    },
    /// Two waves use the same LDS with no barrier between them, and one of them writes.
    #[error(
        "LDS {address:#x} is {now} here and was {before} by wave {other} with no barrier between (or with the access still under way at it)"
    )]
    LdsRace {
        /// The first byte of the 32-bit word.
        address: u32,
        /// `read` or `written`.
        now: &'static str,
        /// `read` or `written`.
        before: &'static str,
        /// The wave.
        other: u32,
    },
    /// Lanes or waves of a workgroup do not meet at the same barrier.
    #[error("divergent barrier: {0}")]
    DivergentBarrier(String),
    /// A matrix instruction with lanes switched off.
    #[error("a matrix instruction with EXEC {exec:#010x}: all lanes have to be on")]
    MatrixExec {
        /// EXEC.
        exec: u32,
    },
    /// On gfx11 both halves of a wave hold the same A and B.
    #[error("v{register} of a matrix operand is not the same in both halves of the wave")]
    MatrixHalves {
        /// The register.
        register: u8,
    },
    /// A branch or return to where no instruction is.
    #[error("a jump to {0:#x}, where no instruction is")]
    Jump(u64),
    /// A wave that does not end.
    #[error("still running after {0} instructions")]
    Runaway(u64),
    /// An `s_trap`, which is what `__builtin_trap` and failed assertions become.
    #[error("the kernel trapped")]
    Trap,
}

/// A [`FaultKind`] and where it happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// Its workgroup, x, y and z.
    pub workgroup: [u32; 3],
    /// The wave in the workgroup.
    pub wave: u32,
    /// The lane, where one lane is to blame.
    pub lane: Option<u32>,
    /// The instruction's address in the code object.
    pub pc: u64,
    /// The instruction, as LLVM prints it.
    pub line: String,
    /// What went wrong.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, workgroup: [x, y, z], wave, lane, pc, line, kind } = self;
        write!(f, "{kernel}: workgroup {x},{y},{z} wave {wave}")?;
        if let Some(lane) = lane {
            write!(f, " lane {lane}")?;
        }
        write!(f, " at {pc:#x} `{line}`: {kind}")
    }
}

impl std::error::Error for Fault {}

/// A fault on its way out of an instruction.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) kind: FaultKind,
    pub(crate) lane: Option<u32>,
}

pub(crate) type Step<T = ()> = Result<T, Box<Trouble>>;

impl From<FaultKind> for Box<Trouble> {
    fn from(kind: FaultKind) -> Self {
        Self::new(Trouble { kind, lane: None })
    }
}

/// A fault of one lane.
pub(crate) fn of_lane(lane: u32, kind: FaultKind) -> Box<Trouble> {
    Box::new(Trouble { kind, lane: Some(lane) })
}
