//! Versions as programs and folders write them.

/// `14.44.35207` as numbers, so that 14.9 is older than 14.44; what is no number counts as 0.
pub(super) fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// The names of the folders in `folder` that are versions, the newest first.
pub(super) fn folders_by_version(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
    let mut versions: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
        .collect();
    versions.sort_by_key(|version| std::cmp::Reverse(numbers(version)));
    versions
}
