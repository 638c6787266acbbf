//! Instructions as they are executed: everything that text could say was looked up and checked when the program was loaded.

use crate::counts::Class;
use crate::isa::{Comparison, Lane, LaneAndMask, Mixed, Scalar};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    Vector(u8),
    VectorHalf(u8, bool),
    VectorByte(u8, u8),
    VectorWide(u8),
    Scalar(u8),
    ScalarHalf(u8, bool),
    ScalarWide(u8),
    Scc,
    /// The lane's bit of a scalar register.
    Mask(u8),
    Constant(u64),
}

/// A source with its sign modifiers, as bits to clear and bits to turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) clear: u64,
    pub(crate) flip: u64,
}

/// Where a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Vector(u8),
    VectorHalf(u8, bool),
    VectorByte(u8, u8),
    VectorWide(u8),
    Scalar(u8),
    ScalarWide(u8),
    /// A lane mask: a bit for each lane, zeros where EXEC has none.
    Mask(u8),
    /// EXEC itself, of `v_cmpx`.
    Exec,
    Nowhere,
}

/// What is done to a floating result.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Finish {
    /// Factor of the output modifier; 0: none.
    pub(crate) factor: f32,
    /// Held within 0 and 1.
    pub(crate) clamp: bool,
}

/// How DPP moves the first source between lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dpp {
    /// Of each lane, the lane it reads; 255: none.
    pub(crate) from: [u8; 32],
    /// Lanes that are written at all (row and bank masks).
    pub(crate) enabled: u32,
    /// A lane that reads no valid lane gets zero; else it is not written.
    pub(crate) bound_ctrl: bool,
    /// A lane that is switched off may be read.
    pub(crate) fetch_inactive: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Compute {
    Lane(Lane),
    LaneAndMask(LaneAndMask),
    Compare(Comparison),
    /// The low and the high half, each from its own inputs.
    Packed(Lane),
    Mixed(Mixed),
}

/// A vector operation.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    pub(crate) compute: Compute,
    pub(crate) inputs: [Input; 3],
    /// Of packed operations, the inputs of the high half.
    pub(crate) high: [Input; 3],
    pub(crate) count: usize,
    pub(crate) output: Output,
    /// Where the mask of [`Compute::LaneAndMask`] goes.
    pub(crate) mask: Output,
    /// Each lane sees its bit of VCC.
    pub(crate) reads_vcc: bool,
    pub(crate) finish: Finish,
    /// 16, 32 or 64: the width of the floating result, for `finish`.
    pub(crate) width: u8,
    pub(crate) dpp: Option<Box<Dpp>>,
}

/// What moves values between lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Across {
    ReadFirstLane {
        to: u8,
        from: Source,
    },
    ReadLane {
        to: u8,
        from: u8,
        lane: Source,
    },
    WriteLane {
        to: u8,
        value: Source,
        lane: Source,
    },
    /// Rows of 16 lanes; `crossed`: from the other row.
    PermLane16 {
        to: u8,
        from: u8,
        select: [Source; 2],
        crossed: bool,
        fetch_inactive: bool,
        bound_ctrl: bool,
    },
    /// The two halves of a wave of 64: nothing, in one of 32.
    PermLane64 {
        to: u8,
        from: u8,
    },
    Swap {
        a: u8,
        b: u8,
    },
}

/// The type of a matrix operand's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    Fp8,
    Bf8,
    I8,
    U8,
    I4,
    U4,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) a: (u8, Element),
    pub(crate) b: (u8, Element),
    /// A register or a constant in every element.
    pub(crate) c: Source,
    pub(crate) d: u8,
    /// Columns of A and rows of B.
    pub(crate) k: u8,
    /// f32 or i32 if `None`, else what C and D hold.
    pub(crate) small: Option<Element>,
    /// Of a gfx11 result of 16 bits: it is in the high halves.
    pub(crate) high: bool,
    pub(crate) clamp: bool,
    /// Signs of C: absolute, then negated.
    pub(crate) c_signs: (bool, bool),
    pub(crate) a_negate: (bool, bool),
    pub(crate) b_negate: (bool, bool),
}

/// How a value of memory and a register fit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Datum {
    /// Whole words.
    Words(u8),
    /// One byte or two, extended to a register.
    Extended { bytes: u8, signed: bool },
    /// One byte or two in one half of a register, the other half is kept; of a store, the half that is stored.
    Half { bytes: u8, signed: bool, high: bool },
}

impl Datum {
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Words(words) => 4 * u32::from(words),
            Self::Extended { bytes, .. } | Self::Half { bytes, .. } => bytes.into(),
        }
    }

    pub(crate) fn registers(self) -> u8 {
        match self {
            Self::Words(words) => words,
            _ => 1,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    AddU32,
    SubU32,
    AndB32,
    OrB32,
    XorB32,
    MinU32,
    MaxU32,
    MinI32,
    MaxI32,
    AddF32,
    MinF32,
    MaxF32,
    Swap,
    /// The new value, and what is compared with, in the next register.
    CompareSwap,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transfer {
    Load,
    Store,
    /// An atomic operation; `true`: the old value comes back.
    Change(Change, bool),
}

/// What an address of vector memory is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Space {
    /// A 64-bit address in registers, or 32 bits beyond a scalar base.
    Global {
        address: u8,
        base: Option<u8>,
    },
    /// A generic address.
    Flat {
        address: u8,
    },
    Scratch {
        address: Option<u8>,
        base: Option<Source>,
    },
    /// A descriptor in four scalar registers, an offset in a vector register, one in a scalar.
    Buffer {
        offset: Option<u8>,
        index: Option<u8>,
        descriptor: u8,
        base: Source,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    pub(crate) transfer: Transfer,
    pub(crate) datum: Datum,
    pub(crate) space: Space,
    /// What is stored.
    pub(crate) data: u8,
    /// Where what is loaded goes.
    pub(crate) result: u8,
    pub(crate) offset: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LdsOp {
    Load {
        to: u8,
        address: u8,
        datum: Datum,
        offset: u32,
    },
    Store {
        address: u8,
        data: u8,
        datum: Datum,
        offset: u32,
    },
    /// Two values of `words` words.
    Load2 {
        to: u8,
        address: u8,
        words: u8,
        offsets: [u32; 2],
    },
    Store2 {
        address: u8,
        data: [u8; 2],
        words: u8,
        offsets: [u32; 2],
    },
    Change {
        address: u8,
        data: u8,
        change: Change,
        old: Option<u8>,
        offset: u32,
    },
    /// From the lane that the address names (backward), or to it.
    Permute {
        to: u8,
        address: u8,
        data: u8,
        offset: u32,
        backward: bool,
    },
    Swizzle {
        to: u8,
        data: u8,
        pattern: u16,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalarOp {
    pub(crate) run: Scalar,
    pub(crate) inputs: [Input; 3],
    pub(crate) count: usize,
    pub(crate) output: Output,
    pub(crate) writes_scc: bool,
    pub(crate) reads_scc: bool,
}

/// What becomes of EXEC: `f(S0, EXEC)`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExecOp {
    pub(crate) new: fn(u32, u32) -> u32,
    pub(crate) source: Input,
    pub(crate) output: u8,
    /// The destination gets the new EXEC (`wrexec`), not the old one (`saveexec`).
    pub(crate) gives_new: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Scc(bool),
    VccZero(bool),
    ExecZero(bool),
}

#[derive(Debug, Clone)]
pub(crate) enum Op {
    Vector(Box<Vector>),
    /// Both read before either writes.
    Dual(Box<[Vector; 2]>),
    Across(Across),
    Matrix(Box<Matrix>),
    Scalar(Box<ScalarOp>),
    ScalarCompare {
        comparison: Comparison,
        inputs: [Input; 2],
    },
    Exec(Box<ExecOp>),
    /// The address is in the two registers from `base`; `buffer`: a descriptor is, and the access ends with it.
    ScalarLoad {
        to: u8,
        words: u8,
        part: Option<(u8, bool)>,
        base: u8,
        offset: i64,
        register: Option<Source>,
        buffer: bool,
    },
    Memory(Box<Memory>),
    Lds(LdsOp),
    Wait(Vec<(crate::fault::Counter, usize)>),
    Branch {
        condition: Condition,
        to: u64,
    },
    /// `s_getpc_b64`.
    GetPc(u8),
    /// `s_setpc_b64`; with a destination `s_swappc_b64`.
    SetPc {
        to: Source,
        link: Option<u8>,
    },
    /// `s_call_b64`.
    Call {
        to: u64,
        link: u8,
    },
    /// A field of MODE: bits from `from`, `width` of them, become those of `value`.
    SetMode {
        from: u8,
        width: u8,
        value: Source,
    },
    GetMode {
        from: u8,
        width: u8,
        to: u8,
    },
    Barrier,
    BarrierSignal {
        is_first: bool,
    },
    BarrierWait,
    End,
    Trap,
    Hint,
    Unsupported(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Instruction {
    pub(crate) pc: u64,
    pub(crate) class: Class,
    pub(crate) op: Op,
}
