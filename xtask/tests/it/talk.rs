//! What a pipeline reads: events, annotations, bug reports.

use crate::support::{
    BOOTSTRAP, Fault, Server, World, dist_members, json_complaints, large_tar_gz, lock, lock_of, sha256,
    tar_gz, with_a_source_that_is_gone, workspace_root,
};
use serde_json::Value;

fn real_lock() -> String {
    std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("the lock")
}

/// Every line of a run with `--format json`.
fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

#[test]
fn every_event_is_what_the_schema_says() {
    let server = Server::start();
    let archive = large_tar_gz(2);
    let world = World::with_lock(&lock_of(&server, &archive, Fault::Stall(archive.len() / 2)));
    let arguments: Vec<&str> = BOOTSTRAP.iter().chain(&["--format", "json"]).copied().collect();
    let installed = world.command(&arguments).env("STRATA_STALL_SECONDS", "2.5").output().expect("xtask");
    let mut lines = world.ended(installed).exits(0).stdout;
    for (arguments, code) in [
        (&["doctor", "--explain", "F08"][..], 0),
        (&["doctor", "--explain", "F99"], 2),
        (&["build", "--toolchain", "other"], 2),
        (&["store", "path"], 0),
    ] {
        let arguments: Vec<&str> = arguments.iter().chain(&["--format", "json"]).copied().collect();
        lines += &world.run(&arguments).exits(code).stdout;
    }
    let (_mirror, warned) = with_a_source_that_is_gone();
    lines += &warned.run(&arguments).exits(0).stdout;
    let panicked = world.command(&["store", "path", "--format", "json"]).env("STRATA_PANIC", "x").output();
    lines += &world.ended(panicked.expect("xtask")).exits(101).stdout;
    let kinds: std::collections::BTreeSet<String> =
        events(&lines).iter().map(|event| event["event"].as_str().expect("event").to_owned()).collect();
    for kind in ["phase", "progress", "note", "warning", "result", "error"] {
        assert!(kinds.contains(kind), "no `{kind}` among {kinds:?}");
    }
    let schema = workspace_root().join("docs/events.schema.json");
    assert_eq!(json_complaints(&schema, &lines), "");
    // A schema that takes everything would pass too.
    for wrong in [
        r#"{"event": "phase", "schema": 1}"#,
        r#"{"event": "unheard", "schema": 1}"#,
        r#"{"event": "error", "schema": 1, "message": "x", "causes": [], "hint": null, "exit_code": 1}"#,
    ] {
        assert_ne!(json_complaints(&schema, wrong), "", "{wrong}");
    }
}

#[test]
fn a_password_or_token_of_an_address_is_told_nowhere() {
    let server = Server::start();
    let archive = large_tar_gz(2);
    let hash = sha256(&archive);
    let own = |user: &str| server.address().replace("://", &format!("://{user}:SECRET@"));
    let in_mirror = format!("m/{hash}/dist.tar.gz");
    let forbidden = "http://user:SECRET@example.org/dist.tar.gz?token=SECRET";
    for (fault, redirect, code) in [
        (Fault::None, None, 0),
        (Fault::Status(403), None, 4),
        (Fault::Cut(1000), None, 4),
        (Fault::Page, None, 4),
        (Fault::None, Some(format!("{}/other?token=SECRET", own("moved"))), 4),
        (Fault::None, Some(forbidden.to_owned()), 4),
        (Fault::None, Some("ftp://user:SECRET@example.org/?token=SECRET".to_owned()), 4),
    ] {
        let url =
            server.offer("dist.tar.gz?key=SECRET", &archive, fault).replace(server.address(), &own("lock"));
        server.offer(&in_mirror, &archive, fault);
        if let Some(to) = &redirect {
            server.redirect("dist.tar.gz?key=SECRET", to);
            server.redirect(&in_mirror, to);
        }
        let mirror = format!("{}/m", own("mirror"));
        for format in ["human", "json"] {
            let world = World::with_lock(&lock(&[(&url, &hash, Some(archive.len()))]));
            let mut command = world.command(&BOOTSTRAP);
            command.args(["--mirror", &mirror, "--format", format, "-v"]).env("GITHUB_ACTIONS", "true");
            let run = world.ended(command.output().expect("xtask")).exits(code);
            let shown = world.run(&["lock", "show"]).exits(0);
            for stream in [&run.stdout, &run.stderr, &shown.stdout] {
                assert!(!stream.contains("SECRET"), "{stream}");
            }
            let mut grep = std::process::Command::new("grep");
            let found =
                grep.args(["-r", "SECRET", "store"]).current_dir(world.root()).output().expect("grep");
            assert_eq!((found.status.code(), String::from_utf8_lossy(&found.stdout).as_ref()), (Some(1), ""));
        }
    }
}

#[test]
fn a_password_of_an_address_that_is_refused_is_not_repeated() {
    let refused =
        World::new().run(&["bootstrap", "--mirror", "lan=http://user:SECRET@example.org/x"]).exits(2);
    assert!(!refused.stderr.contains("SECRET"), "{}", refused.stderr);
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let url = server.offer("dist.tar.gz?key=SECRET", &archive, Fault::None);
    let world = World::with_lock("version = 1\n");
    let added = world.run(&["lock", "add", "dist", &url, "--license", "MIT"]).exits(0);
    assert!(!added.stderr.contains("SECRET"), "{}", added.stderr);
    let written = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    assert!(written.contains("dist.tar.gz?key=SECRET"), "the lock has what is asked: {written}");
    assert!(refused.stderr.contains("'lan=http://***@example.org/x' for '--mirror"), "{}", refused.stderr);
}

#[test]
fn without_a_terminal_slow_work_says_a_line_and_no_control_codes() {
    let server = Server::start();
    let archive = large_tar_gz(2);
    let world = World::with_lock(&lock_of(&server, &archive, Fault::Stall(archive.len() / 2)));
    let output = world.command(&BOOTSTRAP).env("STRATA_STALL_SECONDS", "2.5").output().expect("xtask");
    let run = world.ended(output).exits(0);
    let bars: Vec<&str> = run.stderr.lines().filter(|line| line.contains(" % of ")).collect();
    assert!(!bars.is_empty() && bars.len() <= 10, "{}", run.stderr);
    for bar in bars {
        assert!(bar.starts_with("    fetch dist 10.0.0: ") && bar.ends_with(" left"), "{bar}");
    }
    assert!(!run.stderr.contains('\x1b') && !run.stderr.contains('\r'), "{:?}", run.stderr);
}

#[test]
fn github_gets_an_annotation_at_the_line() {
    let world = World::with_lock("version = 1\n[[package]]\nname = \"x\"\ncolour = \"red\"\n");
    let annotation = |arguments: &[&str]| {
        let output = world.command(arguments).env("GITHUB_ACTIONS", "true").output().expect("xtask");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        stderr.lines().filter(|line| line.starts_with("::")).map(str::to_owned).collect::<Vec<_>>()
    };
    let of_lock = annotation(&["lock", "show"]);
    assert_eq!(of_lock.len(), 1);
    assert!(
        of_lock[0].starts_with("::error title=error[L02],file=toolchains.lock,line=4,col=1::"),
        "{of_lock:?}"
    );
    assert!(of_lock[0].contains("%0Ahint: docs/lock-format.md"), "{of_lock:?}");
    let json = annotation(&["lock", "show", "--format", "json"]);
    assert_eq!(json, of_lock, "stdout is for events, so stderr has it too");
    assert!(!world.run(&["lock", "show"]).stderr.contains("::error"), "only in Actions");
    let (_server, world) = with_a_source_that_is_gone();
    let warned = world.command(&BOOTSTRAP).env("GITHUB_ACTIONS", "true").output().expect("xtask");
    let warned = world.ended(warned).exits(0).stderr;
    assert!(warned.lines().any(|line| line.starts_with("::warning") && line.contains("404")), "{warned}");
}

#[test]
fn a_panic_is_a_bug_report_without_private_paths() {
    let world = World::with_lock(&real_lock());
    let words = format!("no entry `{}`", world.path("store/x").display());
    let output = world.command(&["store", "list"]).env("STRATA_PANIC", words).output().expect("xtask");
    assert!(!String::from_utf8_lossy(&output.stderr).contains(&world.root().display().to_string()));
    let run = world.ended(output).exits(101);
    let report = run.stderr.replace(&sha256(real_lock().as_bytes()), "[LOCK]");
    let version = env!("CARGO_PKG_VERSION");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"panic.rs:\d+:\d+", "panic.rs:[LINE]");
    settings.add_filter(&format!("{version} \\(.*\\)"), "[VERSION]");
    settings.bind(|| {
        insta::assert_snapshot!(report, @r"
        error[M99]: xtask has a defect: no entry `<workspace>/store/x`
          at       xtask/src/ui/panic.rs:[LINE]
          thread   main
          command  store
          version  [VERSION]
          lock     [LOCK]

        hint: report what was printed: it has the version and the lock's digest, and no path of yours
        ");
    });
}

#[test]
fn a_code_is_explained() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["doctor", "--explain", "f08"]).exits(0).stdout, @r"
    F08: The file has another sha256 than the lock says.

      cause  The publisher replaced it, it was damaged on the way, or somebody wants you to have another one. It was fetched twice.
      mend   nothing was installed; if the publisher really changed the file, measure it again with `cargo xtask lock add`
      exit   3 (a hash or the lock does not match)

    All codes: docs/errors.md
    ");
    let all = world.run(&["doctor", "--explain", "all"]).exits(0).stdout;
    let page = std::fs::read_to_string(workspace_root().join("docs/errors.md")).expect("docs/errors.md");
    assert_eq!(all.lines().count(), page.lines().filter(|line| line.starts_with("### ")).count());
    for code in all.lines().filter_map(|line| line.split_whitespace().next()) {
        let said = world.run(&["doctor", "--explain", code]).exits(0).stdout;
        let has = |part: &str| said.lines().any(|line| line.starts_with(part));
        assert!(
            has(&format!("{code}: ")) && has("  cause  ") && has("  mend   ") && has("  exit   "),
            "{said}"
        );
    }
    let unknown = world.run(&["doctor", "--explain", "F0"]).exits(2).stderr;
    assert!(unknown.contains("no error has the code `F0`"), "{unknown}");
}

#[test]
fn a_small_install_says_one_line_a_phase() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    let run = world.run(&BOOTSTRAP).exits(0);
    assert!(!run.stderr.contains('%'), "what is over in a moment has no progress: {}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
}
