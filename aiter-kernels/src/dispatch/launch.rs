use super::DispatchError;
use crate::catalogue::Instance;

/// One kernel launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// The kernel.
    pub instance: &'static Instance,
    /// Work-groups along x, y and z.
    pub grid: [u32; 3],
}

/// One side of a grid: what is counted, and how many there are.
pub(super) type Side = (&'static str, u64);

impl Launch {
    /// HIP's limits on the sides of a grid: x is bounded in work-items, y and z in work-groups (hipDeviceProp_t::maxGridSize on amdgcn).
    const ITEMS_X: u64 = u32::MAX as u64;
    const GROUPS_YZ: u64 = 65_535;

    pub(super) fn new(instance: &'static Instance, sides: [Side; 3]) -> Result<Self, DispatchError> {
        let limits = [Self::ITEMS_X / u64::from(instance.warps * 32), Self::GROUPS_YZ, Self::GROUPS_YZ];
        let mut grid = [0; 3];
        for (((dimension, groups), limit), side) in sides.into_iter().zip(limits).zip(&mut grid) {
            let fitting = u32::try_from(groups).ok().filter(|_| groups <= limit);
            *side = fitting.ok_or(DispatchError::Grid { dimension, groups, limit })?;
        }
        Ok(Self { instance, grid })
    }

    /// Work-items of one work-group.
    pub fn threads(&self) -> u32 {
        self.instance.warps * 32
    }
}
