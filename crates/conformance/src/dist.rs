//! Archives with the layouts that TheRock's have.

use crate::pack::gzip;

/// One member of a tar archive.
#[derive(Clone)]
pub enum Member {
    /// Path and content; programs are what lies in a `bin` folder.
    File(String, Vec<u8>),
    /// Path and target.
    Link(String, String),
}

impl Member {
    /// A file of text.
    pub fn file(path: &str, content: &str) -> Self {
        Member::File(path.to_owned(), content.as_bytes().to_vec())
    }

    /// Name, unix mode and content, as a zip has them.
    pub(crate) fn for_zip(self) -> (String, u32, Vec<u8>) {
        match self {
            Member::File(path, content) => (path, 0o644, content),
            Member::Link(path, target) => (path, 0o120_777, target.into_bytes()),
        }
    }

    fn below(&self, prefix: &str) -> Self {
        match self {
            Member::File(path, content) => Member::File(format!("{prefix}{path}"), content.clone()),
            Member::Link(path, target) => Member::Link(format!("{prefix}{path}"), target.clone()),
        }
    }
}

/// The pieces of a Linux dist that the layout gate looks for, for gfx1100 and gfx1201 (facts/therock.md 3.3).
pub fn dist_members() -> Vec<Member> {
    let mut members: Vec<Member> = [
        "include/hip/hip_runtime.h",
        "include/hip/hip_version.h",
        "lib/llvm/amdgcn/bitcode/oclc_abi_version_600.bc",
        "lib/llvm/amdgcn/bitcode/oclc_isa_version_1100.bc",
        "lib/llvm/amdgcn/bitcode/oclc_isa_version_1201.bc",
        "lib/llvm/amdgcn/bitcode/ockl.bc",
        "lib/llvm/amdgcn/bitcode/ocml.bc",
        "lib/llvm/bin/clang",
        "lib/llvm/bin/lld",
        "lib/llvm/lib/clang/23/include/__clang_hip_runtime_wrapper.h",
    ]
    .map(|path| Member::file(path, path))
    .into();
    members.push(Member::file(".info/version", "10.0.0\n"));
    members.push(Member::Link("lib/llvm/bin/clang++".into(), "clang".into()));
    members.push(Member::Link("llvm".into(), "lib/llvm".into()));
    // Bytes that do not compress, so that a transfer can be cut in the middle of them.
    let noise = (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    members.push(Member::File("lib/libamdhip64.so.7".into(), noise));
    members
}

/// A dist of about `megabytes` that does not compress, so that a transfer can be cut anywhere.
pub fn large_tar_gz(megabytes: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut members = dist_members();
    members.push(Member::File("lib/big".into(), (0..megabytes << 20).map(|_| noise()).collect()));
    tar_gz("", &members)
}

/// `members` below `prefix`, as a tar.gz.
pub fn tar_gz(prefix: &str, members: &[Member]) -> Vec<u8> {
    gzip(&tar(prefix, members))
}

/// `members` below `prefix`, as a tar.
pub fn tar(prefix: &str, members: &[Member]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for member in members.iter().map(|member| member.below(prefix)) {
        let mut header = tar::Header::new_gnu();
        match member {
            Member::File(path, content) => {
                header.set_size(content.len() as u64);
                header.set_mode(if path.contains("/bin/") { 0o755 } else { 0o644 });
                builder.append_data(&mut header, path, content.as_slice()).expect("append");
            }
            Member::Link(path, target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                builder.append_link(&mut header, path, target).expect("append");
            }
        }
    }
    builder.into_inner().expect("finishes in memory")
}
