use super::{KernelCall, Plan};
use crate::args::DevicePtr;
use crate::catalogue::mismatches;
use crate::dispatch::{Device, environment};
use crate::interface::Error;
use code_object::CodeObject;
use gfx::Target;
use hip::{Arguments, DeviceBuffer, Launch, Module, Runtime, Stream};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
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
    /// By stream: launches of one stream follow each other, so they can share the last one, which is the largest. None is freed before all are:
    /// freeing waits for the card, and a graph that was recorded keeps the address that it has seen.
    scratch: HashMap<usize, Vec<DeviceBuffer>>,
}

impl Gpus {
    pub(crate) fn new(runtime: Runtime, kernels: PathBuf) -> Self {
        Self { runtime, kernels, cards: HashMap::new() }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Makes the plan, and queues nothing.
    pub(crate) fn check(
        &mut self,
        number: u32,
        plan: impl Fn(Device, DevicePtr) -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        let Self { runtime, kernels, cards } = self;
        let _entered = runtime.enter(number)?;
        let card = card(cards, runtime, number)?;
        let Plan { calls, .. } = plan(card.device, 0)?;
        // Nothing is loaded: a stream may be recording.
        calls.iter().map(|call| call.launch.instance.code_object).try_for_each(|name| {
            match card.modules.contains_key(name) {
                true => Ok(()),
                false => read(kernels, card.device.target, name).map(drop),
            }
        })
    }

    /// Queues what `plan` makes of the card and the address of scratch memory.
    pub(crate) fn run(
        &mut self,
        number: u32,
        stream: Option<&Stream>,
        plan: impl Fn(Device, DevicePtr) -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        let Self { runtime, kernels, cards } = self;
        let _entered = runtime.enter(number)?;
        let card = card(cards, runtime, number)?;
        let default_stream = runtime.default_stream();
        let stream = stream.unwrap_or(&default_stream);
        let Plan { calls, scratch } = plan(card.device, 0)?;
        if !card.is_ready(stream, &calls, scratch) && stream.is_recording()? {
            return Err(Error::Recording { scratch });
        }
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

fn card<'a>(
    cards: &'a mut HashMap<u32, Card>,
    runtime: &Runtime,
    number: u32,
) -> Result<&'a mut Card, Error> {
    Ok(match cards.entry(number) {
        Entry::Occupied(card) => card.into_mut(),
        Entry::Vacant(place) => place.insert(Card::of(runtime, number)?),
    })
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

    /// Whether launches need nothing loaded and nothing allocated.
    fn is_ready(&self, stream: &Stream, calls: &[KernelCall], scratch: u64) -> bool {
        let is_loaded = |call: &KernelCall| self.modules.contains_key(call.launch.instance.code_object);
        let has_room =
            || self.scratch.get(&stream.address()).is_some_and(|buffers| enough(buffers, scratch).is_some());
        calls.iter().all(is_loaded) && (scratch == 0 || has_room())
    }

    fn scratch(&mut self, runtime: &Runtime, stream: usize, bytes: u64) -> Result<DevicePtr, Error> {
        let buffers = self.scratch.entry(stream).or_default();
        if let Some(buffer) = enough(buffers, bytes) {
            return Ok(buffer.address());
        }
        // At least twice the last one, so that all together are at most twice what is needed.
        let twice = buffers.last().map_or(0, |buffer| 2 * buffer.len() as u64);
        let allocate = |bytes: u64| runtime.allocate(usize::try_from(bytes).unwrap_or(usize::MAX));
        let buffer = allocate(bytes.max(twice)).or_else(|_| allocate(bytes))?;
        let address = buffer.address();
        buffers.push(buffer);
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

/// The last of the buffers, where it is large enough.
fn enough(buffers: &[DeviceBuffer], bytes: u64) -> Option<&DeviceBuffer> {
    buffers.last().filter(|buffer| buffer.len() as u64 >= bytes)
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
