//! A workspace anywhere, and an environment of any size.

use crate::built::HOST;
use crate::flow::{bootstrapped, built, code_object, with};
use crate::support::World;
use crate::wine::{text, windows};
use crate::world::{ALL, WRAPPED, engine, world, xtask};

/// Names that cmd.exe and batch files take apart.
const NAME: &str = "a b & c ^ d % e (f) ü 漢";

pub(crate) fn any_folder_and_a_path_of_9000_characters_give_the_same_kernels() {
    let (origin, _server) = world(HOST, WRAPPED, ALL);
    let odd = World::at(origin.path(NAME));
    engine(&odd, "[]");
    odd.write("toolchains.lock", &std::fs::read_to_string(origin.path("toolchains.lock")).expect("lock"));
    let long_path = r"C:\nowhere\that (x86) & is;".repeat(340);
    assert!(long_path.len() > 9_000);
    let store = windows(&bootstrapped().path("store"));
    let mut command = xtask(&odd, &with(&["build", "--targets", "gfx1100"]));
    let path = format!("{};{long_path}", windows(crate::cargo::folder()));
    let output = command.args(["--store", &store]).env("WINEPATH", path).output().expect("Wine starts");
    assert!(output.status.success(), "{}", text(&output));
    let read = |world: &World| std::fs::read(code_object(world.root(), HOST, "gfx1100", "matrix"));
    assert!(read(&odd).expect("a code object") == read(built()).expect("a code object"));
}
