//! One card: its stream, its modules, its memory.

use super::blas::Blas;
use super::buffer::{Buffer, Pool, Pooled, size_for};
use super::error::Error;
use crate::catalogue::Catalogue;
use crate::kernels::{Call, Conversion, OBJECTS, convert};
use aiter_kernels::interface::{ElementType, Tensor, TensorMut};
use gfx::Target;
use hip::{CallError, DeviceBuffer, Function, Module, Runtime, Stream};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

/// A card that computes.
pub(super) struct Card {
    pub(super) runtime: Runtime,
    /// HIP's number.
    pub(super) number: u32,
    pub(super) target: Target,
    pub(super) stream: Stream,
    pub(super) blas: Option<Blas>,
    /// What was found out about hipBLASLt.
    pub(super) blas_said: String,
    modules: HashMap<&'static str, Module>,
    functions: Mutex<HashMap<String, Function>>,
    pool: Arc<Pool>,
    /// The numbers of the step that is computed, always at the same place, where graphs find them.
    inputs: RwLock<DeviceBuffer>,
}

/// Bytes of inputs that there is room for from the start: any step that generates.
const INPUTS: usize = 1 << 18;

impl Card {
    pub(super) fn new(runtime: &Runtime, number: u32, catalogue: &Catalogue) -> Result<Self, Error> {
        let call = |why: CallError| Error::Call { device: number, why };
        let device = runtime.device(number).map_err(call)?;
        let target = Target::parse(&device.arch).map_err(|why| Error::Target { device: number, why })?;
        runtime.set_device(number).map_err(call)?;
        let load = |name: &'static str| {
            let missing = |reason: String| Error::CodeObject { device: number, target, name, reason };
            let advice = || format!("build it with `cargo xtask build --targets {target}`");
            let entry = catalogue.find(name, target).ok_or_else(|| missing(advice()))?;
            entry.object.as_ref().map_err(|error| missing(error.to_string()))?;
            Ok((name, runtime.load_module(&entry.bytes).map_err(call)?))
        };
        let modules = OBJECTS.into_iter().map(load).collect::<Result<_, Error>>()?;
        let (blas, blas_said) = Blas::load(runtime, target);
        Ok(Self {
            blas,
            blas_said,
            runtime: runtime.clone(),
            number,
            target,
            stream: runtime.stream().map_err(call)?,
            modules,
            functions: Mutex::default(),
            pool: Arc::default(),
            inputs: RwLock::new(runtime.allocate(INPUTS).map_err(call)?),
        })
    }

    /// Makes it the current device of this thread.
    pub(super) fn enter(&self) -> Result<(), Error> {
        self.call(self.runtime.set_device(self.number))
    }

    /// Makes it the current device of this thread, when all that was queued is done.
    pub(super) fn wait(&self) -> Result<(), Error> {
        self.enter()?;
        self.call(self.stream.synchronize())
    }

    /// Names the device in what the runtime says.
    pub(super) fn call<T>(&self, result: Result<T, CallError>) -> Result<T, Error> {
        result.map_err(|why| Error::Call { device: self.number, why })
    }

    /// Names the device in what the kernels' rules say.
    pub(super) fn kernels(&self, result: Result<(), aiter_kernels::interface::Error>) -> Result<(), Error> {
        result.map_err(|why| Error::Kernels { device: self.number, why })
    }

    /// Queues one of the engine's own kernels.
    pub(super) fn launch(&self, call: &Call) -> Result<(), Error> {
        if call.launch.grid.contains(&0) {
            return Ok(());
        }
        self.enter()?;
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let function = match functions.get(&call.kernel) {
            Some(function) => function,
            None => {
                let found = self.call(self.modules[call.object].function(&call.kernel))?;
                functions.entry(call.kernel.clone()).or_insert(found)
            }
        };
        self.call(function.launch(&self.stream, call.launch, &call.arguments))
    }

    /// Memory for a step.
    pub(super) fn take(&self, bytes: usize) -> Result<Pooled, Error> {
        let buffer = match self.pool.take(bytes) {
            Some(buffer) => buffer,
            None => self.allocate(size_for(bytes))?,
        };
        Ok(Pooled::new(buffer, self.pool.clone()))
    }

    /// Memory of its own. Where there is none left, what steps do not use just now makes room.
    pub(super) fn allocate(&self, bytes: usize) -> Result<DeviceBuffer, Error> {
        self.enter()?;
        let first = self.runtime.allocate(bytes);
        if first.as_ref().is_err_and(CallError::is_out_of_memory) {
            // Work that is queued still knows that memory.
            self.wait()?;
            self.runtime.clear_last_error();
            if self.pool.empty() {
                return self.call(self.runtime.allocate(bytes));
            }
        }
        self.call(first)
    }

    /// What steps work in.
    pub(super) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Memory that holds `bytes`, for weights.
    pub(super) fn upload(&self, bytes: &[u8]) -> Result<DeviceBuffer, Error> {
        let mut memory = self.allocate(bytes.len())?;
        self.call(memory.write(bytes)).map(|()| memory)
    }

    /// The inputs of the step that is computed.
    pub(super) fn inputs(&self) -> RwLockReadGuard<'_, DeviceBuffer> {
        self.inputs.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of a word of the inputs.
    pub(super) fn input(&self, word: usize) -> u64 {
        self.inputs().address() + 4 * word as u64
    }

    /// Replaces the inputs, after all work that was queued before. Whether they moved, for want of room.
    pub(super) fn put_inputs(&self, bytes: &[u8]) -> Result<bool, Error> {
        self.wait()?;
        let mut inputs = self.inputs.write().unwrap_or_else(PoisonError::into_inner);
        let moves = inputs.len() < bytes.len();
        if moves {
            *inputs = self.allocate(bytes.len().next_power_of_two())?;
        }
        self.call(inputs.write(bytes)).map(|()| moves)
    }

    /// The numbers of `x` in another type.
    pub(super) fn converted(&self, x: &Buffer, conversion: Conversion) -> Result<Pooled, Error> {
        let out = self.take(x.len * 2)?;
        self.launch(&convert(conversion, out.address(), x.address(), x.len))?;
        Ok(out)
    }

    /// `memory` as a tensor that is read.
    pub(super) fn tensor<'a>(
        &self,
        element_type: ElementType,
        memory: &'a DeviceBuffer,
        shape: &[usize],
    ) -> Tensor<'a> {
        Tensor::on_gpu(element_type, memory, self.number, shape)
    }

    /// `memory` as a tensor that is written.
    pub(super) fn tensor_mut<'a>(
        &self,
        element_type: ElementType,
        memory: &'a mut DeviceBuffer,
        shape: &[usize],
    ) -> TensorMut<'a> {
        TensorMut::on_gpu(element_type, memory, self.number, shape)
    }
}
