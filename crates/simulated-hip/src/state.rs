//! Everything that the process's calls share.

use crate::device::{Device, TOTAL_MEMORY, Work};
use crate::mapped::{Mapped, Visible};
use crate::pending;
use gfx::Target;
use gfx_sim::{Disassembler, Program};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// `hipError_t`.
pub(crate) type Code = i32;
pub(crate) const SUCCESS: Code = 0;
pub(crate) const INVALID_VALUE: Code = 1;
pub(crate) const OUT_OF_MEMORY: Code = 2;
pub(crate) const NO_DEVICE: Code = 100;
pub(crate) const INVALID_DEVICE: Code = 101;
pub(crate) const INVALID_IMAGE: Code = 200;
pub(crate) const NO_BINARY_FOR_GPU: Code = 209;
pub(crate) const NOT_FOUND: Code = 500;
pub(crate) const NOT_READY: Code = 600;
pub(crate) const LAUNCH_FAILURE: Code = 719;
pub(crate) const CAPTURE_UNSUPPORTED: Code = 900;
pub(crate) const CAPTURE_INVALIDATED: Code = 901;

/// A code object, loaded on one device.
pub(crate) struct Module {
    pub(crate) device: usize,
    pub(crate) program: Program,
}

/// A kernel of a module.
pub(crate) struct Function {
    pub(crate) module: Arc<Module>,
    pub(crate) name: String,
}

/// A queue. Work is done at once, or recorded.
#[derive(Default)]
pub(crate) struct Stream {
    pub(crate) recording: Option<Vec<Work>>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) devices: Vec<Device>,
    pub(crate) current: usize,
    /// What the last call that failed found.
    pub(crate) trouble: String,
    /// Handles are places in these, plus 1.
    pub(crate) modules: Vec<Option<Arc<Module>>>,
    pub(crate) functions: Vec<Arc<Function>>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) graphs: Vec<Vec<Work>>,
    pub(crate) mapped: Vec<Mapped>,
    pub(crate) visible: Visible,
    /// What a graph ended with, until the program waits for it.
    pub(crate) fault: Code,
    /// Whether every recording fails at its end.
    pub(crate) ends_no_capture: bool,
    log: Option<PathBuf>,
    llvm: PathBuf,
}

/// The state, when the graph that runs is done.
pub(crate) fn state() -> MutexGuard<'static, State> {
    let said = pending::settle();
    let state = running();
    said.iter().for_each(|line| state.log(line));
    state
}

/// The state, made from the environment at the first call, for the graph that runs.
pub(crate) fn running() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::of_environment()));
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn of_environment() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let names = variable("STRATA_SIM_DEVICES").unwrap_or_else(|| "gfx1201".to_owned());
        let targets = names.split(',').filter_map(|name| Target::parse(name).ok());
        let total = variable("STRATA_SIM_VRAM").and_then(|bytes| bytes.parse().ok()).unwrap_or(TOTAL_MEMORY);
        Self {
            devices: targets.map(|target| Device::new(target, total)).collect(),
            log: variable("STRATA_SIM_LOG").map(PathBuf::from),
            visible: Visible::parse(&variable("STRATA_SIM_MAPPED").unwrap_or_default()),
            ends_no_capture: variable("STRATA_SIM_END_CAPTURE").is_some_and(|word| word == "fails"),
            llvm: variable("STRATA_SIM_LLVM").map(PathBuf::from).unwrap_or_default(),
            ..Self::default()
        }
    }

    pub(crate) fn log(&self, line: &str) {
        let open = |path: &PathBuf| std::fs::OpenOptions::new().append(true).create(true).open(path);
        if let Some(Ok(mut file)) = self.log.as_ref().map(open) {
            let _ = writeln!(file, "{line}");
        }
    }

    /// Keeps what went wrong for `hipGetErrorString`.
    pub(crate) fn failed(&mut self, code: Code, trouble: impl ToString) -> Code {
        self.trouble = trouble.to_string();
        self.log(&format!("error {code}: {}", self.trouble));
        code
    }

    /// The error of a call that waits for a device, where a stream is recording.
    pub(crate) fn refuses(&mut self, call: &str) -> Option<Code> {
        let is_recording = self.streams.iter().any(|stream| stream.recording.is_some());
        is_recording.then(|| self.failed(CAPTURE_UNSUPPORTED, format!("{call} while a stream is recording")))
    }

    /// Memory of the current device. The other devices get nothing at the same address, so that no pointer is good on two.
    pub(crate) fn allocate(&mut self, size: usize) -> Result<u64, Code> {
        if size as u64 > self.devices[self.current].free() {
            return Err(self.failed(OUT_OF_MEMORY, format!("{size} bytes are more than what is free")));
        }
        let current = self.current;
        let addresses = self.devices.iter_mut().enumerate().map(|(number, device)| {
            let own = if number == current { size } else { 0 };
            device.used += own as u64;
            device.memory.output::<u8>("memory of hipMalloc", own)
        });
        let addresses: Vec<u64> = addresses.collect();
        Ok(addresses[current])
    }

    /// The device whose memory holds `address`.
    pub(crate) fn device_at(&mut self, address: u64) -> Option<&mut Device> {
        self.devices.iter_mut().find(|device| device.memory.read(address, 1).is_ok())
    }

    pub(crate) fn load(&mut self, image: &[u8]) -> Result<usize, Code> {
        let device = self.current;
        let card = self.devices[device].target;
        let object = match code_object::CodeObject::parse(image) {
            Ok(object) => object,
            Err(error) => return Err(self.failed(INVALID_IMAGE, error)),
        };
        if !card.runs().any(|target| target == object.target) {
            return Err(self.failed(NO_BINARY_FOR_GPU, format!("code for {} on {card}", object.target)));
        }
        let program =
            program(image, object.target, &self.llvm).map_err(|error| self.failed(INVALID_IMAGE, error))?;
        self.modules.push(Some(Arc::new(Module { device, program })));
        Ok(self.modules.len())
    }

    /// Runs a graph beside the program.
    pub(crate) fn start(graph: usize) {
        pending::start();
        std::thread::spawn(move || {
            let mut state = running();
            let works = state.graphs[graph].clone();
            let codes = works.iter().map(|work| state.run(work));
            let fault = codes.collect::<Vec<_>>().into_iter().find(|code| *code != SUCCESS);
            state.fault = fault.unwrap_or(SUCCESS);
            // The host that sees its word finds the graph done.
            pending::finish();
            if state.visible == Visible::AtOnce {
                state.publish();
            }
        });
    }

    /// Shows the host what devices wrote to its memory.
    pub(crate) fn publish(&self) {
        self.mapped.iter().for_each(|mapped| mapped.publish(&self.devices));
    }

    pub(crate) fn run(&mut self, work: &Work) -> Code {
        self.log(&format!("launch {} {}", work.function.module.device, work.function.name));
        let device = &mut self.devices[work.function.module.device];
        match device.run(work) {
            Ok(()) => SUCCESS,
            Err(fault) => self.failed(LAUNCH_FAILURE, fault),
        }
    }
}

/// The disassembler reads files.
fn program(image: &[u8], target: Target, llvm: &Path) -> Result<Program, String> {
    let path = std::env::temp_dir().join(format!("simulated-hip-{}.co", std::process::id()));
    std::fs::write(&path, image).map_err(|error| format!("failed to write `{}`: {error}", path.display()))?;
    let text = Disassembler::of_tree(llvm).run(&path, target);
    let _ = std::fs::remove_file(&path);
    Program::load(image, &text.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}
