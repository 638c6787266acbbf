//! One file an operation: its shapes, its launch, what it is held against.

mod activation;
mod append_kv;
mod attention;
mod engine;
mod fmha_fwd;
mod fmha_paged;
mod fmha_split_kv;
mod fp8;
mod norm;
mod paged_cache;
mod quantise;
mod rope;

use crate::{CodeObjects, Error, Measured, Outcome};
use aiter_kernels::catalogue::{Instance, Operation};
use aiter_kernels::reference::Element;
use gfx_sim::{Counts, Launch, Memory, Plain, Program};
use rayon::prelude::*;

pub(crate) use engine::check as engine;

/// Runs an instance on all its shapes.
type Check = fn(&Kernel<'_>) -> Result<Vec<Outcome>, Error>;

/// Which file is for which operation. One that is not here fails its check.
const CHECKS: &[(&[Operation], Check)] = &[
    (&[Operation::FmhaFwd], fmha_fwd::check),
    (&[Operation::FmhaPaged], fmha_paged::check),
    (&[Operation::FmhaSplitKv], fmha_split_kv::check),
    (&[Operation::FmhaCombine], fmha_split_kv::check_combine),
    (&[Operation::SiluAndMul, Operation::GeluAndMul, Operation::GeluTanhAndMul], activation::check),
    (&[Operation::QuantiseInt8, Operation::QuantiseE4m3], quantise::check),
    (&[Operation::Rope], rope::check),
    (&[Operation::AppendKv], append_kv::check),
    (&[Operation::RmsNorm, Operation::LayerNorm, Operation::Softmax], norm::check),
];

/// The kernel that is checked.
pub(crate) struct Kernel<'a> {
    pub(crate) objects: &'a CodeObjects,
    pub(crate) program: &'a Program,
    pub(crate) instance: &'static Instance,
}

pub(crate) fn check(objects: &CodeObjects, instance: &'static Instance) -> Result<Vec<Outcome>, Error> {
    let kernel = Kernel { objects, program: objects.program(instance.code_object)?, instance };
    match CHECKS.iter().find(|(operations, _)| operations.contains(&instance.operation)) {
        Some((_, check)) => check(&kernel),
        None => Ok(vec![Outcome {
            target: objects.target(),
            kernel: instance.entry.to_owned(),
            case: "any shape".to_owned(),
            result: Err(format!("{} has no check; see crates/simulate/README.md", instance.operation)),
            counts: Counts::default(),
        }]),
    }
}

/// A number type of memory that the references compute with.
pub(crate) trait Number: Element + Plain {}

impl<T: Element + Plain> Number for T {}

/// Calls a function that is generic over the type of an instance's tensors.
macro_rules! of_type {
    ($data_type:expr, $function:ident($($argument:expr),*)) => {
        match $data_type {
            aiter_kernels::catalogue::DataType::Bf16 => $function::<half::bf16>($($argument),*),
            aiter_kernels::catalogue::DataType::F16 => $function::<half::f16>($($argument),*),
            aiter_kernels::catalogue::DataType::F32 => $function::<f32>($($argument),*),
            aiter_kernels::catalogue::DataType::E4m3 => Err("of e4m3 there is no check here".to_owned()),
        }
    };
}
pub(crate) use of_type;

/// What a case gives: what was compared and what was executed, or why it was stopped.
pub(crate) type Case = Result<(Vec<Measured>, Counts), String>;

impl Kernel<'_> {
    /// Each case is its own outcome.
    pub(crate) fn outcomes<C: Sync>(
        &self,
        cases: &[C],
        name: impl Fn(&C) -> String + Sync,
        run: impl Fn(&C) -> Case + Sync,
    ) -> Vec<Outcome> {
        let outcome = |case: &C| {
            let (result, counts) = match run(case) {
                Ok((measured, counts)) => (Ok(measured), counts),
                Err(fault) => (Err(fault), Counts::default()),
            };
            let kernel = self.instance.entry.to_owned();
            Outcome { target: self.objects.target(), kernel, case: name(case), result, counts }
        };
        cases.par_iter().map(outcome).collect()
    }

    /// Launches the instance with a block of arguments.
    pub(crate) fn launch(
        &self,
        memory: &mut Memory,
        grid: [u32; 3],
        arguments: &impl crate::arguments::Block,
    ) -> Result<Counts, String> {
        launch(self.program, self.instance.entry, memory, grid, self.instance.warps * 32, &arguments.bytes())
    }
}

pub(crate) fn launch(
    program: &Program,
    kernel: &str,
    memory: &mut Memory,
    grid: [u32; 3],
    threads: u32,
    arguments: &[u8],
) -> Result<Counts, String> {
    let launch = Launch { kernel, grid, block: [threads, 1, 1], arguments, dynamic_lds: 0 };
    program.launch(memory, &launch).map_err(|error| error.to_string())
}

/// The largest difference. Infinities have to be equal; a NaN counts as infinite.
pub(crate) fn difference(found: &[f32], expected: &[f32]) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    let apart = |(a, b): (&f32, &f32)| {
        let apart = if a == b { 0.0 } else { (f64::from(*a) - f64::from(*b)).abs() };
        if apart.is_nan() { f64::INFINITY } else { apart }
    };
    found.iter().zip(expected).map(apart).fold(0.0, f64::max)
}

/// The largest difference relative to `|expected| + floor`.
pub(crate) fn relative(found: &[f32], expected: &[f32], floor: f32) -> f64 {
    let scaled = |numbers: &[f32]| -> Vec<f32> {
        numbers.iter().zip(expected).map(|(x, e)| x / (e.abs() + floor)).collect()
    };
    difference(&scaled(found), &scaled(expected))
}

/// The numbers of `rows` rows without what lies between them; says if something was written there, or something of a row was not.
pub(crate) fn rows_of<T: Number>(
    memory: &Memory,
    address: u64,
    width: usize,
    stride: usize,
) -> Result<Vec<f32>, String> {
    let (numbers, stored) = (memory.numbers::<T>(address), memory.stored::<T>(address));
    let mut out = Vec::new();
    for (row, (numbers, stored)) in numbers.chunks(stride).zip(stored.chunks(stride)).enumerate() {
        if let Some(column) = stored[..width].iter().position(|is_stored| !is_stored) {
            return Err(format!("row {row} column {column} was not written"));
        }
        if let Some(column) = stored[width..].iter().position(|is_stored| *is_stored) {
            return Err(format!("row {row} was written {} columns behind its end", column + 1));
        }
        out.extend(numbers[..width].iter().map(|number| number.to_f32()));
    }
    Ok(out)
}

/// All numbers of an output, each of which has to be written.
pub(crate) fn whole<T: Number>(memory: &Memory, address: u64) -> Result<Vec<f32>, String> {
    match memory.stored::<T>(address).iter().position(|is_stored| !is_stored) {
        Some(place) => Err(format!("element {place} of an output was not written")),
        None => Ok(memory.numbers::<T>(address).iter().map(|number| number.to_f32()).collect()),
    }
}
