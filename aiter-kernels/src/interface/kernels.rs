use super::gpu::{self, Gpus, Plan};
use super::{AppendKv, Attention, Error, GatedActivation, Norm, Place, QuantisePerToken, Rope};
use crate::args::DevicePtr;
use crate::dispatch::{Device, environment};
use hip::{Runtime, Stream};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The operations of this crate. Tensors of the host are computed on by the CPU reference at once; tensors of a GPU by its kernels, which are
/// queued on a stream.
///
/// Every call checks its arguments first. When one does not fit, the error names it, nothing is launched and no output is written.
pub struct Kernels {
    folder: Option<PathBuf>,
    gpus: Mutex<Option<Gpus>>,
}

impl Kernels {
    /// `folder` holds `<target>/aiter-kernels/*.co`, as a release does below `kernels/`; without one there is only the CPU. The HIP runtime is
    /// loaded by the first call that has tensors of a GPU.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, gpus: Mutex::new(None) }
    }

    /// The same with a runtime that is loaded already.
    pub fn with_runtime(runtime: Runtime, folder: PathBuf) -> Self {
        let gpus = Mutex::new(Some(Gpus::new(runtime, folder.clone())));
        Self { folder: Some(folder), gpus }
    }

    /// Attention forward.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn attention(&self, call: &Attention<'_>, stream: Option<&Stream>) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.compute(&sizes),
            Place::Gpu(number) => {
                self.launch(number, stream, |device, scratch| gpu::attention(call, &sizes, device, scratch))
            }
        }
    }

    /// What [`Self::attention`] refuses, without computing or launching anything; on the host block tables are not looked at. For callers that write
    /// to a cache before they attend to it.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn check_attention(&self, call: &Attention<'_>) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.check_lengths(&sizes),
            Place::Gpu(number) => self.with_gpus(|gpus| {
                gpus.check(number, |device, scratch| gpu::attention(call, &sizes, device, scratch))
            }),
        }
    }

    /// `silu_and_mul`, `gelu_and_mul`, `gelu_tanh_and_mul`.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn gated_activation(&self, call: &GatedActivation<'_>, stream: Option<&Stream>) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.compute(&sizes),
            Place::Gpu(number) => {
                self.launch(number, stream, |device, _| gpu::gated_activation(call, &sizes, device))
            }
        }
    }

    /// RMS norm, layer norm and softmax.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn norm(&self, call: &Norm<'_>, stream: Option<&Stream>) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.compute(&sizes),
            Place::Gpu(number) => self.launch(number, stream, |device, _| gpu::norm(call, &sizes, device)),
        }
    }

    /// Rotary embedding.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn rope(&self, call: &Rope<'_>, stream: Option<&Stream>) -> Result<(), Error> {
        match call.check()? {
            Place::Host => call.compute(),
            Place::Gpu(number) => self.launch(number, stream, |device, _| gpu::rope(call, device)),
        }
    }

    /// Quantisation to 8 bits, a scale for each row.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn quantise_per_token(
        &self,
        call: &QuantisePerToken<'_>,
        stream: Option<&Stream>,
    ) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.compute(&sizes),
            Place::Gpu(number) => {
                self.launch(number, stream, |device, _| gpu::quantise_per_token(call, &sizes, device))
            }
        }
    }

    /// Appends keys and values to a cache.
    ///
    /// # Errors
    /// [`Error`], which names the argument.
    pub fn append_kv(&self, call: &AppendKv<'_>, stream: Option<&Stream>) -> Result<(), Error> {
        let sizes = call.check()?;
        match sizes.place {
            Place::Host => call.compute(&sizes),
            Place::Gpu(number) => {
                self.launch(number, stream, |device, _| gpu::append_kv(call, &sizes, device))
            }
        }
    }

    /// The runtime, loaded if need be.
    pub(crate) fn with_runtime_of<R>(&self, f: impl FnOnce(&Runtime) -> R) -> Result<R, Error> {
        self.with_gpus(|gpus| Ok(f(gpus.runtime())))
    }

    fn with_gpus<R>(&self, f: impl FnOnce(&mut Gpus) -> Result<R, Error>) -> Result<R, Error> {
        let mut gpus = self.gpus.lock().unwrap_or_else(PoisonError::into_inner);
        let gpus = match &mut *gpus {
            Some(gpus) => gpus,
            none => {
                let folder = self.native_kernels()?;
                none.insert(Gpus::new(Runtime::load()?, folder))
            }
        };
        f(gpus)
    }

    fn native_kernels(&self) -> Result<PathBuf, Error> {
        let value = std::env::var("AITER_ENABLE_HIP").ok();
        let enabled = environment::native_kernels(value.as_deref(), cfg!(windows), self.folder.is_some());
        let argument = "AITER_ENABLE_HIP";
        let off = || Error::Unsupported { argument, reason: "native kernels are off; set it to 1".into() };
        let folder = self.folder.clone().filter(|_| enabled);
        folder.ok_or_else(|| match enabled {
            false => off(),
            true => Error::Unsupported {
                argument: "kernels",
                reason: "tensors are on a GPU, and no folder of kernels was given".into(),
            },
        })
    }

    fn launch(
        &self,
        number: u32,
        stream: Option<&Stream>,
        plan: impl Fn(Device, DevicePtr) -> Result<Plan, Error>,
    ) -> Result<(), Error> {
        self.with_gpus(|gpus| gpus.run(number, stream, plan))
    }
}
