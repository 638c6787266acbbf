#!/bin/sh
# Fuzzes with the stable compiler: coverage comes from LLVM's own pass. Without sanitizers, which safe Rust does not miss.
# usage: run.sh gguf|http [SECONDS]
set -eu
cd "$(dirname "$0")"
target=$1
seconds=${2:-300}
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks"
export RUSTFLAGS
# A target by name, so that build scripts are compiled without these flags. What is found goes to a folder of its own; the corpus that is checked in is read only.
found=target/found/$target
mkdir -p "$found"
exec cargo run --release --target "$(rustc -vV | sed -n 's/^host: //p')" --bin "$target" -- \
    "$found" "corpus/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048
