//! Signatures: made with a key from the environment or a file, checked with the public one.

use crate::support::{HOST, World, dist, names, rocm_world};
use minisign::KeyPair;
use std::os::unix::fs::PermissionsExt;

fn keys() -> (String, String) {
    let pair = KeyPair::generate_unencrypted_keypair().expect("keys");
    (pair.sk.to_box(None).expect("boxed").to_string(), pair.pk.to_base64())
}

fn zip() -> String {
    format!("dist/strata-0.1.0-{HOST}-gfx1201.zip")
}

fn signed_with(world: &World, variable: &str, value: &str) -> i32 {
    let mut command = world.command(&["dist", "--toolchain", "t", "--targets", "gfx1201"]);
    let output =
        command.env(variable, value).env("SOURCE_DATE_EPOCH", "1700000000").output().expect("starts");
    world.ended(output).code.expect("a code")
}

#[test]
fn a_signed_release_is_verified_and_a_changed_one_is_refused() {
    let world = rocm_world();
    let (secret, public) = keys();
    let verify = |code: i32, key: &str, path: &str| world.run(&["verify", path, "--pubkey", key]).exits(code);

    dist(&world, &["--targets", "gfx1201"]).exits(0);
    let run = verify(3, &public, &zip());
    assert!(
        run.stderr.contains("SHA256SUMS.minisig` is missing: nothing says who made this release"),
        "{}",
        run.stderr
    );

    assert_eq!(signed_with(&world, "STRATA_MINISIGN_KEY", &secret), 0);
    let run = verify(0, &public, &zip());
    assert!(run.stdout.contains(", signed)"), "{}", run.stdout);
    assert!(verify(0, &public, "dist/SHA256SUMS").stdout.contains("signed: strata 0.1.0"));
    // From a file too.
    std::fs::remove_file(world.path("dist/SHA256SUMS.minisig")).expect("signed");
    world.write("key", &secret);
    world.write("strata.pub", &format!("untrusted comment: minisign public key\n{public}\n"));
    assert_eq!(signed_with(&world, "STRATA_MINISIGN_KEY_FILE", "key"), 0);
    verify(0, &world.path("strata.pub").display().to_string(), &zip());
    // The key is nowhere but where we put it.
    let found = std::process::Command::new("grep")
        .args(["-rlF", secret.lines().nth(1).expect("the key")])
        .arg(world.root())
        .output();
    let found = String::from_utf8(found.expect("grep").stdout).expect("names");
    assert_eq!(found.trim(), world.path("key").display().to_string());

    let (_, other) = keys();
    assert!(verify(3, &other, &zip()).stderr.contains("was not made with this key over this SHA256SUMS"));
    assert!(verify(2, "rubbish", &zip()).stderr.contains("`rubbish` is no public key of minisign"));
    let sums = std::fs::read_to_string(world.path("dist/SHA256SUMS")).expect("sums");
    std::fs::write(world.path("dist/other.zip"), b"").expect("write");
    assert!(verify(3, &public, "dist/other.zip").stderr.contains("SHA256SUMS` does not list `other.zip`"));
    world.write("dist/SHA256SUMS", &sums.replace("provenance", "Provenance"));
    assert!(verify(3, &public, &zip()).stderr.contains("was not made with this key over this SHA256SUMS"));
    world.write("dist/SHA256SUMS", &sums);
    let mut changed = std::fs::read(world.path(&zip())).expect("reads");
    let last = changed.len() - 1;
    changed[last] ^= 1;
    std::fs::write(world.path(&zip()), changed).expect("write");
    verify(3, &public, &zip());
}

#[test]
fn a_key_that_cannot_be_used_stops_a_release_before_it_is_packed() {
    let world = rocm_world();
    assert_eq!(signed_with(&world, "STRATA_MINISIGN_KEY", "rubbish"), 2);
    // Before artifacts are taken over, and before a toolchain is brought.
    for arguments in [&["dist", "--merge", "nowhere"][..], &["release"]] {
        let arguments = [arguments, &["--toolchain", "t", "--sign-key", "nowhere"]].concat();
        let run = world.run(&arguments).exits(1);
        assert!(run.stderr.contains("failed to read `nowhere`"), "{}", run.stderr);
    }
    assert_eq!(names(&world.path("dist")), Vec::<String>::new());
}

#[test]
fn the_hook_for_authenticode_signs_copies_of_our_programs() {
    let world = rocm_world();
    let pe = b"MZ our own library";
    let device = crate::support::device();
    crate::support::artifact(
        world.root(),
        "gfx1201",
        &[("strata-device", device, true), ("own.dll", pe, false)],
        |_| {},
    );
    let hook = |text: &str| {
        world.write("sign.sh", text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path("sign.sh"), mode).expect("chmod");
        dist(&world, &["--targets", "gfx1201", "--sign-command", "./sign.sh"])
    };
    let run = hook("#!/bin/sh\necho no certificate; exit 1\n").exits(1);
    assert!(
        run.stderr.contains("did not sign `own.dll` (exit status: 1):\nno certificate"),
        "{}",
        run.stderr
    );
    assert_eq!(names(&world.path("dist")), Vec::<String>::new());
    hook("#!/bin/sh\necho \"$1\" >> ran; printf signed >> \"$1\"\n").exits(0);
    let ran = std::fs::read_to_string(world.path("ran")).expect("the hook ran");
    assert_eq!(ran.lines().count(), 1);
    dist(&world, &["--targets", "gfx1201", "--sign-command", "./sign.sh", "--dry-run"]).exits(0);
    assert_eq!(std::fs::read_to_string(world.path("ran")).expect("reads"), ran, "a preview signs nothing");
    let file = std::fs::File::open(world.path(&zip())).expect("opens");
    let mut zip = zip::ZipArchive::new(file).expect("a zip");
    let mut member = zip.by_name(&format!("strata-0.1.0-{HOST}-gfx1201/own.dll")).expect("packed");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut member, &mut text).expect("reads");
    assert_eq!(text, "MZ our own librarysigned");
    let kept =
        std::fs::read(world.path(&format!("artifacts/0.1.0/{HOST}/engine/gfx1201/own.dll"))).expect("reads");
    assert_eq!(kept, pe, "the artifact was changed");
}
