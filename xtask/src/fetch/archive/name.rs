//! Which member names are accepted: the same on every host, so that a lock that works on Linux works on Windows.

use super::Refusal;
use unicode_normalization::UnicodeNormalization;

/// `raw` as a relative path with `/`, without `.` parts and without a trailing slash; empty for the root itself.
pub(super) fn normalise(raw: &[u8]) -> Result<String, Refusal> {
    let shown = || printable(&String::from_utf8_lossy(raw));
    let text = std::str::from_utf8(raw).map_err(|_| Refusal::NotText { member: shown() })?;
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(Refusal::NotText { member: shown() });
    }
    if text.starts_with(['/', '\\']) || has_drive(text) {
        return Err(Refusal::Absolute { member: shown() });
    }
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err(Refusal::ParentFolder { member: shown() }),
            part => {
                if let Some(why) = windows_refuses(part) {
                    return Err(Refusal::WindowsName { member: shown(), why });
                }
                parts.push(part);
            }
        }
    }
    Ok(parts.join("/"))
}

/// `text` with control characters written as escapes, so that a name cannot move the cursor of a terminal.
pub(super) fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Whether a target is a relative path that any host understands.
pub(super) fn is_plain_target(target: &str) -> bool {
    !target.is_empty() && !target.starts_with('/') && !target.contains('\\') && !has_drive(target)
}

/// What two names must not share: case is folded and accents are composed, as file systems of Windows and macOS do in one way or another
/// (facts/peers.md 3b, row 33). `ß` and `SS` are one, which is more than any of them asks.
pub(super) fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let decomposed: String = path.nfd().collect();
    caseless::default_case_fold_str(&decomposed).nfc().collect()
}

fn has_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// learn.microsoft.com, "Naming Files, Paths, and Namespaces".
fn windows_refuses(part: &str) -> Option<&'static str> {
    if part.contains(['<', '>', ':', '"', '|', '?', '*', '\\']) {
        return Some("one of < > : \" | ? * \\");
    }
    if part.ends_with(['.', ' ']) {
        return Some("it ends with a dot or a space");
    }
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = |prefix| {
        stem.strip_prefix(prefix)
            .is_some_and(|n: &str| matches!(n.as_bytes(), [b'1'..=b'9']) || matches!(n, "¹" | "²" | "³"))
    };
    let reserved = matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$");
    (reserved || numbered("com") || numbered("lpt")).then_some("a reserved device name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_normalised() {
        for (raw, expected) in [
            ("bin/clang", "bin/clang"),
            ("./bin/clang", "bin/clang"),
            ("./", ""),
            (".", ""),
            ("bin//x/", "bin/x"),
            (".info/version", ".info/version"),
            ("a..b/...c", "a..b/...c"),
            ("auxiliary/console.txt", "auxiliary/console.txt"),
        ] {
            assert_eq!(normalise(raw.as_bytes()).expect(raw), expected);
        }
    }

    #[test]
    fn names_that_some_file_system_takes_for_one() {
        for (a, b) in
            [("lib/X", "LIB/x"), ("Ä", "ä"), ("\u{e4}", "a\u{308}"), ("STRASSE", "straße"), ("ﬁ", "FI")]
        {
            assert_eq!(folded(a), folded(b), "{a} {b}");
        }
        for (a, b) in [("a", "b"), ("ä", "a"), ("lib/x", "libx")] {
            assert_ne!(folded(a), folded(b), "{a} {b}");
        }
    }

    #[test]
    fn hostile_names_are_refused_by_kind() {
        let kind = |raw: &[u8]| match normalise(raw) {
            Err(Refusal::Absolute { .. }) => "absolute",
            Err(Refusal::ParentFolder { .. }) => "parent",
            Err(Refusal::NotText { .. }) => "text",
            Err(Refusal::WindowsName { .. }) => "windows",
            other => panic!("{other:?}"),
        };
        for (raw, expected) in [
            ("/etc/passwd", "absolute"),
            ("C:\\x", "absolute"),
            ("c:x", "absolute"),
            ("\\\\server\\share", "absolute"),
            ("../x", "parent"),
            ("a/../x", "parent"),
            ("a/..", "parent"),
            ("", "text"),
            ("a\nb", "text"),
            ("a\0b", "text"),
            ("a/aux", "windows"),
            ("a/AUX.txt", "windows"),
            ("com1", "windows"),
            ("lpt9.log", "windows"),
            ("ab:c", "windows"),
            ("a\\..\\b", "windows"),
            ("x.", "windows"),
            ("x /y", "windows"),
            ("what?", "windows"),
        ] {
            assert_eq!(kind(raw.as_bytes()), expected, "{raw:?}");
        }
        assert_eq!(kind(b"\xff"), "text");
    }
}
