//! The metadata note: a MessagePack map.

use crate::Error;
use gfx::Target;
use rmpv::Value;
use serde::{Deserialize, Serialize};

/// Real metadata is five levels deep; a document made of nothing but brackets must not exhaust the stack.
const DEEPEST: usize = 32;

/// One kernel, as the compiler describes it. Sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// The name in the source, which `hipModuleGetFunction` takes.
    pub name: String,
    /// The symbol of its descriptor: the name and `.kd`.
    pub symbol: String,
    /// The argument block, hidden arguments included.
    pub kernarg_size: u32,
    /// Vector registers a lane.
    pub vgpr: u32,
    /// Scalar registers a wave.
    pub sgpr: u32,
    /// Vector registers that were spilled.
    pub vgpr_spills: u32,
    /// Scalar registers that were spilled.
    pub sgpr_spills: u32,
    /// LDS that a workgroup always takes; a launch may ask for more.
    pub lds: u32,
    /// Scratch of one lane.
    pub scratch: u32,
    /// Lanes of a wave: 32 or 64.
    pub wave_size: u32,
    /// The most threads of a workgroup that the code allows.
    pub max_flat_workgroup_size: u32,
    /// Whether scratch can grow past `scratch`, because of recursion or calls through pointers.
    pub uses_dynamic_stack: bool,
}

/// The target and the kernels.
pub(crate) fn read(mut document: &[u8]) -> Result<(Target, Vec<Kernel>), Error> {
    let root = Map(rmpv::decode::read_value_with_max_depth(&mut document, DEEPEST)?);
    let triple = root.text("amdhsa.target")?;
    // amdgcn-amd-amdhsa--gfx1201, with an environment between the last two dashes that is always empty.
    let name = triple.strip_prefix("amdgcn-amd-amdhsa--").unwrap_or(&triple);
    let target =
        Target::parse(name).map_err(|source| Error::UnknownTarget { triple: triple.clone(), source })?;
    let kernels: Vec<Kernel> = match root.get("amdhsa.kernels") {
        Some(Value::Array(kernels)) => {
            kernels.iter().map(|kernel| read_kernel(Map(kernel.clone()))).collect::<Result<_, _>>()
        }
        _ => Err(Error::Metadata { key: "amdhsa.kernels".into(), expected: "a list" }),
    }?;
    check_unique(&kernels)?;
    Ok((target, kernels))
}

fn read_kernel(map: Map) -> Result<Kernel, Error> {
    Ok(Kernel {
        name: map.text(".name")?,
        symbol: map.text(".symbol")?,
        kernarg_size: map.number(".kernarg_segment_size")?,
        vgpr: map.number(".vgpr_count")?,
        sgpr: map.number(".sgpr_count")?,
        // LLVM lists the spill counts and the dynamic stack as optional keys.
        vgpr_spills: map.number_or(".vgpr_spill_count", 0)?,
        sgpr_spills: map.number_or(".sgpr_spill_count", 0)?,
        lds: map.number(".group_segment_fixed_size")?,
        scratch: map.number(".private_segment_fixed_size")?,
        wave_size: map.number(".wavefront_size")?,
        max_flat_workgroup_size: map.number(".max_flat_workgroup_size")?,
        uses_dynamic_stack: map.flag_or(".uses_dynamic_stack", false)?,
    })
}

fn check_unique(kernels: &[Kernel]) -> Result<(), Error> {
    let mut seen = std::collections::BTreeSet::new();
    match kernels.iter().find(|kernel| !seen.insert(&kernel.name)) {
        Some(kernel) => Err(Error::DuplicateKernel(kernel.name.clone())),
        None => Ok(()),
    }
}

/// A MessagePack value that should be a map with text keys.
struct Map(Value);

impl Map {
    fn get(&self, key: &str) -> Option<&Value> {
        self.0.as_map()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    fn text(&self, key: &str) -> Result<String, Error> {
        let text = self.get(key).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| Error::Metadata { key: key.to_owned(), expected: "text" })
    }

    fn number(&self, key: &str) -> Result<u32, Error> {
        let number = self.get(key).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| Error::Metadata { key: key.to_owned(), expected: "a number of 32 bits" })
    }

    fn number_or(&self, key: &str, default: u32) -> Result<u32, Error> {
        self.get(key).map_or(Ok(default), |_| self.number(key))
    }

    fn flag_or(&self, key: &str, default: bool) -> Result<bool, Error> {
        let flag = self.get(key).map_or(Some(default), Value::as_bool);
        flag.ok_or_else(|| Error::Metadata { key: key.to_owned(), expected: "true or false" })
    }
}
