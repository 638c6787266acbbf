//! Launches: workgroups side by side, the waves of one in turns from barrier to barrier.

use crate::Error;
use crate::counts::Counts;
use crate::exec::{Next, Surroundings, execute};
use crate::fault::{Fault, FaultKind, Trouble};
use crate::lds::Lds;
use crate::memory::Memory;
use crate::number::Mode;
use crate::object::{Hidden, Kernel, UserData};
use crate::operand::{PRIVATE_BASE, SHARED_BASE, scalar};
use crate::program::Program;
use crate::wave::Wave;
use gfx::Wmma;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is launched, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Work items of a workgroup along x, y and z.
    pub block: [u32; 3],
    /// The explicit arguments, byte for byte. The hidden ones are filled in.
    pub arguments: &'a [u8],
    /// LDS beyond what the kernel declares, in bytes.
    pub dynamic_lds: u32,
}

/// Instructions after which a wave counts as one that does not end.
const MOST_INSTRUCTIONS: u64 = 50_000_000;

impl Program {
    /// Runs a kernel over its grid.
    ///
    /// # Errors
    /// [`Error::NoKernel`], [`Error::Launch`], or the [`Fault`] of the first workgroup that has one.
    pub fn launch(&self, memory: &mut Memory, launch: &Launch<'_>) -> Result<Counts, Error> {
        let kernel = self.kernel(launch.kernel)?;
        let wrong = |what: String| Error::Launch { kernel: kernel.name.clone(), what };
        let threads: u64 = launch.block.iter().map(|n| u64::from(*n)).product();
        if threads == 0 || threads > u64::from(kernel.max_workgroup) {
            return Err(wrong(format!(
                "{threads} work items, a workgroup has at most {}",
                kernel.max_workgroup
            )));
        }
        let bytes = arguments(kernel, launch).map_err(wrong)?;
        let code = self.place(memory);
        let arguments = memory.read_only("the kernel's arguments", &bytes);
        let packet = memory.read_only("the dispatch packet", &packet(launch));
        let setup = Setup { program: self, kernel, launch, memory, code, arguments, packet };
        let [x, y, z] = launch.grid.map(|n| n as usize);
        let first_fault = AtomicUsize::new(usize::MAX);
        let groups: Vec<_> = (0..x * y * z)
            .into_par_iter()
            .fold(
                || (vec![0u64; self.instructions.len()], 0u64, None),
                |(mut hits, waves, mut fault): (Vec<u64>, u64, Option<(usize, Fault)>), group| {
                    // The fault of the first workgroup is reported, whichever thread finds one first.
                    if group < first_fault.load(Ordering::Relaxed) {
                        let workgroup = [group % x, group / x % y, group / x / y].map(|n| n as u32);
                        if let Err(found) = setup.run(workgroup, &mut hits) {
                            first_fault.fetch_min(group, Ordering::Relaxed);
                            if fault.as_ref().is_none_or(|(other, _)| group < *other) {
                                fault = Some((group, found));
                            }
                        }
                    }
                    (hits, waves + threads.div_ceil(32), fault)
                },
            )
            .collect();
        let mut counts = Counts::default();
        let mut faults = Vec::new();
        for (hits, waves, fault) in groups {
            counts.waves += waves;
            faults.extend(fault);
            self.count(&mut counts, &hits);
        }
        memory.forget(3);
        match faults.into_iter().min_by_key(|(group, _)| *group) {
            Some((_, fault)) => Err(Box::new(fault).into()),
            None => Ok(counts),
        }
    }

    fn count(&self, counts: &mut Counts, hits: &[u64]) {
        for ((instruction, line), hits) in self.instructions.iter().zip(&self.lines).zip(hits) {
            if *hits > 0 {
                counts.classes[instruction.class as usize] += hits;
                let opcode = line.split_whitespace().next().unwrap_or_default();
                *counts.opcodes.entry(opcode.to_owned()).or_default() += hits;
            }
        }
    }

    /// The image in memory, with its relocations.
    fn place(&self, memory: &mut Memory) -> u64 {
        memory.image(&self.object.image, |base, image| {
            for (place, addend) in &self.object.relative {
                let value = base.wrapping_add_signed(*addend).to_le_bytes();
                if let Some(bytes) = image.get_mut(*place as usize..*place as usize + 8) {
                    bytes.copy_from_slice(&value);
                }
            }
        })
    }
}

/// The whole argument segment: what was given, and the hidden arguments ("Code Object V5 Kernel Metadata" in LLVM's AMDGPU guide).
fn arguments(kernel: &Kernel, launch: &Launch<'_>) -> Result<Vec<u8>, String> {
    let size = kernel.kernarg_size as usize;
    if launch.arguments.len() > size {
        return Err(format!("{} bytes of arguments, the kernel takes {size}", launch.arguments.len()));
    }
    let explicit = kernel.hidden.iter().map(|hidden| hidden.offset).min().unwrap_or(size);
    if launch.arguments.len() + 8 <= explicit {
        return Err(format!("{} bytes of arguments, the kernel takes {explicit}", launch.arguments.len()));
    }
    let mut bytes = launch.arguments.to_vec();
    bytes.resize(size, 0);
    for Hidden { kind, offset, size } in &kernel.hidden {
        let value = hidden_value(kind, launch).to_le_bytes();
        if let Some(place) = bytes.get_mut(*offset..*offset + *size) {
            place.copy_from_slice(&value[..*size]);
        }
    }
    Ok(bytes)
}

fn hidden_value(kind: &str, launch: &Launch<'_>) -> u64 {
    let axis = |kind: &str| match kind.as_bytes().last() {
        Some(b'x') => 0,
        Some(b'y') => 1,
        _ => 2,
    };
    if kind.starts_with("block_count_") {
        return launch.grid[axis(kind)].into();
    }
    if kind.starts_with("group_size_") {
        return launch.block[axis(kind)].into();
    }
    match kind {
        "grid_dims" => 1 + u64::from(launch.grid[1] > 1) + u64::from(launch.grid[2] > 1),
        "dynamic_lds_size" => launch.dynamic_lds.into(),
        "private_base" => PRIVATE_BASE >> 32,
        "shared_base" => SHARED_BASE >> 32,
        // Remainders are zero: a grid is whole workgroups. Offsets are zero, services of the runtime are absent.
        _ => 0,
    }
}

/// The AQL packet of the launch (HSA Platform System Architecture Specification, 2.9.6).
fn packet(launch: &Launch<'_>) -> Vec<u16> {
    let mut words = vec![0u16; 32];
    words[0] = 2; // kernel dispatch
    words[1] = 3; // dimensions
    for axis in 0..3 {
        words[2 + axis] = launch.block[axis] as u16;
        let items = launch.grid[axis] * launch.block[axis];
        words[6 + 2 * axis] = items as u16;
        words[7 + 2 * axis] = (items >> 16) as u16;
    }
    words
}

/// What all workgroups of a launch share.
struct Setup<'a> {
    program: &'a Program,
    kernel: &'a Kernel,
    launch: &'a Launch<'a>,
    memory: &'a Memory,
    code: u64,
    arguments: u64,
    packet: u64,
}

/// What a wave waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    AtBarrier(usize),
    Ended,
}

impl Setup<'_> {
    fn is_gfx12(&self) -> bool {
        self.program.object.target.wmma() == Some(Wmma::Gfx12)
    }

    fn run(&self, workgroup: [u32; 3], hits: &mut [u64]) -> Result<(), Fault> {
        let threads: u32 = self.launch.block.iter().product();
        let mut lds = Lds::new(self.kernel.lds + self.launch.dynamic_lds);
        let mut waves: Vec<Wave> =
            (0..threads.div_ceil(32)).map(|id| self.wave(id, threads, workgroup)).collect();
        let Some(start) = self.program.at(self.kernel.entry) else {
            let kind = FaultKind::Jump(self.kernel.entry);
            return Err(self.fault(workgroup, &waves[0], 0, Trouble { kind, lane: None }));
        };
        let mut states = vec![(State::Running, start); waves.len()];
        loop {
            for (wave, (state, next)) in waves.iter_mut().zip(&mut states) {
                if *state == State::Running {
                    let mut around = Surroundings { memory: self.memory, lds: &mut lds, code: self.code };
                    (*state, *next) = self
                        .until_barrier(wave, &mut around, *next, hits)
                        .map_err(|(at, trouble)| self.fault(workgroup, wave, at, trouble))?;
                }
            }
            if states.iter().all(|(state, _)| *state == State::Ended) {
                return Ok(());
            }
            self.meet(workgroup, &mut waves, &mut states)?;
        }
    }

    /// All waves that have not ended stand at a barrier: it has to be the same one.
    fn meet(
        &self,
        workgroup: [u32; 3],
        waves: &mut [Wave],
        states: &mut [(State, usize)],
    ) -> Result<(), Fault> {
        let place = |state: &State| if let State::AtBarrier(at) = state { Some(*at) } else { None };
        let Some(first) = states.iter().find_map(|(state, _)| place(state)) else { return Ok(()) };
        for (wave, (state, next)) in waves.iter_mut().zip(states.iter_mut()) {
            let problem = match state {
                State::AtBarrier(at) if *at == first => None,
                State::AtBarrier(at) => {
                    Some((*at, format!("another wave is at {:#x}", self.program.instructions[first].pc)))
                }
                _ => Some((first, format!("wave {} has ended", wave.id))),
            };
            if let Some((at, what)) = problem {
                let kind = FaultKind::DivergentBarrier(what);
                return Err(self.fault(workgroup, wave, at, Trouble { kind, lane: None }));
            }
            wave.waited += 1;
            (*state, *next) = (State::Running, *next);
        }
        Ok(())
    }

    fn fault(&self, workgroup: [u32; 3], wave: &Wave, at: usize, trouble: Trouble) -> Fault {
        Fault {
            kernel: self.kernel.name.clone(),
            workgroup,
            wave: wave.id,
            lane: trouble.lane,
            pc: self.program.instructions[at].pc,
            line: self.program.lines[at].clone(),
            kind: trouble.kind,
        }
    }

    fn until_barrier(
        &self,
        wave: &mut Wave,
        around: &mut Surroundings<'_>,
        mut at: usize,
        hits: &mut [u64],
    ) -> Result<(State, usize), (usize, Trouble)> {
        for _ in 0..MOST_INSTRUCTIONS {
            let Some(instruction) = self.program.instructions.get(at) else {
                let last = self.program.instructions.len() - 1;
                return Err((last, Trouble { kind: FaultKind::Jump(wave.pc), lane: None }));
            };
            wave.pc = instruction.pc;
            hits[at] += 1;
            match execute(wave, around, instruction).map_err(|trouble| (at, *trouble))? {
                Next::Step => at += 1,
                Next::Jump(to) => {
                    let wrong = || (at, Trouble { kind: FaultKind::Jump(to), lane: None });
                    at = self.program.at(to).ok_or_else(wrong)?;
                }
                Next::Barrier => return Ok((State::AtBarrier(at), at + 1)),
                Next::End => return Ok((State::Ended, at)),
            }
        }
        Err((at, Trouble { kind: FaultKind::Runaway(MOST_INSTRUCTIONS), lane: None }))
    }

    /// A wave as the hardware starts it ("Initial Kernel Execution State" in LLVM's AMDGPU guide).
    fn wave(&self, id: u32, threads: u32, workgroup: [u32; 3]) -> Wave {
        let on = (threads - 32 * id).min(32);
        let exec = if on == 32 { u32::MAX } else { (1 << on) - 1 };
        let mut wave = Wave::new(id, exec, Mode(self.kernel.mode()), self.is_gfx12(), self.kernel.scratch);
        let mut next = 0;
        for (what, count) in self.kernel.user_data() {
            let value = match what {
                UserData::Arguments => Some(self.arguments),
                UserData::DispatchPacket => Some(self.packet),
                UserData::ScratchSize => Some(self.kernel.scratch.into()),
                UserData::Other => None,
            };
            if let Some(value) = value {
                wave.preset_scalar(next, value as u32);
                if count == 2 {
                    wave.preset_scalar(next + 1, (value >> 32) as u32);
                }
            }
            next += count;
        }
        let [x, y, z] = workgroup;
        if self.is_gfx12() {
            wave.preset_scalar(scalar::TTMP + 9, x);
            wave.preset_scalar(scalar::TTMP + 7, y & 0xffff | z << 16);
        } else {
            let mut next = self.kernel.user_registers();
            for (is_enabled, number) in self.kernel.workgroup_registers().into_iter().zip(workgroup) {
                if is_enabled {
                    wave.preset_scalar(next, number);
                    next += 1;
                }
            }
        }
        let [width, height, _] = self.launch.block;
        wave.preset_vector(
            0,
            std::array::from_fn(|lane| {
                let item = 32 * id + lane as u32;
                (item % width) | ((item / width % height) << 10) | (item / width / height) << 20
            }),
        );
        wave
    }
}
