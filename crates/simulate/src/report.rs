//! What came of it.

use gfx::Target;
use gfx_sim::Counts;
use std::fmt;
use std::fmt::Write;

/// One number that was compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What it is of, e.g. `o`.
    pub what: &'static str,
    /// The largest difference.
    pub error: f64,
    /// The most it may be.
    pub bound: f64,
}

/// One kernel on one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The target.
    pub target: Target,
    /// The kernel.
    pub kernel: String,
    /// The shape.
    pub case: String,
    /// What was compared; or why the launch was stopped.
    pub result: Result<Vec<Measured>, String>,
    /// What was executed.
    pub counts: Counts,
}

impl Outcome {
    /// Whether every number is within its bound.
    pub fn is_good(&self) -> bool {
        self.result.as_ref().is_ok_and(|numbers| {
            // A NaN is not within anything.
            !numbers.is_empty() && numbers.iter().all(|number| number.error <= number.bound)
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, kernel, case, result, .. } = self;
        write!(f, "{} {target} {kernel} {case}:", if self.is_good() { "ok  " } else { "FAIL" })?;
        match result {
            Ok(numbers) => numbers.iter().try_for_each(|Measured { what, error, bound }| {
                write!(f, " {what} {error:.2e} (<= {bound:.0e})")
            }),
            Err(fault) => write!(f, " {fault}"),
        }
    }
}

/// All kernels of a folder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// One for each kernel and shape.
    pub outcomes: Vec<Outcome>,
    /// What was not run, because its code is the same as another target's.
    pub inherited: Vec<String>,
}

impl Report {
    /// The outcomes that are not good.
    pub fn failed(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| !outcome.is_good())
    }

    /// What was executed altogether.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.outcomes.iter().for_each(|outcome| counts += &outcome.counts);
        counts
    }

    /// A line for each target: kernels, shapes, the worst ratio of an error to its bound.
    pub fn summary(&self) -> String {
        let mut targets: Vec<Target> = self.outcomes.iter().map(|outcome| outcome.target).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut text = String::new();
        for target in targets {
            let of_target: Vec<_> = self.outcomes.iter().filter(|outcome| outcome.target == target).collect();
            let mut kernels: Vec<_> = of_target.iter().map(|outcome| &outcome.kernel).collect();
            kernels.sort_unstable();
            kernels.dedup();
            let failed = of_target.iter().filter(|outcome| !outcome.is_good()).count();
            let ratios = of_target.iter().flat_map(|outcome| outcome.result.iter().flatten());
            let worst = ratios.filter(|m| m.bound > 0.0).map(|m| m.error / m.bound).fold(0.0, f64::max);
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{target}: {} kernels, {} shapes, {failed} failed, the largest error is {:.0} % of its bound",
                kernels.len(),
                of_target.len(),
                100.0 * worst
            );
        }
        for line in &self.inherited {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
