use super::{KernelCall, Plan};
use crate::args::DevicePtr;
use crate::catalogue::mismatches;
use crate::dispatch::{Device, environment};
use crate::interface::Error;
use code_object::CodeObject;
use gfx::Target;
use hip::{Arguments, DeviceBuffer, Launch, Module, Runtime, Stream};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The runtime and what was loaded on each card.
pub(crate) struct Gpus {
    runtime: Runtime,
    /// Holds `<target>/aiter-kernels/<name>.co`.
    kernels: PathBuf,
    cards: HashMap<u32, Card>,
}

struct Card {
    device: Device,
    modules: HashMap<&'static str, Module>,
    /// By stream: launches of one stream follow each other, so they can share it.
    scratch: HashMap<usize, DeviceBuffer>,
}

impl Gpus {
    pub(crate) fn new(runtime: Runtime, kernels: PathBuf) -> Self {
        Self { runtime, kernels, cards: HashMap::new() }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Queues what `plan` makes of the card and the address of scratch memory.
    pub(crate) fn run(
        &mut self,
        number: u32,
        stream: Option<&Stream>,
        plan: impl Fn(Device, DevicePtr) -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        let Self { runtime, kernels, cards } = self;
        runtime.set_device(number)?;
        let card = match cards.entry(number) {
            std::collections::hash_map::Entry::Occupied(card) => card.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => place.insert(Card::of(runtime, number)?),
        };
        let default_stream = runtime.default_stream();
        let stream = stream.unwrap_or(&default_stream);
        let Plan { calls, scratch } = plan(card.device, 0)?;
        // Every kernel is there before the first one starts.
        for call in &calls {
            card.load(runtime, kernels, call)?;
        }
        let calls = match scratch {
            0 => calls,
            bytes => plan(card.device, card.scratch(runtime, stream.address(), bytes)?)?.calls,
        };
        calls.iter().try_for_each(|call| card.launch(stream, call))
    }
}

impl Card {
    fn of(runtime: &Runtime, number: u32) -> Result<Self, Error> {
        let found = runtime.device(number)?;
        let target = Target::parse(&found.arch)
            .map_err(|error| Error::Card { device: number, reason: error.to_string() })?;
        let cu_num = std::env::var("CU_NUM").ok();
        let cu_num = environment::cu_num(cu_num.as_deref())
            .map_err(|error| Error::Card { device: number, reason: error.to_string() })?;
        let device = Device::new(target, Some(found.multiprocessors), cu_num);
        Ok(Self { device, modules: HashMap::new(), scratch: HashMap::new() })
    }

    fn load(&mut self, runtime: &Runtime, kernels: &Path, call: &KernelCall) -> Result<(), Error> {
        let name = call.launch.instance.code_object;
        if !self.modules.contains_key(name) {
            let bytes = read(kernels, self.device.target, name)?;
            self.modules.insert(name, runtime.load_module(&bytes)?);
        }
        Ok(())
    }

    fn scratch(&mut self, runtime: &Runtime, stream: usize, bytes: u64) -> Result<DevicePtr, Error> {
        let enough = |buffer: &&DeviceBuffer| buffer.len() as u64 >= bytes;
        if let Some(buffer) = self.scratch.get(&stream).filter(enough) {
            return Ok(buffer.address());
        }
        // The old one is freed first, which waits for the kernels that use it.
        self.scratch.remove(&stream);
        let buffer = runtime.allocate(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        let address = buffer.address();
        self.scratch.insert(stream, buffer);
        Ok(address)
    }

    fn launch(&self, stream: &Stream, call: &KernelCall) -> Result<(), Error> {
        let KernelCall { launch, arguments } = call;
        let Some(module) = self.modules.get(launch.instance.code_object) else { return Ok(()) };
        let words =
            arguments.chunks_exact(4).map(|word| u32::from_le_bytes(std::array::from_fn(|i| word[i])));
        let arguments = words.fold(Arguments::new(), Arguments::u32);
        let how = Launch { grid: launch.grid, block: [launch.threads(), 1, 1], lds: 0 };
        Ok(module.function(launch.instance.entry)?.launch(stream, how, &arguments)?)
    }
}

/// The code object for a card, the exact one or its family's, which must be what the catalogue says.
fn read(kernels: &Path, card: Target, name: &str) -> Result<Vec<u8>, Error> {
    let path = |target: Target| kernels.join(target.name()).join("aiter-kernels").join(format!("{name}.co"));
    let there = card.runs().map(path).find(|path| path.is_file());
    let path = there.ok_or_else(|| Error::CodeObject {
        path: path(card),
        reason: format!("there is no code for {card}; build it with `cargo xtask build --targets {card}`"),
    })?;
    let wrong = |reason: String| Error::CodeObject { path: path.clone(), reason };
    let bytes = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let object = CodeObject::parse(&bytes).map_err(|error| wrong(error.to_string()))?;
    match mismatches(name, &object).first() {
        None => Ok(bytes),
        Some(mismatch) => Err(wrong(mismatch.to_string())),
    }
}
