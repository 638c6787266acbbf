#!/bin/sh
# Installs what the two commands of the README need beside Rust, on Debian and its relatives: compilers for C and C++, git, libcurl, Debian's keyring, and
# python3 with pip (whose index carries Composable Kernel). Does nothing where they are there. Everything else is downloaded, verified and kept in the store by xtask.
#
# With --windows also what makes Windows programs on Linux and runs them: mingw-w64, Wine, and a Rust with the standard library for
# x86_64-pc-windows-gnu where the machine's own has none.
#
# With --tools also what checks this workspace's habits: zsh and fish for completions, and in target/tools mdbook, cargo-deny, cargo-machete and
# typos, which cargo and pip compile or download. One that cannot be had is said, and its check counts as ignored.
set -eu

windows="" tools="" missing=""
for option; do
  case "$option" in
    --windows) windows=yes ;;
    --tools) tools=yes ;;
    *) echo "prerequisites.sh: \`$option\` is neither --windows nor --tools" >&2; exit 2 ;;
  esac
done
# For the tests: LLVM's disassembler, which the kernel checks use, is linked against it.
PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | grep -q "libcurl\.so\.4 " || missing="$missing libcurl4"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
# For the tests: the C++ example of docs/interfaces.md is compiled and run.
command -v c++ >/dev/null 2>&1 || missing="$missing g++"
command -v git >/dev/null 2>&1 || missing="$missing git"
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
# What apt believes Debian's mirrors by; Ubuntu has it as a package only.
if command -v apt-get >/dev/null 2>&1 && [ ! -e /usr/share/keyrings/debian-archive-keyring.gpg ]; then
  missing="$missing debian-archive-keyring"
fi
if [ -n "$tools" ]; then
  command -v zsh >/dev/null 2>&1 || missing="$missing zsh"
  command -v fish >/dev/null 2>&1 || missing="$missing fish"
fi
if [ -n "$windows" ]; then
  command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1 || missing="$missing gcc-mingw-w64-x86-64-win32"
  command -v wine64 >/dev/null 2>&1 || [ -x /usr/lib/wine/wine64 ] || missing="$missing wine64"
  # Debian's Rust for its browsers: its sources give the standard library for Windows.
  [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/x86_64-pc-windows-gnu" ] ||
    [ -d /usr/lib/rustlib/src/rust/library ] || missing="$missing rustc-web cargo-web rust-web-src"
fi

install_missing() {
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "prerequisites.sh: install these with your system's package manager:$missing" >&2
    exit 6
  fi
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root="sudo"
  $as_root apt-get update
  # shellcheck disable=SC2086 # a list of packages
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y --no-install-recommends $missing
}
[ -z "$missing" ] || install_missing

install_tool() {
  program="$1"
  shift
  command -v "$program" >/dev/null 2>&1 || [ -x "target/tools/bin/$program" ] || [ -x "target/tools/python/bin/$program" ] && return
  "$@" >"target/tools/$program.log" 2>&1 || echo "prerequisites.sh: no $program: see target/tools/$program.log" >&2
}
if [ -n "$tools" ]; then
  cd "$(dirname "$0")"
  mkdir -p target/tools
  # Compiled once and run once: a debug build is soonest done.
  cargo_install="cargo install --quiet --debug --locked --root target/tools"
  # shellcheck disable=SC2086 # a command with its arguments
  {
    install_tool mdbook $cargo_install --no-default-features mdbook@0.5.4
    install_tool cargo-machete $cargo_install cargo-machete@0.9.2
    install_tool cargo-deny $cargo_install cargo-deny@0.20.2
  }
  install_tool typos python3 -m pip install --quiet --target target/tools/python typos==1.52.0
fi
