//! `MANIFEST.json`: every file of a release with size, hash, mode and origin.

use super::pretty;
use crate::dist::member::Member;
use serde_json::json;

/// The file's name.
pub(crate) const FILES_FILE: &str = "MANIFEST.json";

/// The list of `members`, which are sorted.
pub(crate) fn file_list(members: &[Member]) -> Vec<u8> {
    let entry = |member: &Member| {
        json!({
            "path": member.path,
            "size": member.content.size(),
            "sha256": member.digests.sha256,
            "executable": member.executable,
            "origin": member.origin.to_string(),
        })
    };
    pretty(&json!({"schema": 1, "files": members.iter().map(entry).collect::<Vec<_>>()}))
}
