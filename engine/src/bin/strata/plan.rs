//! `strata plan`: where everything would go.

use crate::cli::{Computes, Plan as Arguments, Running};
use crate::open::context_of;
use anyhow::{Context, Result};
use engine::catalogue::Catalogue;
use engine::device::DeviceReport;
use engine::gguf::Gguf;
use engine::memory::{Card, Needs, Plan, Wish, adapters, available, budget, choose, remedies, table};
use engine::model::{Config, ExpertCounts};
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
    let there = match arguments.running.backend {
        Computes::Cpu => Vec::new(),
        _ => cards(&arguments.running.cards.kernels()),
    };
    let chosen = choose(&there, &arguments.running.cards.choice())?;
    let context = context_of(&arguments.running, &config)?;
    let planned =
        Planned::new(&arguments.running, &gguf, &config, &chosen, [context, arguments.parallel.into()])?;
    if arguments.json {
        println!("{}", planned.plan.to_json());
    } else {
        print!("{}", planned.table());
    }
    Ok(if planned.plan.fits() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A plan and what it was made of.
pub(crate) struct Planned<'a> {
    needs: Needs,
    cards: &'a [&'a Card],
    pub(crate) plan: Plan,
}

impl<'a> Planned<'a> {
    pub(crate) fn new(
        running: &Running,
        gguf: &Gguf,
        config: &Config,
        cards: &'a [&'a Card],
        [context, parallel]: [usize; 2],
    ) -> Result<Self> {
        let wish = Wish {
            context: context as u64,
            parallel: parallel as u64,
            card_reserve: running.cards.reserve(),
            ram_reserve: RAM_RESERVE,
        };
        let mut needs = Needs::new(gguf, config);
        if let Some(path) = &running.expert_counts {
            let experts = config.experts.map_or(0, |experts| experts.count);
            needs.uses = Some(ExpertCounts::read(path, config.layers, experts)?.counts());
        }
        let plan = Plan::new(&needs, cards, available(), wish);
        Ok(Self { needs, cards, plan })
    }

    /// The plan as text, with what would make it fit.
    pub(crate) fn table(&self) -> String {
        let remedies = || remedies(&self.needs, self.cards, available(), &self.plan);
        table(&self.plan, &if self.plan.fits() { Vec::new() } else { remedies() })
    }
}

/// The cards of this machine; none where there is no HIP runtime.
pub(crate) fn cards(kernels: &Path) -> Vec<Card> {
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
