//! One error of each kind: what its snapshot and docs/errors.md show. A code without a sample fails a test.

use crate::commands::{CheckError, MissingPrerequisite, NativeError, NotReady, SimulationFailed, Usage};
use crate::digest::Sha256;
use crate::fetch::{RedirectError, Refusal, UrlError};
use crate::{build, dist, fetch, files, lock, store};
use gfx::{ParseError, SelectionError, Target};
use std::io;
use std::path::PathBuf;

/// All of them.
pub(super) fn all() -> Vec<anyhow::Error> {
    let stages =
        [locks(), downloads(), archives(), stores(), builds(), signed(), releases(), machine(), studio()];
    stages.into_iter().flatten().collect()
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn path(text: &str) -> PathBuf {
    text.into()
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "permission denied")
}

fn digest(of: &str) -> Sha256 {
    Sha256::of(of.as_bytes())
}

fn json() -> serde_json::Error {
    serde_json::from_str::<u8>("x").expect_err("no number")
}

fn locks() -> Vec<anyhow::Error> {
    use lock::Error;
    let (line, column) = (12, 3);
    let file = || path("toolchains.lock");
    let message = text("unknown field `colour`");
    let known = vec![text("lite"), text("therock-10.0.0")];
    vec![
        Error::Read { path: file(), source: refused() }.into(),
        Error::Syntax { path: file(), line, column, message }.into(),
        Error::Contradiction { path: file(), line, column, message: text("package `llvm` is there twice") }
            .into(),
        Error::Format { path: file(), line: 1, column: 1, found: 2, expected: 1 }.into(),
        Error::Format { path: file(), line: 1, column: 1, found: 0, expected: 1 }.into(),
        Error::UnknownToolchain {
            name: text("litte"),
            host: "x86_64-unknown-linux-gnu",
            known,
            nearest: Some(text("lite")),
        }
        .into(),
        Error::TargetNotBuilt {
            toolchain: text("lite"),
            target: Target::Gfx1030,
            known: vec![text("gfx1100")],
        }
        .into(),
        Error::Locked { path: file() }.into(),
    ]
}

fn downloads() -> Vec<anyhow::Error> {
    use fetch::Error;
    let url = || text("https://example.org/dist.tar.gz");
    let reason = || text("connection refused");
    let (name, version, suite) = (text("clang-22"), text("1:22.1.8-1"), text("bookworm"));
    let package = || text("llvm");
    let io = Error::Io { verb: "create", path: path("store/staging"), source: refused() };
    vec![
        Error::Connect { url: url(), reason: reason() }.into(),
        Error::Certificate { url: url(), reason: text("UnknownIssuer") }.into(),
        Error::Status { url: url(), status: 404 }.into(),
        Error::Status { url: url(), status: 503 }.into(),
        Error::AllSources {
            package: package(),
            version: version.clone(),
            failures: vec![
                (text("url https://example.org"), Box::new(Error::Status { url: url(), status: 404 })),
                (text("pip"), Box::new(Error::Status { url: url(), status: 503 })),
            ],
        }
        .into(),
        Error::Broken { what: url(), got: 1_000, reason: reason() }.into(),
        Error::Stalled { what: url(), got: 1_000, seconds: 60 }.into(),
        Error::Size { what: url(), expected: 2_000, actual: 1_999 }.into(),
        Error::Hash { what: url(), expected: digest("a"), actual: digest("b"), length: 2_000 }.into(),
        Error::Page { what: url(), quote: text("Sign in to the network") }.into(),
        io.into(),
        Error::NoPip { tried: vec![text("python3 -m pip")] }.into(),
        Error::Pip { what: text("cmake 4.4.5"), output: text("ERROR: no matching distribution") }.into(),
        Error::PipOtherFile {
            what: text("cmake 4.4.5"),
            expected: text("a.whl"),
            found: vec![text("b.whl")],
        }
        .into(),
        Error::NoApt { what: text("clang-22 1:22.1.8-1") }.into(),
        Error::NoMirror { suite: suite.clone() }.into(),
        Error::Apt { step: "update", output: text("E: the repository is not signed") }.into(),
        Error::VersionGone { package: package(), name, version, suite, newer: Some(text("1:22.1.9-1")) }
            .into(),
        Error::Tree { package: package(), expected: digest("a"), actual: digest("b") }.into(),
        Error::Offline { package: package(), missing: vec![(text("dist.tar.gz"), digest("a"))] }.into(),
        Error::Interrupted.into(),
        UrlError::PlainHttp(text("http://example.org/dist.tar.gz")).into(),
        UrlError::Scheme(text("ftp://example.org/dist.tar.gz")).into(),
        Error::Redirect(RedirectError::Downgrade { from: url(), to: text("http://example.org/") }).into(),
        Error::Redirect(RedirectError::Forbidden {
            from: url(),
            source: UrlError::Scheme(text("file:///etc/passwd")),
        })
        .into(),
        Error::Redirect(RedirectError::Nowhere { from: url() }).into(),
        Error::Redirect(RedirectError::TooMany { from: url() }).into(),
    ]
}

fn archives() -> Vec<anyhow::Error> {
    let member = || text("bin/clang");
    let refusals = [
        Refusal::Format { file: text("dist.rar") },
        Refusal::Unreadable { reason: text("corrupt deflate stream") },
        Refusal::NoEnd { members: 12 },
        Refusal::TrailingBytes,
        Refusal::Absolute { member: text("/etc/passwd") },
        Refusal::ParentFolder { member: text("../x") },
        Refusal::NotText { member: text("a\u{fffd}") },
        Refusal::WindowsName { member: text("aux"), why: "a device" },
        Refusal::Duplicate { member: member() },
        Refusal::Collision { first: text("Bin/x"), second: text("bin/x") },
        Refusal::FileAndFolder { member: member() },
        Refusal::LinkEscapes { member: member(), target: text("../../x") },
        Refusal::LinkLoop { member: member() },
        Refusal::TooManyMembers { limit: 619 },
        Refusal::TooManyBytes { limit: 389_127_673 },
        Refusal::HardLinkTarget { member: member(), target: text("x") },
        Refusal::SpecialFile { member: member(), kind: text("fifo") },
        Refusal::Sparse { member: member() },
        Refusal::Write { verb: "create", path: path("store/staging/bin"), source: refused() },
    ];
    refusals
        .into_iter()
        .map(|source| fetch::Error::Archive { what: text("dist.tar.gz"), source }.into())
        .collect()
}

fn stores() -> Vec<anyhow::Error> {
    use store::Error;
    let (package, version) = (|| text("dist"), || text("10.0.0"));
    let missing = vec![("compiler", vec![text("lib/llvm/bin/clang++")])];
    let source = store::TooLong {
        path: text("C:/a/very/deep/folder/x.dll"),
        length: 280,
        limit: 259,
        why: "Windows",
        excess: 21,
    };
    vec![
        Error::NoSpace {
            path: path("store"),
            package: package(),
            needed: text("9.80 GB"),
            available: text("1.20 GB"),
        }
        .into(),
        Error::Layout { package: package(), version: version(), source: store::LayoutError { missing } }
            .into(),
        Error::Version {
            package: package(),
            file: text(".info/version"),
            expected: version(),
            found: text("7.14.0"),
        }
        .into(),
        Error::PathLength { package: package(), version: version(), source }.into(),
        Error::Damaged { path: path("store/471242c9d89ce6ac/receipt.json"), reason: text("it is empty") }
            .into(),
        Error::NotInstalled { toolchain: text("lite"), package: text("llvm"), store: path("store") }.into(),
        Error::OtherHost {
            toolchain: text("w"),
            host: "x86_64-pc-windows-msvc",
            this: "x86_64-unknown-linux-gnu",
        }
        .into(),
        Error::Interrupted.into(),
    ]
}

fn builds() -> Vec<anyhow::Error> {
    use build::Error;
    let (component, target) = (|| text("engine"), Target::Gfx1201);
    let (status, log) = (|| text("exit status: 1"), || path("target/xtask/logs/compile.log"));
    let tail = || text("rms_norm.hip:3:1: error: unknown type name");
    let failed = vec![text("rms_norm")];
    let metadata = || Box::new(cargo_metadata::Error::Json(json()));
    vec![
        Error::Metadata(metadata()).into(),
        Error::ComponentMetadata {
            manifest: path("engine/Cargo.toml"),
            reason: text("missing field `kernels`"),
        }
        .into(),
        Error::UnknownComponent { name: text("engin"), known: vec![component()], nearest: Some(component()) }
            .into(),
        Error::NoProject { folder: path("upstream"), elsewhere: None }.into(),
        Error::NoSource {
            name: "composable".into(),
            toolchain: "lite".into(),
            known: vec!["composable-kernel".into()],
            nearest: Some("composable-kernel".into()),
        }
        .into(),
        Error::Project { file: path("upstream/component.toml"), reason: text("missing field `name`") }.into(),
        Error::SourcesChanged { component: component(), target, changed: vec![text("native sources")] }
            .into(),
        Error::CrossBuild {
            host: lock::Host::WindowsGnu,
            what: "no standard library for this host",
            mend: "sh prerequisites.sh --windows",
        }
        .into(),
        Error::MissingPart { component: component(), part: text("hip"), toolchain: text("lite") }.into(),
        Error::DamagedToolchain {
            toolchain: text("lite"),
            path: path("store/90a3bac94ff4f39e/tree/bin/clang"),
        }
        .into(),
        Error::Start { program: path("bin/cmake"), source: refused() }.into(),
        Error::Step {
            component: component(),
            target,
            step: "compile",
            status: status(),
            failed,
            tail: tail(),
            log: log(),
        }
        .into(),
        Error::TimedOut { component: component(), target, step: "compile", seconds: 3_600, log: log() }
            .into(),
        Error::Cargo { component: component(), status: status(), tail: tail(), log: log() }.into(),
        Error::Gate {
            component: component(),
            target,
            kernel: text("rms_norm"),
            reason: text("it is for gfx1100"),
        }
        .into(),
        Error::Interrupted.into(),
    ]
}

/// Those with an error of minisign inside.
fn signed() -> Vec<anyhow::Error> {
    use dist::Error;
    let wrong = || minisign::PError::new(minisign::ErrorKind::Verify, "the key id does not match");
    let sums = || path("dist/SHA256SUMS");
    vec![
        Error::SigningKey { place: text("strata.key"), source: wrong() }.into(),
        Error::PublicKey { key: text("strata.pub"), source: wrong() }.into(),
        Error::Unsigned { path: path("dist/SHA256SUMS.minisig") }.into(),
        Error::Signature { path: path("dist/SHA256SUMS.minisig"), source: wrong() }.into(),
        Error::Unlisted { sums: sums(), name: text("strata-0.1.0.zip") }.into(),
        Error::Sums { path: sums(), line: 3 }.into(),
    ]
}

fn releases() -> Vec<anyhow::Error> {
    use dist::Error;
    let zip = || path("dist/strata-0.1.0.zip");
    let (first, second) = (|| text("engine"), || text("aiter-kernels"));
    let differences = || vec![text("kernels/gfx1201/engine/rms_norm.co: changed")];
    let (program, status, output) =
        (|| path("sign.bat"), || text("exit status: 1"), || text("no certificate"));
    let damaged = || object::File::parse(&b"x"[..]).expect_err("no program");
    vec![
        Error::NotBuilt { component: first(), target: Target::Gfx1201, path: path("artifacts/BUILD.json") }
            .into(),
        Error::NotPinned { component: first(), target: Target::Gfx1201, toolchain: text("system") }.into(),
        Error::Changed { path: path("artifacts/strata"), expected: digest("a"), actual: digest("b") }.into(),
        Error::Collision { path: text("bin/x"), first: first(), second: second() }.into(),
        Error::Mixed { first: first(), second: second(), what: text("lock") }.into(),
        Error::Archive { path: zip(), source: archive::Error::Write(refused()) }.into(),
        Error::LongName { path: text("kernels/…"), limit: 255 }.into(),
        Error::Headers { path: path("strata"), source: damaged() }.into(),
        Error::Closure { problems: Vec::new() }.into(),
        Error::Kernels {
            library: "rocblas",
            target: Target::Gfx1201,
            folder: text("bin/rocblas/library"),
            present: vec![text("gfx1100")],
        }
        .into(),
        Error::Redistributable { path: path("C:/VC") }.into(),
        Error::Crates(Box::new(cargo_metadata::Error::Json(json()))).into(),
        Error::Signer { program: program(), file: text("strata.exe"), status: status(), output: output() }
            .into(),
        Error::NothingToMerge { path: path("parts/linux") }.into(),
        Error::OtherHost { path: path("parts/windows"), host: text("x86_64-pc-windows-msvc") }.into(),
        Error::Git {
            root: path("/src/strata"),
            words: text("fatal: detected dubious ownership in repository"),
        }
        .into(),
        Error::Foreign { path: path("parts/linux"), what: "component", value: text("../../x") }.into(),
        Error::NotReproducible { differences: differences() }.into(),
        Error::CheckBuild { folder: path("a"), status: status(), output: text("error: …") }.into(),
        Error::Unpack { path: zip(), source: Refusal::TrailingBytes }.into(),
        Error::NothingToVerify { path: path(".") }.into(),
        Error::Differs { path: zip(), differences: differences() }.into(),
        Error::Start { program: text("strata-device --selftest"), status: status(), output: text("no libX") }
            .into(),
        Error::Interrupted.into(),
    ]
}

fn machine() -> Vec<anyhow::Error> {
    let folder = || path("artifacts/x");
    let native = |error| SelectionError::<NativeError>::Native(error);
    let unknown =
        || ParseError::Unknown { name: text("gfx1210"), nearest: vec!["gfx1201"], known: vec!["gfx1201"] };
    let load = gfx_sim::Error::NoInstructions;
    let file = |source| files::Error { verb: "rename", path: path("store/x"), source };
    vec![
        anyhow::anyhow!("what nobody foresaw"),
        file(refused()).into(),
        file(io::ErrorKind::StorageFull.into()).into(),
        MissingPrerequisite { what: text("ninja 1.10 or later is needed"), mend: text("install ninja") }
            .into(),
        Usage::new("unknown part `clang`", "--provides takes compiler, hip").into(),
        native(NativeError::NoGpu).into(),
        native(NativeError::Unsupported(vec![text("gfx906")])).into(),
        ParseError::Empty.into(),
        unknown().into(),
        ParseError::Feature { name: text("gfx1030:xnak-"), feature: text("xnak-") }.into(),
        SelectionError::<NativeError>::EmptyFamily(gfx::DistFamily::Gfx103XAll).into(),
        SelectionError::<NativeError>::Empty.into(),
        CheckError::Wrong { wrong: 1, total: 6 }.into(),
        CheckError::Unasked { unasked: 1, total: 6 }.into(),
        simulate::Error::NoKernels { folder: folder() }.into(),
        simulate::Error::Read { path: folder(), source: refused() }.into(),
        simulate::Error::Target { path: folder(), source: unknown() }.into(),
        simulate::Error::Load { path: folder(), source: load }.into(),
        simulate::Error::Missing { name: text("rms_norm"), target: Target::Gfx1201 }.into(),
        SimulationFailed { folder: folder(), failed: vec![text("rms_norm: element 3 is 1.0, expected 2.0")] }
            .into(),
        NotReady { missing: 2, total: 9 }.into(),
    ]
}

fn studio() -> Vec<anyhow::Error> {
    use crate::host::visual_studio::Error;
    let (looked, mend) = (|| vec![text("vswhere.exe")], || text("setup.exe modify …"));
    let script = || path("vcvars64.bat");
    vec![
        Error::NoVisualStudio {
            refused: vec![text("Build Tools 17: it has no C++ tools for x64")],
            looked: looked(),
            mend: mend(),
        }
        .into(),
        Error::NoWindowsSdk {
            refused: vec![text("10.0.22621.0 lacks rc.exe")],
            looked: looked(),
            mend: mend(),
        }
        .into(),
        Error::Start { script: script(), source: refused() }.into(),
        Error::Script { script: script(), status: text("exit status: 1"), tail: text("[ERROR:vcvars.bat]") }
            .into(),
        Error::Missing { script: script(), missing: vec![text("rc.exe")], mend: mend() }.into(),
    ]
}
