//! The registers of a wave, what of them is defined, and what is still under way.

use crate::fault::{FaultKind, Step, of_lane};
use crate::instruction::{Input, Output, Source};
use crate::number::Mode;
use crate::operand::scalar;
use crate::pending::{Pending, Registers};

pub(crate) type Lanes = [u64; 32];

/// Of each 16 bits of a value, the lanes in which they are not defined.
pub(crate) type Undefined = [u32; 4];

/// Lanes that have an undefined part.
pub(crate) fn any(undefined: Undefined) -> u32 {
    undefined.into_iter().fold(0, |all, part| all | part)
}

/// Where a value that is not defined comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) is_vector: bool,
    pub(crate) register: u8,
    pub(crate) pc: u64,
    /// It is no register but memory that nothing had written.
    pub(crate) memory: Option<&'static str>,
}

/// The vector registers and the two halves' lanes that are not defined.
#[derive(Debug)]
struct Vectors {
    values: Box<[[u32; 32]; 256]>,
    undefined: Box<[[u32; 2]; 256]>,
    origin: Box<[Option<Origin>; 256]>,
}

/// One wave.
#[derive(Debug)]
pub(crate) struct Wave {
    pub(crate) id: u32,
    /// Address of the instruction that is executed.
    pub(crate) pc: u64,
    pub(crate) exec: u32,
    /// EXEC as the wave started.
    pub(crate) started: u32,
    pub(crate) scc: bool,
    pub(crate) scc_undefined: bool,
    pub(crate) mode: Mode,
    pub(crate) pending: Pending,
    /// Barriers that it has signalled, and waited for.
    pub(crate) signalled: u32,
    pub(crate) waited: u32,
    pub(crate) is_gfx12: bool,
    pub(crate) scratch: Scratch,
    scalars: [u32; scalar::COUNT],
    scalars_undefined: [u32; scalar::COUNT],
    scalar_origin: [Option<Origin>; scalar::COUNT],
    vectors: Vectors,
}

/// A lane's own memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Bytes of a lane.
    pub(crate) size: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) defined: Vec<bool>,
}

impl Wave {
    pub(crate) fn new(id: u32, exec: u32, mode: Mode, is_gfx12: bool, scratch: u32) -> Self {
        let scratch_bytes = 32 * scratch as usize;
        let scratch =
            Scratch { size: scratch, bytes: vec![0xa5; scratch_bytes], defined: vec![false; scratch_bytes] };
        let vectors = Vectors {
            // No number that a kernel could take for a right one.
            values: Box::new([[0xa5a5_a5a5; 32]; 256]),
            undefined: Box::new([[u32::MAX; 2]; 256]),
            origin: Box::new([None; 256]),
        };
        let mut scalars_undefined = [u32::MAX; scalar::COUNT];
        for always in [scalar::EXEC, scalar::EXEC + 1, scalar::NULL] {
            scalars_undefined[usize::from(always)] = 0;
        }
        Self {
            id,
            pc: 0,
            exec,
            started: exec,
            scc: false,
            scc_undefined: true,
            mode,
            pending: Pending::default(),
            signalled: 0,
            waited: 0,
            is_gfx12,
            scratch,
            scalars: [0xa5a5_a5a5; scalar::COUNT],
            scalars_undefined,
            scalar_origin: [None; scalar::COUNT],
            vectors,
        }
    }

    /// A register as the launch sets it.
    pub(crate) fn preset_scalar(&mut self, register: u8, value: u32) {
        self.scalars[usize::from(register)] = value;
        self.scalars_undefined[usize::from(register)] = 0;
    }

    pub(crate) fn preset_vector(&mut self, register: u8, values: [u32; 32]) {
        self.vectors.values[usize::from(register)] = values;
        self.vectors.undefined[usize::from(register)] = [0; 2];
    }

    fn not_waited(&self, is_vector: bool, register: u8, used: &'static str) -> FaultKind {
        let counter = self.pending.counter_of(is_vector, register, self.is_gfx12);
        FaultKind::NotWaited { register: name_of(is_vector, register), used, counter }
    }

    /// A fault for a value that decides `what` and has these undefined lanes, if one of them is.
    pub(crate) fn decide(&self, what: &'static str, undefined: u32, origin: Option<Origin>) -> Step {
        if undefined == 0 {
            return Ok(());
        }
        let origin =
            origin.unwrap_or(Origin { is_vector: false, register: 0, pc: self.pc, memory: Some("SCC") });
        let register = match origin.memory {
            Some(memory) => memory.to_owned(),
            None => name_of(origin.is_vector, origin.register),
        };
        Err(of_lane(
            undefined.trailing_zeros(),
            FaultKind::Uninitialised { what, register, first_read: origin.pc },
        ))
    }

    // Vector registers.

    fn check_vector(&self, register: u8, used: &'static str) -> Step {
        if self.pending.is_vector_pending(register) {
            return Err(self.not_waited(true, register, used).into());
        }
        Ok(())
    }

    /// A register's lanes.
    pub(crate) fn vector(&self, register: u8) -> Step<&[u32; 32]> {
        self.check_vector(register, "read")?;
        Ok(&self.vectors.values[usize::from(register)])
    }

    /// Lanes of a register of which a part is not defined.
    pub(crate) fn vector_undefined(&self, register: u8) -> u32 {
        let [low, high] = self.vectors.undefined[usize::from(register)];
        low | high
    }

    /// The same of one half.
    pub(crate) fn half_undefined(&self, register: u8, high: bool) -> u32 {
        self.vectors.undefined[usize::from(register)][usize::from(high)]
    }

    pub(crate) fn vector_origin(&self, register: u8) -> Option<Origin> {
        let own = Origin { is_vector: true, register, pc: self.pc, memory: None };
        Some(self.vectors.origin[usize::from(register)].unwrap_or(own))
    }

    /// Writes `lanes` of a register; both halves of a lane are defined, or neither.
    pub(crate) fn set_vector(
        &mut self,
        register: u8,
        values: &[u32; 32],
        lanes: u32,
        undefined: u32,
        origin: Option<Origin>,
    ) -> Step {
        self.set_halves(register, values, lanes, [undefined; 2], origin)
    }

    fn set_halves(
        &mut self,
        register: u8,
        values: &[u32; 32],
        lanes: u32,
        undefined: [u32; 2],
        origin: Option<Origin>,
    ) -> Step {
        self.check_vector(register, "overwritten")?;
        self.land_halves(register, values, lanes, undefined, origin);
        Ok(())
    }

    /// The same for what comes back from memory, which is not held against what is under way.
    pub(crate) fn land_vector(
        &mut self,
        register: u8,
        values: &[u32; 32],
        lanes: u32,
        undefined: u32,
        origin: Option<Origin>,
    ) {
        self.land_halves(register, values, lanes, [undefined; 2], origin);
    }

    fn land_halves(
        &mut self,
        register: u8,
        values: &[u32; 32],
        lanes: u32,
        undefined: [u32; 2],
        origin: Option<Origin>,
    ) {
        let index = usize::from(register);
        if lanes == u32::MAX {
            self.vectors.values[index] = *values;
        } else {
            for (lane, (own, value)) in self.vectors.values[index].iter_mut().zip(values).enumerate() {
                *own = if lanes >> lane & 1 != 0 { *value } else { *own };
            }
        }
        for (half, undefined) in self.vectors.undefined[index].iter_mut().zip(undefined) {
            *half = *half & !lanes | undefined & lanes;
        }
        if (undefined[0] | undefined[1]) & lanes != 0 {
            self.vectors.origin[index] = origin;
        } else if self.vectors.undefined[index] == [0; 2] {
            self.vectors.origin[index] = None;
        }
    }

    /// Writes one half of a register and keeps the other.
    pub(crate) fn land_half(
        &mut self,
        register: u8,
        high: bool,
        values: &[u32; 32],
        lanes: u32,
        undefined: u32,
        origin: Option<Origin>,
    ) {
        let index = usize::from(register);
        let shift = if high { 16 } else { 0 };
        for (lane, (own, value)) in self.vectors.values[index].iter_mut().zip(values).enumerate() {
            if lanes >> lane & 1 != 0 {
                *own = *own & !(0xffff << shift) | (value & 0xffff) << shift;
            }
        }
        let half = &mut self.vectors.undefined[index][usize::from(high)];
        *half = *half & !lanes | undefined & lanes;
        if undefined & lanes != 0 {
            self.vectors.origin[index] = origin;
        }
    }

    fn land_byte(
        &mut self,
        register: u8,
        byte: u8,
        values: &Lanes,
        lanes: u32,
        undefined: u32,
        origin: Option<Origin>,
    ) {
        let index = usize::from(register);
        let shift = 8 * u32::from(byte);
        for (lane, (own, value)) in self.vectors.values[index].iter_mut().zip(values).enumerate() {
            if lanes >> lane & 1 != 0 {
                *own = *own & !(0xff << shift) | (*value as u32 & 0xff) << shift;
            }
        }
        // Of two bytes of a half the second one decides: they are written one after the other.
        let half = &mut self.vectors.undefined[index][usize::from(byte / 2)];
        *half = *half & !lanes | undefined & lanes;
        if undefined & lanes != 0 {
            self.vectors.origin[index] = origin;
        }
    }

    // Scalar registers.

    /// EXEC has its own place.
    pub(crate) fn scalar(&self, register: u8) -> Step<u32> {
        if self.pending.is_scalar_pending(register) {
            return Err(self.not_waited(false, register, "read").into());
        }
        Ok(match register {
            scalar::EXEC => self.exec,
            scalar::NULL => 0,
            _ => self.scalars[usize::from(register)],
        })
    }

    pub(crate) fn scalar_undefined(&self, register: u8) -> u32 {
        self.scalars_undefined[usize::from(register)]
    }

    pub(crate) fn scalar_origin(&self, register: u8) -> Option<Origin> {
        let own = Origin { is_vector: false, register, pc: self.pc, memory: None };
        Some(self.scalar_origin[usize::from(register)].unwrap_or(own))
    }

    pub(crate) fn scalar_wide(&self, register: u8) -> Step<u64> {
        Ok(u64::from(self.scalar(register)?) | u64::from(self.scalar(register + 1)?) << 32)
    }

    /// Writes a register; bits of it may be undefined, but not of EXEC.
    pub(crate) fn set_scalar(
        &mut self,
        register: u8,
        value: u32,
        undefined: u32,
        origin: Option<Origin>,
    ) -> Step {
        if self.pending.is_scalar_pending(register) {
            return Err(self.not_waited(false, register, "overwritten").into());
        }
        match register {
            scalar::NULL => {}
            scalar::EXEC => {
                self.decide("EXEC", undefined, origin)?;
                self.exec = value;
            }
            _ => {
                let index = usize::from(register);
                self.scalars[index] = value;
                self.scalars_undefined[index] = undefined;
                self.scalar_origin[index] = if undefined == 0 { None } else { origin };
            }
        }
        Ok(())
    }

    /// What a scalar load brings.
    pub(crate) fn land_scalar(&mut self, register: u8, value: u32, is_undefined: bool) {
        if register == scalar::NULL {
            return;
        }
        let index = usize::from(register);
        self.scalars[index] = value;
        self.scalars_undefined[index] = if is_undefined { u32::MAX } else { 0 };
        let origin = Origin { is_vector: false, register, pc: self.pc, memory: Some("memory") };
        self.scalar_origin[index] = is_undefined.then_some(origin);
    }

    /// Whether a load may write these registers: nothing that comes back in another order is under way to them.
    pub(crate) fn check_landing(&self, registers: Registers, counter: crate::fault::Counter) -> Step {
        let is_pending = |register| match registers.is_vector {
            true => self.pending.is_vector_pending(register),
            false => self.pending.is_scalar_pending(register),
        };
        let mut all = (0..registers.count).map(|i| registers.first.saturating_add(i));
        match all.find(|register| is_pending(*register)) {
            Some(register) if !self.pending.is_behind(registers, counter) => {
                Err(self.not_waited(registers.is_vector, register, "overwritten").into())
            }
            _ => Ok(()),
        }
    }

    // Sources and results of the vector unit.

    /// The lanes of an input, what of them is not defined, and why.
    pub(crate) fn read(&self, input: &Input, lanes: &mut Lanes) -> Step<(Undefined, Option<Origin>)> {
        let undefined_of = |register: u8| self.vectors.undefined[usize::from(register)];
        let (undefined, register) = match input.source {
            Source::Vector(register) => {
                let values = self.vector(register)?;
                lanes.iter_mut().zip(values).for_each(|(lane, value)| *lane = u64::from(*value));
                let [low, high] = undefined_of(register);
                ([low, high, 0, 0], register)
            }
            Source::VectorHalf(register, high) => {
                let values = self.vector(register)?;
                let shift = if high { 16 } else { 0 };
                lanes
                    .iter_mut()
                    .zip(values)
                    .for_each(|(lane, value)| *lane = u64::from(*value >> shift & 0xffff));
                ([undefined_of(register)[usize::from(high)], 0, 0, 0], register)
            }
            Source::VectorByte(register, byte) => {
                let values = self.vector(register)?;
                lanes
                    .iter_mut()
                    .zip(values)
                    .for_each(|(lane, value)| *lane = u64::from(*value >> (8 * byte) & 0xff));
                ([undefined_of(register)[usize::from(byte / 2)], 0, 0, 0], register)
            }
            Source::VectorWide(register) => {
                let (low, high) = (self.vector(register)?, self.vector(register + 1)?);
                for (lane, (low, high)) in lanes.iter_mut().zip(low.iter().zip(high)) {
                    *lane = u64::from(*low) | u64::from(*high) << 32;
                }
                let ([a, b], [c, d]) = (undefined_of(register), undefined_of(register + 1));
                ([a, b, c, d], if a | b != 0 { register } else { register + 1 })
            }
            Source::Mask(register) => {
                let mask = self.scalar(register)?;
                lanes.iter_mut().enumerate().for_each(|(i, lane)| *lane = u64::from(mask >> i & 1));
                let undefined = self.scalar_undefined(register);
                let origin = if undefined == 0 { None } else { self.scalar_origin(register) };
                return Ok(([undefined, 0, 0, 0], origin));
            }
            _ => {
                let (value, undefined, origin) = self.read_scalar(input.source)?;
                *lanes = [(value & !input.clear) ^ input.flip; 32];
                let part = |i: u32| if undefined >> (16 * i) & 0xffff == 0 { 0 } else { u32::MAX };
                return Ok(([part(0), part(1), part(2), part(3)], origin));
            }
        };
        if input.clear | input.flip != 0 {
            lanes.iter_mut().for_each(|lane| *lane = *lane & !input.clear ^ input.flip);
        }
        Ok((undefined, if any(undefined) == 0 { None } else { self.vector_origin(register) }))
    }

    /// A source that all lanes share: value, undefined bits, why.
    pub(crate) fn read_scalar(&self, source: Source) -> Step<(u64, u64, Option<Origin>)> {
        let why =
            |undefined: u64, register: u8| if undefined == 0 { None } else { self.scalar_origin(register) };
        Ok(match source {
            Source::Scalar(register) | Source::Mask(register) => {
                let undefined = u64::from(self.scalar_undefined(register));
                (u64::from(self.scalar(register)?), undefined, why(undefined, register))
            }
            Source::ScalarHalf(register, high) => {
                let shift = if high { 16 } else { 0 };
                let undefined = u64::from(self.scalar_undefined(register) >> shift & 0xffff);
                (u64::from(self.scalar(register)? >> shift & 0xffff), undefined, why(undefined, register))
            }
            Source::ScalarWide(register) => {
                let (low, high) = (self.scalar_undefined(register), self.scalar_undefined(register + 1));
                let undefined = u64::from(low) | u64::from(high) << 32;
                (
                    self.scalar_wide(register)?,
                    undefined,
                    why(undefined, if low != 0 { register } else { register + 1 }),
                )
            }
            Source::Scc => (u64::from(self.scc), if self.scc_undefined { 1 } else { 0 }, None),
            Source::Constant(value) => (value, 0, None),
            Source::Vector(_) | Source::VectorHalf(..) | Source::VectorByte(..) | Source::VectorWide(_) => {
                return Err(FaultKind::Unsupported("a vector register as a scalar".into()).into());
            }
        })
    }

    /// Writes the lanes of a result that are on.
    pub(crate) fn write(
        &mut self,
        output: Output,
        values: &Lanes,
        lanes: u32,
        undefined: Undefined,
        origin: Option<Origin>,
    ) -> Step {
        let words = |shift: u32| values.map(|value| (value >> shift) as u32);
        let [a, b, c, d] = undefined;
        match output {
            Output::Vector(register) => self.set_halves(register, &words(0), lanes, [a, b], origin)?,
            Output::VectorWide(register) => {
                self.set_halves(register, &words(0), lanes, [a, b], origin)?;
                self.set_halves(register + 1, &words(32), lanes, [c, d], origin)?;
            }
            Output::VectorHalf(register, high) => {
                self.check_vector(register, "overwritten")?;
                self.land_half(register, high, &words(0), lanes, a, origin);
            }
            Output::VectorByte(register, byte) => {
                self.check_vector(register, "overwritten")?;
                self.land_byte(register, byte, values, lanes, a, origin);
            }
            Output::Mask(_) | Output::Exec => {
                let bits = (0..32).filter(|lane| lanes >> lane & 1 != 0 && values[*lane as usize] != 0);
                let mask = bits.fold(0, |all, lane| all | 1 << lane);
                let register = if let Output::Mask(register) = output { register } else { scalar::EXEC };
                self.set_scalar(register, mask, a & lanes, origin)?;
            }
            // The result of a vector unit's function of a scalar: every lane has it.
            Output::Scalar(register) => {
                let undefined = if any(undefined) == 0 { 0 } else { u32::MAX };
                self.set_scalar(register, values[0] as u32, undefined, origin)?;
            }
            Output::ScalarWide(_) => {
                return Err(FaultKind::Unsupported("a scalar pair as a result".into()).into());
            }
            Output::Nowhere => {}
        }
        Ok(())
    }
}

pub(crate) fn name_of(is_vector: bool, register: u8) -> String {
    match (is_vector, register) {
        (true, _) => format!("v{register}"),
        (_, scalar::VCC) => "vcc_lo".into(),
        (_, 107) => "vcc_hi".into(),
        (_, scalar::M0) => "m0".into(),
        (_, scalar::EXEC) => "exec_lo".into(),
        (_, 108..=123) => format!("ttmp{}", register - scalar::TTMP),
        _ => format!("s{register}"),
    }
}
