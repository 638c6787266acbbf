//! What `--help` ends with: commands to copy. A test parses every one.

pub(super) const ALL: &str = "\
Examples:
  cargo xtask release --targets gfx1100,gfx1201     from nothing to two checked zips
  cargo xtask doctor                                what this machine has and lacks
  cargo xtask doctor --explain F08                  what an error's code means

Exit codes: 0 done, 1 failed, 2 usage, 3 a hash or the lock does not match, 4 network, 5 no space,
6 a prerequisite is missing, 101 a defect of xtask, 130 interrupted";

pub(super) const BOOTSTRAP: &str = "\
Examples:
  cargo xtask bootstrap --dry-run                   what would be downloaded
  cargo xtask bootstrap --toolchain lite
  cargo xtask bootstrap --offline --mirror /media/usb";

pub(super) const BUILD: &str = "\
Examples:
  cargo xtask build --targets gfx1201
  cargo xtask build --targets gfx110X-all --component engine --jobs 4
  cargo xtask build --targets all --dry-run         what would be built, and why";

pub(super) const DIST: &str = "\
Examples:
  cargo xtask dist --targets gfx1100,gfx1201
  cargo xtask dist --targets gfx1201 --tar --out out
  cargo xtask dist --check --targets gfx1201        two builds, compared byte by byte";

pub(super) const RELEASE: &str = "\
Examples:
  cargo xtask release --toolchain lite --targets gfx1100,gfx1201
  cargo xtask release --targets native              for the cards of this machine
  cargo xtask release --offline --mirror /media/usb";

pub(super) const DOCTOR: &str = "\
Examples:
  cargo xtask doctor
  cargo xtask doctor --format json
  cargo xtask doctor --explain F08
  cargo xtask doctor --explain all";

pub(super) const VERIFY: &str = "\
Examples:
  cargo xtask verify                                every entry of the store
  cargo xtask verify dist/strata-0.1.0-x86_64-unknown-linux-gnu-gfx1201.zip
  cargo xtask verify --pubkey strata.pub dist/strata-0.1.0-x86_64-unknown-linux-gnu-gfx1201.zip";

pub(super) const LOCK: &str = "\
Examples:
  cargo xtask lock show
  cargo xtask lock check --online
  cargo xtask lock add --help
  cargo xtask lock update hip-headers --dry-run";

pub(super) const MIRROR: &str = "\
Examples:
  cargo xtask mirror --out /media/usb               here, with a network
  cargo xtask bootstrap --offline --mirror /media/usb
                                                    there, without one";

pub(super) const STORE: &str = "\
Examples:
  cargo xtask store list
  cargo xtask store verify --repair
  cargo xtask store gc --older-than 30 --dry-run";

pub(super) const ENV: &str = "\
Examples:
  eval \"$(cargo xtask env --for bash)\"              bash, zsh
  cargo xtask env --for fish | source
  cargo xtask env --for powershell | Out-String | Invoke-Expression
  cargo xtask env --for cmake-presets --write       CMakeUserPresets.json for an IDE";

pub(super) const COMPLETIONS: &str = "\
Examples:
  cargo xtask completions bash > ~/.local/share/bash-completion/completions/xtask
  cargo xtask completions fish > ~/.config/fish/completions/xtask.fish
  cargo xtask completions powershell >> $PROFILE";

pub(super) const MAN: &str = "\
Examples:
  cargo xtask man --out man/man1
  man -l man/man1/cargo-xtask-build.1";

pub(super) const CHECKLIST: &str = "\
Examples:
  cargo xtask checklist
  cargo xtask checklist --tag v0.1.0";
