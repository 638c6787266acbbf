//! What the metadata note says of a kernel.

use serde::{Deserialize, Serialize};

/// One kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// What `hipModuleGetFunction` takes.
    pub name: String,
    /// The descriptor's symbol, `<name>.kd`.
    pub symbol: String,
    /// The whole kernel argument segment, hidden arguments included, in bytes.
    pub kernarg_size: u32,
    /// The arguments that the host passes, in bytes: what lies before the hidden ones.
    pub explicit_size: u32,
    /// Vector registers a lane.
    pub vgpr: u32,
    /// Scalar registers a wavefront.
    pub sgpr: u32,
    /// Vector registers that did not fit.
    pub vgpr_spills: u32,
    /// Scalar registers that did not fit.
    pub sgpr_spills: u32,
    /// Static LDS of a workgroup, in bytes.
    pub lds: u32,
    /// Scratch memory a lane, in bytes.
    pub scratch: u32,
    /// Lanes of a wavefront.
    pub wave_size: u32,
    /// The most work items of a workgroup.
    pub max_workgroup: u32,
}
