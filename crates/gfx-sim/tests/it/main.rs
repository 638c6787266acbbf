//! The interpreter against plain Rust arithmetic and against faults that were put in, on code that llvm-mc assembles.

mod assemble;
mod classes;
mod lanes;
mod matrix;
mod sanitizer;
mod sequences;
mod storage;
mod toolchain;
