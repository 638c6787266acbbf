//! `strata plan`: where everything would go.

use crate::cli::Plan as Arguments;
use crate::open::context_of;
use anyhow::{Context, Result, bail};
use engine::catalogue::Catalogue;
use engine::device::DeviceReport;
use engine::gguf::Gguf;
use engine::memory::{Card, Needs, Plan, Wish, adapters, available, budget, choose, remedies, table};
use engine::model::Config;
use hip::Runtime;
use std::path::Path;
use std::process::ExitCode;

/// RAM that is left to everything else.
const RAM_RESERVE: u64 = 512 << 20;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let path = &arguments.running.model;
    let failed = || format!("failed to read `{}`", path.display());
    let gguf = Gguf::open(path).with_context(failed)?;
    let config = Config::new(&gguf).with_context(failed)?;
    let cards = cards(&arguments.kernels.clone().unwrap_or_else(beside_program));
    let chosen = choose(&cards, &arguments.choice())?;
    let wish = Wish {
        context: context_of(&arguments.running, &config)? as u64,
        parallel: arguments.parallel.into(),
        card_reserve: u64::from(arguments.vram_reserve_mib) << 20,
        ram_reserve: RAM_RESERVE,
    };
    let needs = Needs::new(&gguf, &config);
    let plan = Plan::new(&needs, &chosen, available(), wish);
    let fits = plan.fits();
    let remedies = if fits { Vec::new() } else { remedies(&needs, &chosen, available(), &plan) };
    print!("{}", table(&plan, &remedies));
    Ok(if fits { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses what RAM cannot hold, before memory is taken for it.
pub(crate) fn expect_room(gguf: &Gguf, config: &Config, context: usize, parallel: usize) -> Result<()> {
    let (context, parallel) = (context as u64, parallel as u64);
    let wish = Wish { context, parallel, card_reserve: 0, ram_reserve: RAM_RESERVE };
    let needs = Needs::new(gguf, config);
    let plan = Plan::new(&needs, &[], available(), wish);
    if !plan.fits() {
        eprint!("{}", table(&plan, &remedies(&needs, &[], available(), &plan)));
        bail!("the model does not fit into memory");
    }
    Ok(())
}

fn beside_program() -> std::path::PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name("kernels")
}

/// The cards of this machine; none where there is no HIP runtime.
fn cards(kernels: &Path) -> Vec<Card> {
    let Ok(runtime) = Runtime::load() else { return Vec::new() };
    let compiled_for = Catalogue::read(kernels).map(|catalogue| catalogue.targets()).unwrap_or_default();
    let adapters = adapters();
    let card = |number| {
        let device = runtime.device(number).ok()?;
        runtime.set_device(number).ok()?;
        let free = runtime.memory_info().ok()?.free;
        let is_integrated = device.is_integrated;
        let report = DeviceReport::new(device, &compiled_for);
        let name =
            report.description.as_ref().map(|description| description.name.clone()).unwrap_or_default();
        let target = report.target();
        let budget = budget(&name, &adapters);
        Some(Card { number, name, target, cannot_run: report.cannot_run, is_integrated, free, budget })
    };
    (0..runtime.device_count().unwrap_or(0)).filter_map(card).collect()
}
