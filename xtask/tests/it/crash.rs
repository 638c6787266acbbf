//! Bootstraps that die: the store is whole after each, the next run completes, and bytes that have come are used.

use crate::support::{BOOTSTRAP, Fault, Member, Server, World, dist_members, lock_of, sha256, tar_gz};
use std::time::{Duration, Instant};

fn archive() -> Vec<u8> {
    let mut members = dist_members();
    members.extend((0..6).map(|i| Member::file(&format!("share/{i}/file"), &"text ".repeat(2000))));
    let noise = (0..1_000_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    members.push(Member::File("lib/noise".into(), noise));
    tar_gz("", &members)
}

/// Whatever is published is whole.
fn assert_whole(world: &World, when: &str) {
    let run = world.run(&["store", "verify", "--toolchain", "t"]);
    assert_eq!(run.code, Some(0), "{when}: {}", run.stderr);
}

fn assert_completes(world: &World, archive: &[u8], when: &str) {
    let run = world.run(&BOOTSTRAP);
    assert_eq!(run.code, Some(0), "{when}: {}", run.stderr);
    assert_eq!(world.store(), (vec![sha256(archive)[..16].to_owned()], vec![]), "{when}");
    assert_eq!(world.partials(), Vec::<String>::new(), "{when}");
    assert_whole(world, when);
}

#[test]
fn two_hundred_kills_at_any_moment() {
    let server = Server::start();
    let archive = archive();
    let lock = lock_of(&server, &archive, Fault::None);
    let start = Instant::now();
    World::with_lock(&lock).run(&BOOTSTRAP).exits(0);
    let whole_run = start.elapsed();
    let (mut kills, mut finished) = (0, 0);
    let mut world = World::with_lock(&lock);
    let mut state = 1u64;
    while kills < 200 {
        // A linear congruence: the same moments every time, as far as the machine keeps time.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = whole_run.mul_f64((state >> 40) as f64 / (1u64 << 24) as f64);
        let mut child = world.start(&BOOTSTRAP);
        let start = Instant::now();
        while start.elapsed() < moment.min(Duration::from_secs(5)) {
            std::thread::yield_now();
        }
        child.kill().expect("kill");
        let has_finished = child.wait().expect("xtask ends").success();
        kills += 1;
        assert_whole(&world, &format!("kill {kills} after {moment:?}"));
        if has_finished || !world.store().0.is_empty() {
            assert_completes(&world, &archive, &format!("kill {kills} after {moment:?}"));
            world = World::with_lock(&lock);
            finished += 1;
        }
    }
    assert_completes(&world, &archive, "after the last kill");
    println!("{kills} kills, {finished} stores begun anew because one was installed");
}

#[test]
fn a_crash_at_every_step_of_an_install() {
    let server = Server::start();
    let archive = archive();
    let lock = lock_of(&server, &archive, Fault::None);
    let mut steps = 0;
    loop {
        steps += 1;
        let world = World::with_lock(&lock);
        let mut command = world.command(&BOOTSTRAP);
        let status = command.env("STRATA_CRASH_AT", steps.to_string()).output().expect("xtask starts").status;
        if status.success() {
            break;
        }
        assert_eq!(status.code(), None, "ended by a signal at step {steps}");
        let when = format!("a crash at step {steps}");
        assert_whole(&world, &when);
        let sent = server.sent();
        let kept = world.partials().iter().any(|name| name.ends_with(".part"));
        assert_completes(&world, &archive, &when);
        let again = server.sent() - sent;
        assert!(again <= archive.len() as u64, "{when}: {again} bytes came again");
        assert!(kept || again > 0 || steps > 10, "{when}");
    }
    assert!(steps > 60, "only {steps} steps were seen");
    println!("{steps} steps");
}
