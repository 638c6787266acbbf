//! `strata plan`: where everything would go.

use crate::cli::{Plan as Arguments, Running};
use crate::open::File;
use anyhow::Result;
use engine::catalogue::Catalogue;
use engine::device::DeviceReport;
use engine::gguf::Gguf;
use engine::memory::{Card, Needs, Plan, Wish, adapters, available, budget, remedies, table};
use engine::model::{Config, ExpertCounts};
use engine::out;
use hip::Runtime;
use std::path::Path;
use std::process::ExitCode;

/// RAM that is left to everything else.
const RAM_RESERVE: u64 = 512 << 20;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let file = File::open(&arguments.running)?;
    let there = file.there();
    let chosen = file.chosen(&there)?;
    let planned = file.planned(&chosen, arguments.parallel.into())?;
    if arguments.json {
        out::line(planned.plan.to_json())?;
    } else {
        out::write(&planned.table())?;
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

/// The cards of this machine, or why there is none.
pub(crate) fn cards(kernels: &Path) -> Result<Vec<Card>, String> {
    let runtime = Runtime::load().map_err(|error| error.to_string())?;
    let count = runtime.device_count().map_err(|error| error.to_string())?;
    if count == 0 {
        return Err("the HIP runtime finds none".to_owned());
    }
    let catalogue = Catalogue::read(kernels);
    let adapters = adapters();
    let card = |number| {
        let compiled_for = catalogue.as_ref().map(Catalogue::targets).unwrap_or_default();
        let device = runtime.device(number);
        let is_integrated = device.as_ref().is_ok_and(|device| device.is_integrated);
        let report = match device {
            Ok(device) => DeviceReport::new(device, &compiled_for),
            Err(error) => {
                DeviceReport { cannot_run: Some(error.to_string()), ..DeviceReport::undescribed(number) }
            }
        };
        let target = report.target();
        let name = report.description.map(|description| description.name).unwrap_or_default();
        let budget = budget(&name, &adapters);
        let card =
            Card { number, name, target, cannot_run: report.cannot_run, is_integrated, free: 0, budget };
        // A folder without code is the reason of every card, and a card that cannot run is not started.
        let reason = match (&catalogue, &card.cannot_run) {
            (Err(error), _) => Some(error.to_string()),
            (_, Some(reason)) => Some(reason.clone()),
            _ => None,
        };
        match reason {
            Some(reason) => Card { cannot_run: Some(reason), ..card },
            None => match runtime.set_device(number).and_then(|()| runtime.memory_info()) {
                Ok(memory) => Card { free: memory.free, ..card },
                Err(error) => Card { cannot_run: Some(error.to_string()), ..card },
            },
        }
    };
    Ok((0..count).map(card).collect())
}
