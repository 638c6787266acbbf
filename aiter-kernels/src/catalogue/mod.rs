//! The kernels there are: one table that the build, the launcher and the tests are derived from.
//!
//! The build reads it as the files of [`native_files`]: the CMake list, and for attention the sources that name the instances. A test keeps
//! them equal (`UPDATE_KERNELS=1 cargo test -p aiter-kernels` writes them anew).

mod cmake;
mod docs;
mod gate;
mod instance;
mod operation;
mod table;

pub use cmake::native_files;
pub use docs::documentation;
pub use gate::{expected, expected_on, mismatches};
pub use instance::{ArgumentBlock, Attention, Budget, Exception, Instance, Mode, Tile};
pub use operation::{DataType, Operation};
pub use table::{EXCEPTIONS, INSTANCES};

use gfx::Wmma;

/// The instances of an operation that a target with these matrix instructions has.
pub fn instances(operation: Operation, wmma: Wmma) -> impl Iterator<Item = &'static Instance> {
    INSTANCES.iter().filter(move |i| i.operation == operation && i.budget(wmma).is_some())
}

/// The names of the code objects, sorted, each once; a file is called `<name>.co`.
pub fn code_objects() -> Vec<&'static str> {
    let mut names: Vec<_> = INSTANCES.iter().map(|i| i.code_object).collect();
    names.sort_unstable();
    names.dedup();
    names
}
