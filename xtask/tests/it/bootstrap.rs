//! Bootstrap against a local server: what is installed, and what is left when something goes wrong.

use crate::support::{
    BOOTSTRAP, Fault, Member, OTHER_HASH, Server, World, dist_members, lock, lock_of, sha256, tar_gz,
    with_a_source_that_is_gone,
};
use std::process::Command;

#[test]
fn every_known_layout_is_installed_and_the_second_run_does_nothing() {
    for prefix in ["", "./", "therock-dist-linux-gfx1151-7.14.0rc3/"] {
        let server = Server::start();
        let archive = tar_gz(prefix, &dist_members());
        let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
        world.run(&BOOTSTRAP).exits(0);
        let entry = sha256(&archive)[..16].to_owned();
        assert_eq!(world.store(), (vec![entry.clone()], vec![]), "{prefix}");
        let root = prefix.trim_start_matches("./");
        let clang = world.path(&format!("store/{entry}/tree/{root}lib/llvm/bin/clang++"));
        assert_eq!(std::fs::read_to_string(clang).expect("a link to clang"), "lib/llvm/bin/clang");

        let second = world.run(&BOOTSTRAP).exits(0);
        assert!(second.stderr.contains("nothing to download"), "{}", second.stderr);
        assert_eq!(server.request_count(), 1);
        world.run(&["verify"]).exits(0);
    }
}

#[test]
fn installed_trees_are_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&BOOTSTRAP).exits(0);
    let tree = world.path(&format!("store/{}/tree", &sha256(&archive)[..16]));
    for (name, mode) in [("lib/llvm/bin/clang", 0o555), ("include/hip/hip_version.h", 0o444), ("lib", 0o555)]
    {
        let found = std::fs::metadata(tree.join(name)).expect(name).permissions().mode() & 0o777;
        assert_eq!(found, mode, "{name}");
    }
}

/// Each fault with its exit code; the store stays empty and the message is the snapshot.
#[test]
fn what_is_not_what_the_lock_says_is_not_installed() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let (hash, size) = (sha256(&archive), archive.len());
    let good = server.offer("dist.tar.gz", &archive, Fault::None);
    let page = server.offer("page.tar.gz", &archive, Fault::Page);
    let cut = server.offer("cut.tar.gz", &archive, Fault::Cut(1000));
    let gone = server.offer("gone.tar.gz", b"", Fault::Status(403));
    let incomplete = tar_gz("", &dist_members()[..5]);
    let incomplete_url = server.offer("incomplete.tar.gz", &incomplete, Fault::None);
    let hostile = tar_gz("", &[Member::Link("lib/x".into(), "../../etc".into())]);
    let hostile_url = server.offer("hostile.tar.gz", &hostile, Fault::None);
    let garbage = b"this is no gzip stream at all".to_vec();
    let garbage_url = server.offer("garbage.tar.gz", &garbage, Fault::None);
    let mut messages = Vec::new();
    for (name, lock, code) in [
        ("another hash", lock(&[(&good, OTHER_HASH, Some(size))]), 3),
        ("another hash, no size", lock(&[(&good, OTHER_HASH, None)]), 3),
        ("another size", lock(&[(&good, &hash, Some(size + 1))]), 3),
        ("a web page of the right size", lock(&[(&page, &hash, Some(size))]), 4),
        ("cut in the middle", lock(&[(&cut, &hash, Some(size))]), 4),
        ("gone", lock(&[(&gone, &hash, Some(size))]), 4),
        ("two sources, both bad", lock(&[(&gone, &hash, Some(size)), (&good, OTHER_HASH, Some(size))]), 3),
        ("pieces missing", lock(&[(&incomplete_url, &sha256(&incomplete), None)]), 1),
        ("a link that leaves the tree", lock(&[(&hostile_url, &sha256(&hostile), None)]), 1),
        ("no archive", lock(&[(&garbage_url, &sha256(&garbage), None)]), 1),
    ] {
        let world = World::with_lock(&lock);
        let run = world.run(&BOOTSTRAP);
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
        assert_eq!(world.store(), (vec![], vec![]), "{name}");
        messages.push(format!("# {name}\n{}", run.stderr));
    }
    let port = good.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("a port").to_owned();
    insta::with_settings!({filters => vec![
        (port.as_str(), "[PORT]"),
        (r"[0-9a-f]{64}", "[SHA256]"),
        (r"\b\d{4,7}\b", "[N]"),
        (r"in \d+ ms", "in [TIME]"),
    ]}, {
        insta::assert_snapshot!(messages.join("\n"));
    });
}

#[test]
fn the_next_source_is_used_when_one_fails() {
    let (_server, world) = with_a_source_that_is_gone();
    let run = world.run(&BOOTSTRAP).exits(0);
    assert!(run.stderr.contains("answered 404; trying the next source"), "{}", run.stderr);
}

#[test]
fn ctrl_c_leaves_the_store_as_it_was_and_the_next_run_completes() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::Stall(archive.len() / 2)));
    let child = world.start(&BOOTSTRAP);
    server.wait_for_stall();
    signal(child.id(), "INT");
    let run = world.ended(child.wait_with_output().expect("xtask ends")).exits(130);
    assert_eq!(run.stderr, "error[S08]: interrupted\n");
    assert_eq!(world.store(), (vec![], vec![]));
    server.offer("dist.tar.gz", &archive, Fault::None);
    world.run(&BOOTSTRAP).exits(0);
}

#[test]
fn a_killed_bootstrap_does_no_harm() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::Stall(archive.len() / 2)));
    let mut child = world.start(&BOOTSTRAP);
    server.wait_for_stall();
    child.kill().expect("kill");
    child.wait().expect("xtask ends");
    assert_eq!(world.store().0, Vec::<String>::new());
    server.offer("dist.tar.gz", &archive, Fault::None);
    world.run(&BOOTSTRAP).exits(0);
    assert_eq!(world.store(), (vec![sha256(&archive)[..16].to_owned()], vec![]));
}

#[test]
fn eight_at_once_download_once() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    let children: Vec<_> = (0..8).map(|_| world.start(&BOOTSTRAP)).collect();
    for child in children {
        world.ended(child.wait_with_output().expect("xtask ends")).exits(0);
    }
    assert_eq!(server.request_count(), 1);
    assert_eq!(world.store().0.len(), 1);
}

#[test]
fn a_changed_file_of_the_store_is_named() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&BOOTSTRAP).exits(0);
    let file = world.path(&format!("store/{}/tree/include/hip/hip_version.h", &sha256(&archive)[..16]));
    std::fs::remove_file(&file).or_else(|_| make_writable_and_remove(&file)).expect("remove");
    std::fs::write(&file, "include/hip/hip_versioN.h").expect("write");
    let run = world.run(&["verify"]).exits(3);
    assert!(run.stderr.contains("changed  include/hip/hip_version.h: expected 25 bytes"), "{}", run.stderr);
}

fn make_writable_and_remove(file: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = file.parent().expect("parent");
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))?;
    std::fs::remove_file(file)
}

#[test]
fn a_store_that_cannot_be_written_is_said() {
    let server = Server::start();
    let world = World::with_lock(&lock_of(&server, &tar_gz("", &dist_members()), Fault::None));
    world.write("file", "no folder");
    let run = world.run(&["bootstrap", "--toolchain", "t", "--store", "file/store"]).exits(1);
    insta::with_settings!({filters => vec![("[0-9a-f]{16}", "[KEY]")]}, {
        insta::assert_snapshot!(run.stderr, @r"
    error[M01]: failed to read `[ROOT]/file/store/[KEY]/receipt.json`
    caused by: Not a directory (os error 20)

    hint: check that the store can be written, or choose another with --store DIR
    ");
    });
    assert_eq!(server.request_count(), 0);
}

fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status();
    assert!(status.expect("kill").success());
}

#[test]
fn a_broken_entry_is_fetched_again_by_repair() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&BOOTSTRAP).exits(0);
    let header = world.path(&format!("store/{}/tree/include/hip/hip_version.h", &sha256(&archive)[..16]));
    let verify = |more: &[&str]| world.run(&[&["store", "verify", "--toolchain", "t"], more].concat());
    assert_eq!(verify(&["--quick"]).exits(0).stdout.matches("ok  ").count(), 1);
    make_writable_and_remove(&header).expect("remove");
    for more in [&[][..], &["--quick"]] {
        let run = verify(more).exits(3);
        assert!(run.stderr.contains("missing  include/hip/hip_version.h"), "{}", run.stderr);
    }
    // Of the same size: only its time and its content tell.
    std::fs::write(&header, "include/hip/hip_versioN.h").expect("write");
    assert!(verify(&["--quick"]).exits(3).stderr.contains("no write since it was unpacked"));
    verify(&["--repair"]).exits(0);
    verify(&[]).exits(0);
    assert_eq!(server.request_count(), 2);
    assert_eq!(world.store().1, Vec::<String>::new());
}

/// A world with the entries of two toolchains, `t` and `other`.
fn two_toolchains() -> (Server, World, [Vec<u8>; 2]) {
    let server = Server::start();
    let archives = [tar_gz("", &dist_members()), tar_gz("wrapped/", &dist_members())];
    let urls =
        [("dist.tar.gz", 0), ("other.tar.gz", 1)].map(|(n, i)| server.offer(n, &archives[i], Fault::None));
    let text = |i: usize| lock(&[(&urls[i], &sha256(&archives[i]), Some(archives[i].len()))]);
    let rename = |text: String| {
        let text = text.replace("version = 1\n", "").replace("name = \"t\"", "name = \"other\"");
        text.replace("\"dist\"", "\"other-dist\"")
    };
    let world = World::with_lock(&format!("{}{}", text(0), rename(text(1))));
    for toolchain in ["t", "other"] {
        world.run(&["bootstrap", "--toolchain", toolchain]).exits(0);
    }
    (server, world, archives)
}

#[test]
fn repair_brings_back_what_any_toolchain_uses_and_takes_nothing_away_before() {
    let (server, world, archives) = two_toolchains();
    let entries = archives.each_ref().map(|archive| sha256(archive)[..16].to_owned());
    for (entry, root) in [(&entries[0], ""), (&entries[1], "wrapped/")] {
        let header = world.path(&format!("store/{entry}/tree/{root}include/hip/hip_version.h"));
        make_writable_and_remove(&header).expect("remove");
    }
    let receipt = format!("store/{}/receipt.json", entries[1]);
    std::fs::remove_file(world.path(&receipt)).expect("remove");
    for more in [&[][..], &["--quick"]] {
        let run = world.run(&[&["store", "verify"], more].concat()).exits(3);
        assert!(run.stderr.contains(&entries[0]) && run.stderr.contains(&entries[1]), "{}", run.stderr);
    }
    // Nothing can be fetched: what there is stays.
    let repair = ["store", "verify", "--repair"];
    world.run(&[&repair[..], &["--offline"]].concat()).exits(4);
    assert_eq!(world.store().0.len(), 2);
    // From a mirror; each entry of whichever toolchain, with a receipt and without.
    let asked = server.request_count();
    for archive in &archives {
        let place = world.path(&format!("mirror/{}", sha256(archive)));
        std::fs::create_dir_all(&place).expect("folder");
        std::fs::write(place.join("dist.tar.gz"), archive).expect("write");
    }
    let run = world.run(&[&repair[..], &["--offline", "--mirror", "mirror"]].concat()).exits(0);
    assert_eq!(run.stdout.matches("fetched again").count(), 2, "{}", run.stdout);
    assert_eq!(server.request_count(), asked);
    world.run(&["store", "verify"]).exits(0);
}

#[test]
fn every_entry_is_listed_whoever_uses_it_and_however_damaged() {
    let (_server, world, archives) = two_toolchains();
    let entries = archives.each_ref().map(|archive| sha256(archive)[..16].to_owned());
    let text = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    let alone = text.split("[[toolchain]]").take(2).collect::<Vec<_>>().join("[[toolchain]]");
    world.write("toolchains.lock", &alone);
    let receipt = world.path(&format!("store/{}/receipt.json", entries[0]));
    std::fs::write(&receipt, "{").expect("write");
    let listed = world.run(&["store", "list"]).exits(0).stdout;
    assert!(listed.contains(&format!("{}  damaged: ", entries[0])), "{listed}");
    let line = listed.lines().find(|line| line.starts_with(&entries[1])).expect("listed");
    assert!(line.ends_with("files  no toolchain of the lock"), "{listed}");
    let damaged = world.run(&BOOTSTRAP).exits(3);
    assert!(damaged.stderr.contains("hint: cargo xtask store verify --repair"), "{}", damaged.stderr);
}

#[test]
fn gc_removes_what_no_toolchain_uses() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let world = World::with_lock(&lock_of(&server, &archive, Fault::None));
    world.run(&BOOTSTRAP).exits(0);
    world.write("store/staging/0123456789abcdef/half/made", "by a process that died");
    let dry = world.run(&["store", "gc", "--dry-run"]).exits(0);
    assert!(dry.stdout.contains("left by a process that died"), "{}", dry.stdout);
    assert_eq!(world.store().1.len(), 1);
    assert!(!world.path("store/locks/0123456789abcdef.lock").exists(), "a dry run writes nothing");
    // While somebody makes it, it is nobody's garbage.
    world.write("store/locks/0123456789abcdef.lock", "");
    let maker = std::fs::File::open(world.path("store/locks/0123456789abcdef.lock")).expect("opens");
    maker.lock().expect("locks");
    world.run(&["store", "gc"]).exits(0);
    assert_eq!(world.store().1.len(), 1);
    drop(maker);
    // What is kept of downloads: one of the lock, one that is under way, one that nobody goes on with.
    world.keep_partial(&sha256(&archive), b"x");
    world.keep_partial(&"1".repeat(64), b"x");
    world.keep_partial(&"2".repeat(64), b"x");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(2 * 86_400);
    for name in [&sha256(&archive)[..16], "2222222222222222"] {
        let part =
            std::fs::File::options().write(true).open(world.path(&format!("store/partials/{name}.part")));
        part.and_then(|part| part.set_modified(old)).expect("an old file");
    }
    let run = world.run(&["store", "gc", "--format", "json"]).exits(0);
    let event: serde_json::Value = serde_json::from_str(run.stdout.trim()).expect("JSON");
    let items = event["result"]["items"].as_array().expect("items").iter();
    let names: Vec<&str> = items.filter_map(|item| item["name"].as_str()).collect();
    assert_eq!(names, ["partials/2222222222222222.part", "staging/0123456789abcdef"]);
    assert_eq!(world.partials().len(), 2, "{:?}", world.partials());
    assert_eq!((world.store().0.len(), world.store().1.len()), (1, 0), "what is used stays");
    world.write("toolchains.lock", "version = 1\n");
    world.run(&["store", "gc", "--keep", "1"]).exits(0);
    assert_eq!(world.store().0.len(), 1);
    world.run(&["store", "gc"]).exits(0);
    assert_eq!(world.store(), (vec![], vec![]));
}

/// A toolchain of one Debian package at a version that no mirror has.
fn deb_lock() -> String {
    format!(
        r#"version = 1
[[toolchain]]
name = "t"
host = "x86_64-unknown-linux-gnu"
rocm = "1"
targets = []
packages = ["edit"]
[[package]]
name = "edit"
version = "1"
license = "BSD-3-Clause"
provides = []
[[package.source]]
channel = "deb"
[[package.source.archive]]
name = "libedit2"
version = "0.1-1"
suite = "bookworm"
file = "libedit2_0.1-1_amd64.deb"
sha256 = "{OTHER_HASH}"
"#
    )
}

#[test]
fn a_version_that_left_the_mirror_is_said_with_the_newer_one() {
    let world = World::with_lock(&deb_lock());
    let run = world.run(&BOOTSTRAP).exits(4);
    assert!(
        run.stderr.contains("the mirror's suite `bookworm` no longer has libedit2 0.1-1, it has 3.1-"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("hint: measure the package again to take 3.1-"), "{}", run.stderr);
    assert_eq!(world.store(), (vec![], vec![]));
}

#[test]
fn a_debian_mirror_that_does_not_answer_is_no_mirror_without_the_package() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("address");
    let world = World::with_lock(&deb_lock());
    let mut command = world.command(&BOOTSTRAP);
    command.env("STRATA_DEBIAN_MIRROR", format!("http://user:SECRET@{closed}/debian"));
    let run = world.ended(command.output().expect("xtask")).exits(4);
    assert!(run.stderr.contains("apt-get update failed"), "{}", run.stderr);
    assert!(!run.stderr.contains("SECRET"), "{}", run.stderr);
}

#[test]
fn a_dist_that_tells_another_release_than_the_lock_is_not_installed() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let text = lock_of(&server, &archive, Fault::None);
    let world = World::with_lock(&text.replace("version = \"10.0.0\"", "version = \"10.1.0\""));
    let run = world.run(&BOOTSTRAP).exits(3);
    assert!(
        run.stderr.contains("dist says in `.info/version` that it is 10.0.0, the lock says 10.1.0"),
        "{}",
        run.stderr
    );
    assert_eq!(world.store(), (vec![], vec![]));
}

#[test]
fn who_waits_is_told_for_whom_since_when() {
    let server = Server::start();
    let archive = tar_gz("", &dist_members());
    let url = server.offer_with("dist.tar.gz", &archive, &[Fault::Stall(archive.len() / 2)]);
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    let mut first = world.start(&BOOTSTRAP);
    server.wait_for_stall();
    let mut second = world.start(&BOOTSTRAP);
    let mut words = String::new();
    let mut said = second.stderr.take().expect("stderr");
    while !words.contains("which is installing dist") {
        let mut byte = [0];
        assert!(std::io::Read::read(&mut said, &mut byte).expect("reads") > 0, "{words}");
        words.push(byte[0].into());
    }
    let expected = format!("waiting for process {} on ", first.id());
    assert!(words.contains(&expected) && words.contains(" since 20"), "{words}");
    first.kill().expect("kill");
    first.wait().expect("ends");
    assert!(second.wait().expect("ends").success(), "the lock of a dead process holds nobody up");
    assert_eq!(world.store().1, Vec::<String>::new());
}
