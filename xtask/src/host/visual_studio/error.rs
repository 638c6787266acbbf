//! What can be wrong with a Visual Studio, and the command that mends each.

use std::path::Path;

const CXX_TOOLS: &str = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64";
/// The last toolset before constexpr comparisons in `<cmath>`; it lies beside a newer one.
const SIDE_BY_SIDE: &str = "Microsoft.VisualStudio.Component.VC.14.44.17.14.x86.x64";
const SDK: &str = "Microsoft.VisualStudio.Component.Windows11SDK.22621";
const NEW: &str = "winget install --id Microsoft.VisualStudio.2022.BuildTools --override \"--passive --wait --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended\"";
const INSTALLER: &str = r"C:\Program Files (x86)\Microsoft Visual Studio\Installer\setup.exe";

/// Why an installation is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// The installer was interrupted, or is at work.
    #[error("its installation is not complete")]
    Incomplete,
    /// From a preview channel.
    #[error("it is a preview, which is used only with STRATA_VS_PREVIEW=1")]
    Preview,
    /// Only other workloads.
    #[error("it has no C++ tools for x64")]
    NoCxx,
    /// Its newest toolset is older than the dist's libraries bear.
    #[error("its MSVC {version} is older than 14.42")]
    Old {
        /// The newest there is.
        version: String,
    },
    /// Its only toolsets are newer than clang's headers bear.
    #[error(
        "its MSVC {version} has constexpr comparisons in <cmath>, which this clang's headers do not take (llvm-project#201563)"
    )]
    ConstexprCmath {
        /// The newest there is.
        version: String,
    },
}

impl Refusal {
    /// The command that makes the installation at `path` usable.
    pub(crate) fn mend(&self, path: &Path) -> String {
        match self {
            Self::Incomplete => {
                format!("& \"{INSTALLER}\" repair --installPath \"{}\" --passive", path.display())
            }
            Self::Preview => "$env:STRATA_VS_PREVIEW = 1".to_owned(),
            Self::NoCxx => modify(path, CXX_TOOLS),
            Self::Old { .. } => {
                format!("& \"{INSTALLER}\" update --installPath \"{}\" --passive", path.display())
            }
            Self::ConstexprCmath { .. } => modify(path, SIDE_BY_SIDE),
        }
    }
}

fn modify(path: &Path, component: &str) -> String {
    format!(
        "& \"{INSTALLER}\" modify --installPath \"{}\" --add {component} --passive --norestart",
        path.display()
    )
}

/// No environment for a build.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No installation, or none that will do.
    #[error("no usable Visual Studio{}", reasons(.refused, .looked))]
    NoVisualStudio {
        /// `name: why`
        refused: Vec<String>,
        /// Where was looked.
        looked: Vec<String>,
        /// What mends the first.
        mend: String,
    },
    /// No Windows SDK, or none that is whole.
    #[error("no usable Windows SDK{}", reasons(.refused, .looked))]
    NoWindowsSdk {
        /// `version: what is missing`
        refused: Vec<String>,
        /// Where was looked.
        looked: Vec<String>,
        /// What installs one.
        mend: String,
    },
    /// cmd.exe or the script could not be run.
    #[error("failed to run `{script}`")]
    Start {
        /// The script.
        script: std::path::PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The script said no, or printed no environment.
    #[error("`{script}` set up no environment ({status})\n{tail}")]
    Script {
        /// The script.
        script: std::path::PathBuf,
        /// How it ended.
        status: String,
        /// Its last words.
        tail: String,
    },
    /// It set up an environment in which something is not there.
    #[error("`{script}` leaves out {}", .missing.join(", "))]
    Missing {
        /// The script.
        script: std::path::PathBuf,
        /// Programs and variables.
        missing: Vec<String>,
        /// What installs them.
        mend: String,
    },
}

impl Error {
    /// What installs a Visual Studio with all that is needed.
    pub(crate) fn install() -> &'static str {
        NEW
    }

    /// What installs a Windows SDK, with the installer of the Visual Studio at `path` if there is one.
    pub(crate) fn install_sdk(path: Option<&Path>) -> String {
        path.map_or_else(|| NEW.to_owned(), |path| modify(path, SDK))
    }

    /// For these candidates, of which none will do.
    pub(super) fn no_visual_studio(survey: &super::Survey) -> Self {
        let refused = |c: &super::Candidate| {
            let refusal = c.verdict.as_ref().err()?;
            Some((format!("{}: {refusal}", c.instance.label()), refusal.mend(&c.instance.path)))
        };
        let all: Vec<(String, String)> = survey.candidates.iter().filter_map(refused).collect();
        let mend = all.first().map_or_else(|| NEW.to_owned(), |(_, mend)| mend.clone());
        let refused = all.into_iter().map(|(why, _)| why).collect();
        Self::NoVisualStudio { refused, looked: survey.looked.clone(), mend }
    }

    /// For these kits, of which none is whole. `path` is the Visual Studio whose installer brings one.
    pub(super) fn no_windows_sdk(survey: &super::Survey, path: &Path) -> Self {
        let broken = |sdk: &super::WindowsSdk| format!("{} lacks {}", sdk.version, sdk.missing.join(", "));
        Self::NoWindowsSdk {
            refused: survey.sdks.iter().map(broken).collect(),
            looked: survey.looked.clone(),
            mend: Self::install_sdk(Some(path)),
        }
    }

    /// For programs and variables that the script should have set up.
    pub(super) fn missing(script: &Path, path: &Path, missing: Vec<String>) -> Self {
        let is_of_sdk = |name: &String| ["rc.exe", "mt.exe"].contains(&name.as_str());
        let component = if missing.iter().all(is_of_sdk) { SDK } else { CXX_TOOLS };
        Self::Missing { script: script.to_owned(), mend: modify(path, component), missing }
    }

    /// The command that mends it.
    pub(crate) fn mend(&self) -> String {
        match self {
            Self::NoVisualStudio { mend, .. }
            | Self::NoWindowsSdk { mend, .. }
            | Self::Missing { mend, .. } => mend.clone(),
            Self::Start { .. } | Self::Script { .. } => "cargo xtask doctor".to_owned(),
        }
    }
}

fn reasons(refused: &[String], looked: &[String]) -> String {
    match refused.is_empty() {
        true => format!(": none was found ({})", looked.join(", ")),
        false => refused.iter().map(|reason| format!("\n  {reason}")).collect(),
    }
}
