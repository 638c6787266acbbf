//! What `vcvars64.bat` sets up: one run of cmd.exe whose output is read between two marks.

use std::collections::BTreeMap;

/// Variables by name, as the environment of a build has them.
pub(super) type Variables = BTreeMap<String, String>;

/// Tells the script to send nothing.
pub(super) const NO_TELEMETRY: &str = "VSCMD_SKIP_SENDTELEMETRY";

const BEGIN: &str = "STRATA-ENVIRONMENT-BEGIN";
const END: &str = "STRATA-ENVIRONMENT-END";

/// The arguments of cmd.exe, to be run in the script's own folder. No path is in them: whatever characters one has, no batch file sees it. `/u` makes
/// `echo` and `set` write UTF-16, so the console's code page plays no part.
pub(super) fn arguments(script: &str, sdk: &str, toolset: &str) -> String {
    format!("/d /u /s /c \"call .\\{script} {sdk} -vcvars_ver={toolset}&& echo {BEGIN}&& set&& echo {END}\"")
}

/// The variables between the marks; `None`: the script failed before it got there. Takes UTF-16, and UTF-8 from a cmd.exe that does not know `/u`.
pub(super) fn parse(output: &[u8]) -> Option<Variables> {
    let text = decode(output);
    let (_, rest) = text.split_once(BEGIN)?;
    let (block, _) = rest.rsplit_once(END)?;
    let variable = |line: &str| {
        // `=C:=C:\folder`, the current folder of a drive, has its first sign at 0.
        let (name, value) = line.trim_end_matches('\r').split_once('=')?;
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    Some(block.lines().filter_map(variable).collect())
}

/// Text for people out of either encoding.
pub(super) fn decode(output: &[u8]) -> String {
    let mark: Vec<u8> = BEGIN.encode_utf16().flat_map(u16::to_le_bytes).collect();
    match output.windows(mark.len()).position(|window| window == mark) {
        // What programs print in between may leave an odd number of bytes before the mark.
        Some(at) => utf16(&output[at % 2..]),
        None if output.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count() * 4 > output.len() => {
            utf16(output)
        }
        None => String::from_utf8_lossy(output).into_owned(),
    }
}

fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16_lossy(&units)
}

/// What the script added or changed, one name for each variable whatever its case. `PATH` is written so, each folder of it once.
pub(super) fn changes(before: &Variables, after: Variables) -> Variables {
    let is_noise = |name: &str| name.starts_with("__") || ["PROMPT", NO_TELEMETRY].contains(&name);
    let mut changed = Variables::new();
    for (name, value) in after {
        let is_path = name.eq_ignore_ascii_case("PATH");
        let value = if is_path { unique_folders(&value) } else { value };
        let known = changed.keys().any(|own| own.eq_ignore_ascii_case(&name));
        if !known && !is_noise(&name) && value_of(before, &name) != Some(&value) {
            changed.insert(if is_path { "PATH".to_owned() } else { name }, value);
        }
    }
    changed
}

fn value_of<'v>(variables: &'v Variables, name: &str) -> Option<&'v String> {
    variables.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// A PATH without the folders that are there already, which differ at most in case and a last backslash.
pub(super) fn unique_folders(path: &str) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let mut folders = Vec::new();
    for folder in
        path.split(';').map(|folder| folder.trim_matches('"').trim()).filter(|folder| !folder.is_empty())
    {
        if seen.insert(folder.trim_end_matches(['\\', '/']).to_lowercase()) {
            folders.push(folder);
        }
    }
    folders.join(";")
}

/// What a build needs and the environment does not have.
pub(super) fn missing(variables: &Variables, is_file: impl Fn(&str) -> bool) -> Vec<String> {
    let value = |name: &str| value_of(variables, name).map_or("", String::as_str);
    let folders: Vec<&str> = value("PATH").split(';').collect();
    let is_found = |program: &str| {
        folders.iter().any(|folder| is_file(&format!("{}\\{program}", folder.trim_end_matches('\\'))))
    };
    let variables = ["INCLUDE", "LIB"].into_iter().filter(|name| value(name).is_empty());
    let programs =
        ["cl.exe", "link.exe", "rc.exe", "mt.exe"].into_iter().filter(|program| !is_found(program));
    variables.chain(programs).map(str::to_owned).collect()
}
