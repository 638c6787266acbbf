//! What CMake is told: `-D<name>=<value>`, always with forward slashes, and what of it goes into the key.

use super::Error;
use super::component::{Component, Kind};
use super::plan::Request;
use crate::digest::{Hasher, Sha256};
use crate::files;
use crate::lock::{Host, Part};
use gfx::Target;
use std::path::{Path, PathBuf};

/// `-D<name>=<value>`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    /// CMake's variable.
    pub(crate) name: String,
    /// With this machine's paths, always with forward slashes.
    pub(crate) value: String,
    /// With places in angle brackets: what goes into BUILD.json and the key.
    pub(crate) recorded: String,
}

impl Setting {
    fn literal(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: value.to_owned(), recorded: value.to_owned() }
    }

    fn path(name: &str, value: &Path, recorded: &str) -> Self {
        Self { name: name.to_owned(), value: files::forward_slashes(value), recorded: recorded.to_owned() }
    }
}

/// The toolchain's parts as one component asks for them.
struct Parts<'r, 'q> {
    request: &'r Request<'q>,
    component: &'r Component,
}

impl<'r> Parts<'r, '_> {
    fn get(&self, part: Part) -> Result<&'r Path, Error> {
        let toolchain = self.request.toolchain;
        toolchain.parts.get(&part).map(PathBuf::as_path).ok_or_else(|| Error::MissingPart {
            component: self.component.name.clone(),
            part: part.name().to_owned(),
            toolchain: toolchain.name.clone(),
        })
    }

    fn device_libs(&self) -> Option<&'r Path> {
        self.request.toolchain.parts.get(&Part::DeviceLibs).map(PathBuf::as_path)
    }
}

/// The settings of one component for one target. `hip_lang` is the folder of this target's HIP language package (see [`super::hip_lang`]).
pub(super) fn settings(
    request: &Request,
    component: &Component,
    target: Target,
    hip_lang: &Path,
) -> Result<Vec<Setting>, Error> {
    let parts = Parts { request, component };
    let clang_cxx = parts.get(Part::Compiler)?;
    let clang = clang_cxx.with_file_name(format!("clang{}", Host::THIS.exe_suffix()));
    let mut settings = vec![
        Setting::literal("CMAKE_BUILD_TYPE", "Release"),
        Setting::literal("CMAKE_EXPORT_COMPILE_COMMANDS", "ON"),
        Setting::path("CMAKE_MAKE_PROGRAM", &request.tools.ninja, "<ninja>"),
        Setting::path("CMAKE_C_COMPILER", &clang, "<compiler>/clang"),
        Setting::path("CMAKE_CXX_COMPILER", clang_cxx, "<compiler>/clang++"),
    ];
    match &component.kind {
        Kind::Kernels => settings.extend(for_kernels(&parts, target)?),
        Kind::Project { settings: own } => {
            settings.extend(for_project(&parts, target, clang_cxx, hip_lang)?);
            settings.extend(own.iter().map(|(name, value)| Setting::literal(name, value)));
        }
    }
    for source in &component.sources {
        let name = format!("{}_ROOT", source.name().replace('-', "_").to_uppercase());
        settings.push(Setting::path(&name, parts.get(*source)?, &format!("<{}>", source.name())));
    }
    Ok(settings)
}

fn for_kernels(parts: &Parts, target: Target) -> Result<Vec<Setting>, Error> {
    let mut settings = vec![
        // A GPU has no operating system. Told so, CMake looks for no Windows SDK, resource compiler or C library, and names objects alike everywhere.
        Setting::literal("CMAKE_SYSTEM_NAME", "Generic"),
        Setting::literal("CMAKE_TRY_COMPILE_TARGET_TYPE", "STATIC_LIBRARY"),
        // It is the toolchain's, which was verified; a trial would have to link for a host.
        Setting::literal("CMAKE_CXX_COMPILER_WORKS", "ON"),
        Setting::literal("STRATA_TARGET", target.name()),
        Setting::path("STRATA_HIP_ROOT", parts.get(Part::Hip)?, "<hip>"),
    ];
    if let Some(folder) = parts.device_libs() {
        settings.push(Setting::path("STRATA_DEVICE_LIBS", folder, "<device-libs>"));
    }
    Ok(settings)
}

/// One clang for C, C++ and HIP; nothing is looked for on the machine.
fn for_project(
    parts: &Parts,
    target: Target,
    clang_cxx: &Path,
    hip_lang: &Path,
) -> Result<Vec<Setting>, Error> {
    let hip = parts.get(Part::Hip)?;
    let own = hip.join("lib");
    let (library, recorded) = match own.join("cmake/hip-lang/hip-lang-config.cmake").is_file() {
        // Debian's lies elsewhere and names a runtime that its headers come without.
        true => (own.as_path(), "<hip>/lib"),
        false => (hip_lang, "<hip-lang>"),
    };
    let device_libs = match parts.device_libs() {
        Some(folder) => quoted("--rocm-device-lib-path=", folder, "<device-libs>"),
        None => ("-nogpulib".to_owned(), "-nogpulib".to_owned()),
    };
    let rocm = quoted("--rocm-path=", hip, "<hip>");
    let source = quoted("-ffile-prefix-map=", &parts.component.native, "<source>");
    let flags = |kept: &[&(String, String)], more: &str| {
        let join = |texts: Vec<&str>| format!("{}{more}", texts.join(" "));
        let value = join(kept.iter().map(|(value, _)| value.as_str()).collect());
        (value, join(kept.iter().map(|(_, recorded)| recorded.as_str()).collect()))
    };
    let plain = flags(&[&source], "");
    // CMake names the runtime when it links; the compiler would look for one beside its own headers.
    let hip_flags = flags(
        &[&rocm, &device_libs, &source],
        " -fuse-cuid=none -no-hip-rt -Wno-unused-command-line-argument",
    );
    let flags =
        |name: &str, (value, recorded): (String, String)| Setting { name: name.to_owned(), value, recorded };
    Ok(vec![
        Setting::path("CMAKE_HIP_COMPILER", clang_cxx, "<compiler>/clang++"),
        Setting::literal("CMAKE_HIP_PLATFORM", "amd"),
        Setting::literal("CMAKE_HIP_ARCHITECTURES", target.name()),
        Setting::path("CMAKE_HIP_COMPILER_ROCM_ROOT", hip, "<hip>"),
        Setting::path("CMAKE_HIP_COMPILER_ROCM_LIB", library, recorded),
        Setting::path("CMAKE_PREFIX_PATH", hip, "<hip>"),
        Setting::literal("CMAKE_EXE_LINKER_FLAGS", LINKER),
        Setting::literal("CMAKE_SHARED_LINKER_FLAGS", LINKER),
        // No path of this machine gets into a program.
        Setting::literal("CMAKE_SKIP_RPATH", "ON"),
        flags("CMAKE_C_FLAGS", plain.clone()),
        flags("CMAKE_CXX_FLAGS", plain),
        flags("CMAKE_HIP_FLAGS", hip_flags),
    ])
}

/// The toolchain's; CMake's own word for it (CMAKE_LINKER_TYPE) knows no HIP.
const LINKER: &str = "-fuse-ld=lld";

/// A flag with a path, which CMake puts into a command line as it is.
fn quoted(flag: &str, path: &Path, place: &str) -> (String, String) {
    let map = if flag == "-ffile-prefix-map=" { "=." } else { "" };
    (format!("\"{flag}{}{map}\"", files::forward_slashes(path)), format!("{flag}{place}{map}"))
}

pub(super) fn digest_settings(settings: &[Setting]) -> Sha256 {
    let mut hasher = Hasher::new();
    for setting in settings {
        hasher.field(&setting.name);
        hasher.field(&setting.recorded);
    }
    hasher.finish().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::component::Workspace;
    use crate::build::plan::{Launcher, Tools};
    use crate::store::Installed;
    use std::collections::BTreeMap;

    /// The settings for a toolchain with the parts of a dist, at paths as Windows spells them.
    fn windows(kind: Kind) -> Vec<Setting> {
        let component = Component {
            name: "c".into(),
            version: "1".into(),
            native: r"C:\w (1)\c".into(),
            kind,
            binaries: Vec::new(),
            library: None,
            share: Vec::new(),
            kernels: Vec::new(),
            runtime: Vec::new(),
            optional: Vec::new(),
            catalogue: None,
            sources: vec![Part::ComposableKernel],
            crates: Vec::new(),
        };
        let parts = [
            (Part::Compiler, r"C:\s\1/clang++"),
            (Part::Hip, r"C:\s\1"),
            (Part::DeviceLibs, r"C:\s\1\bitcode"),
            (Part::ComposableKernel, r"C:\s\ck"),
        ];
        let toolchain = Installed {
            name: "t".into(),
            rocm: "10.0.0".into(),
            digest: Sha256::of(b""),
            is_pinned: true,
            packages: Vec::new(),
            parts: parts.map(|(part, path)| (part, path.into())).into(),
        };
        let workspace = Workspace { root: r"C:\w".into(), version: "1".into(), components: Vec::new() };
        let request = Request {
            workspace: &workspace,
            components: Vec::new(),
            targets: Vec::new(),
            toolchain: &toolchain,
            tools: Tools {
                cmake: r"C:\s\cmake.exe".into(),
                ninja: r"C:\s\ninja.exe".into(),
                versions: String::new(),
            },
            host: Host::WindowsMsvc,
            lock: Sha256::of(b""),
            rust: None,
            artifacts: r"C:\w\artifacts".into(),
            work: r"C:\w\target".into(),
            launcher: Launcher::None,
            developer: None,
        };
        let target = Target::parse("gfx1201").expect("a target");
        settings(&request, &component, target, Path::new(r"C:\w\target\hip-lang")).expect("settings")
    }

    fn project() -> Kind {
        Kind::Project { settings: BTreeMap::new() }
    }

    #[test]
    fn every_path_has_forward_slashes_and_none_is_recorded() {
        for setting in windows(Kind::Kernels).into_iter().chain(windows(project())) {
            assert!(!setting.value.contains('\\'), "{setting:?}");
            assert!(!setting.recorded.contains("C:"), "{setting:?}");
        }
    }

    #[test]
    fn one_clang_compiles_c_cxx_and_hip() {
        let settings = windows(project());
        let value = |name: &str| {
            let found = settings.iter().find(|setting| setting.name == name);
            found.map(|setting| setting.value.as_str()).unwrap_or_default()
        };
        let exe = Host::THIS.exe_suffix();
        assert_eq!(value("CMAKE_C_COMPILER"), format!("C:/s/1/clang{exe}"));
        assert_eq!(value("CMAKE_CXX_COMPILER"), "C:/s/1/clang++");
        assert_eq!(value("CMAKE_HIP_COMPILER"), "C:/s/1/clang++");
        assert_eq!(
            value("CMAKE_HIP_FLAGS"),
            "\"--rocm-path=C:/s/1\" \"--rocm-device-lib-path=C:/s/1/bitcode\" \"-ffile-prefix-map=C:/w (1)/c=.\" -fuse-cuid=none -no-hip-rt -Wno-unused-command-line-argument"
        );
    }
}
