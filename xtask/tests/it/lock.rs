//! `cargo xtask lock`: measuring, updating and checking against a server of the test's own.

use crate::support::{Fault, Member, Server, World, dist_members, lock, sha256, tar_gz};

fn dist(version: &str) -> Vec<u8> {
    let mut members = dist_members();
    members.retain(|member| !matches!(member, Member::File(path, _) if path == ".info/version"));
    members.push(Member::file(".info/version", version));
    tar_gz("", &members)
}

const CHECK: [&str; 5] = ["lock", "check", "--online", "--toolchain", "t"];

#[test]
fn update_shows_what_would_change_and_keeps_comments_and_order() {
    let server = Server::start();
    let (old, new) = (dist("10.0.0"), dist("10.1.0"));
    let url = server.offer("10.0.0/dist.tar.gz", &old, Fault::None);
    server.offer("10.1.0/dist.tar.gz", &new, Fault::None);
    let text = lock(&[(&url, &sha256(&old), Some(old.len()))])
        .replace("file = \"dist.tar.gz\"\n", "")
        .replace("[[package]]", "# AMD's own\n[[package]]")
        .replace("license = \"MIT\"", "license = \"MIT\" # as its LICENSE says");
    let world = World::with_lock(&text);
    let seen = |world: &World| std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");

    let run = world.run(&["lock", "update", "dist", "--to", "10.1.0", "--dry-run"]).exits(0);
    insta::assert_snapshot!(run.stdout.replace(server.address(), "[SERVER]"));
    assert_eq!(seen(&world), text, "a dry run writes nothing");
    let asked = server.request_count();
    let refused = world.run(&["lock", "update", "dist", "--to", "10.1.0", "--locked"]).exits(3);
    assert_eq!(
        (refused.stdout.as_str(), server.request_count()),
        ("", asked),
        "refused before anything is done"
    );
    assert_eq!(seen(&world), text, "--locked forbids it");

    world.run(&["lock", "update", "dist", "--to", "10.1.0"]).exits(0);
    let written = seen(&world);
    for kept in ["# AMD's own\n[[package]]", "license = \"MIT\" # as its LICENSE says"] {
        assert!(written.contains(kept), "{written}");
    }
    assert!(written.contains(&sha256(&new)) && !written.contains(&sha256(&old)), "{written}");
    assert!(written.contains("by = \"xtask lock update\""), "{written}");
    world.run(&["bootstrap", "--toolchain", "t"]).exits(0);
    let again = world.run(&["lock", "update", "dist", "--to", "10.1.0"]).exits(0);
    assert_eq!(again.stdout.trim(), "dist 10.1.0 is current");

    let back = world.run(&["lock", "update", "dist", "--to", "10.0.0"]).exits(2);
    assert!(back.stderr.contains("older than 10.1.0"), "{}", back.stderr);
    assert_eq!(seen(&world), written);
}

#[test]
fn update_tells_what_it_cannot_find() {
    let server = Server::start();
    let old = dist("10.0.0");
    let url = server.offer("10.0.0/dist.tar.gz", &old, Fault::None);
    let world = World::with_lock(&lock(&[(&url, &sha256(&old), Some(old.len()))]));
    let run = world.run(&["lock", "update", "dis"]).exits(2);
    assert!(run.stderr.contains("did you mean `dist`?"), "{}", run.stderr);
    world.run(&["lock", "update", "dist", "--to", "11.0.0"]).exits(4);
}

#[test]
fn check_measures_every_source_and_compares_their_trees() {
    let server = Server::start();
    let (a, b) = (dist("10.0.0"), tar_gz("", &[dist_members(), vec![Member::file("NOTICE", "n")]].concat()));
    let (first, second) =
        (server.offer("a.tar.gz", &a, Fault::None), server.offer("b.tar.gz", &b, Fault::None));
    let text = lock(&[(&first, &sha256(&a), Some(a.len())), (&second, &sha256(&b), Some(b.len()))]);
    let world = World::with_lock(&text);
    let run = world.run(&CHECK).exits(0);
    assert!(run.stdout.contains("2 sources measured again"), "{}", run.stdout);
    assert!(
        run.stderr.contains("url and url give different trees: only the second has `NOTICE`"),
        "{}",
        run.stderr
    );
    assert!(!world.path("store").join(&sha256(&a)[..16]).exists(), "the store is not touched");

    server.offer("b.tar.gz", &a, Fault::None);
    let run = world.run(&CHECK).exits(3);
    assert!(run.stderr.contains("1 of 2 sources do not give what the lock says"), "{}", run.stderr);

    server.offer("b.tar.gz", &b, Fault::Status(404));
    let run = world.run(&CHECK).exits(4);
    assert!(run.stderr.contains("1 of 2 sources could not be asked"), "{}", run.stderr);
}

#[test]
fn add_measures_the_longest_path_too() {
    let server = Server::start();
    let archive = dist("10.0.0");
    let url = server.offer("dist-10.0.0.tar.gz", &archive, Fault::None);
    let world = World::with_lock("version = 1\n");
    let add = ["lock", "add", "dist", &url, "--license", "MIT", "--provides", "compiler,hip,device-libs"];
    let run = world.run(&[&add[..], &["--host", "x86_64-unknown-linux-gnu", "--dry-run"]].concat()).exits(0);
    assert!(run.stdout.contains("longest = 59"), "{}", run.stdout);
    assert!(run.stdout.contains(&sha256(&archive)), "{}", run.stdout);
}

#[test]
fn measuring_bears_bad_lines_and_ends_with_ctrl_c() {
    let server = Server::start();
    let archive = dist("10.0.0");
    let half = archive.len() / 2;
    let url = server.offer("dist-10.0.0.tar.gz", &archive, Fault::Stall(100));
    let world = World::with_lock("version = 1\n");
    let add = ["lock", "add", "dist", &url, "--license", "MIT"];
    let stalled = world.command(&add).env("STRATA_STALL_SECONDS", "0.1").output().expect("runs");
    let run = world.ended(stalled).exits(4);
    assert!(run.stderr.contains("stalled: nothing came for"), "{}", run.stderr);

    let waiting = world.start(&add);
    (0..7).for_each(|_| server.wait_for_stall());
    let process = waiting.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &process]).status().expect("kill").success());
    world.ended(waiting.wait_with_output().expect("ends")).exits(130);
    assert_eq!(std::fs::read_to_string(world.path("toolchains.lock")).expect("lock"), "version = 1\n");

    // Broken once, it is continued.
    let url = server.offer_with("dist-10.0.1.tar.gz", &archive, &[Fault::Cut(half)]);
    let before = server.sent();
    world.run(&["lock", "add", "dist", &url, "--license", "MIT"]).exits(0);
    assert_eq!(server.sent() - before, archive.len() as u64, "no byte twice");
}

#[test]
fn an_interrupted_client_of_a_registry_is_no_trouble_of_the_network() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with_lock("version = 1\n");
    // As at a terminal, Ctrl-C reaches both; pip dies of it with words of its own.
    let pip = "#!/bin/sh\ncase \"$*\" in *--version) exit 0 ;; esac\nkill -INT $PPID\nsleep 1\nexit 1\n";
    world.write("bin/python3", pip);
    std::fs::set_permissions(world.path("bin/python3"), std::fs::Permissions::from_mode(0o755))
        .expect("chmod");
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").expect("PATH"));
    let mut command = world.command(&["lock", "add", "ninja", "pip:ninja==1.13.0", "--license", "MIT"]);
    let run = world.ended(command.env("PATH", path).output().expect("runs")).exits(130);
    assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
}

#[test]
fn the_lock_of_the_workspace_is_well_formed() {
    let world = World::with_lock(
        &std::fs::read_to_string(crate::support::workspace_root().join("toolchains.lock")).expect("the lock"),
    );
    let run = world.run(&["lock", "check", "--offline"]).exits(0);
    assert!(run.stdout.starts_with("ok  "), "{}", run.stdout);
    world.run(&["lock", "check", "--offline", "--online"]).exits(2);
}
