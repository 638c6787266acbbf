//! Visual Studio and the Windows SDK.

use super::Check;
use crate::host::machine::Machine;
use crate::host::visual_studio::{Error, Survey};

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    match &machine.studio {
        Some(survey) => [visual_studio(survey), windows_sdk(survey)].concat(),
        None => ["visual-studio", "windows-sdk"]
            .into_iter()
            .zip(["Visual Studio", "Windows SDK"])
            .map(|(topic, name)| {
                Check::ok(topic, format!("{name}: not needed, the toolchain compiles without one"))
            })
            .collect(),
    }
}

fn visual_studio(survey: &Survey) -> Vec<Check> {
    let topic = "visual-studio";
    let chosen = survey.chosen().map(|(instance, _)| instance);
    let mut checks = Vec::new();
    for candidate in &survey.candidates {
        let instance = &candidate.instance;
        let label = format!("{} at `{}`", instance.label(), instance.path.display());
        checks.push(match &candidate.verdict {
            Ok(toolset) => {
                let role = if Some(instance) == chosen { "used" } else { "not used" };
                Check::ok(topic, format!("{label}: MSVC {}, {role}", toolset.version))
            }
            Err(refusal) => {
                let (what, mend) = (format!("{label}: {refusal}"), refusal.mend(&instance.path));
                if chosen.is_some() {
                    Check::warning(topic, what, mend)
                } else {
                    Check::problem(topic, what, mend)
                }
            }
        });
    }
    if checks.is_empty() {
        checks.push(Check::problem(topic, "no Visual Studio with C++ tools", Error::install()));
    }
    checks
}

fn windows_sdk(survey: &Survey) -> Vec<Check> {
    let topic = "windows-sdk";
    let chosen = survey.sdk();
    // Its installer brings one, good enough itself or not.
    let studio =
        survey.chosen().map(|(instance, _)| instance).or(survey.candidates.first().map(|c| &c.instance));
    let mend = Error::install_sdk(studio.map(|instance| instance.path.as_path()));
    let mut checks = Vec::new();
    for sdk in &survey.sdks {
        let label = format!("Windows SDK {} at `{}`", sdk.version, sdk.root.display());
        checks.push(match (sdk.missing.is_empty(), chosen) {
            (true, _) if Some(sdk) == chosen => Check::ok(topic, format!("{label}: used")),
            (true, _) => Check::ok(topic, format!("{label}: not used")),
            (false, Some(_)) => {
                Check::ok(topic, format!("{label}: not used, it lacks {}", sdk.missing.join(", ")))
            }
            (false, None) => {
                Check::problem(topic, format!("{label}: it lacks {}", sdk.missing.join(", ")), mend.clone())
            }
        });
    }
    if checks.is_empty() {
        checks.push(Check::problem(topic, "no Windows SDK", mend));
    }
    checks
}
