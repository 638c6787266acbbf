use gfx::Target;

/// What dispatch needs to know of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// What its code objects are made for.
    pub target: Target,
    /// Its compute units.
    pub compute_units: u32,
}

impl Device {
    /// Compute units of a device where nobody knows better: a small integrated GPU's, which asks for few splits.
    const FALLBACK: u32 = 16;

    /// `cu_num` (the variable `CU_NUM`) overrides everything, for binned parts. `reported` is what the runtime calls multiprocessors: on RDNA
    /// these are work-group processors, two compute units each (facts: the "WGP trap", Aiter PR #4340). Last comes the table of chips.
    pub fn new(target: Target, reported: Option<u32>, cu_num: Option<u32>) -> Self {
        let given = |count: Option<u32>| count.filter(|&count| count > 0);
        let reported = given(reported).map(|processors| processors.saturating_mul(2));
        let compute_units = given(cu_num).or(reported).or(target.cu_count()).unwrap_or(Self::FALLBACK);
        Self { target, compute_units }
    }
}
