//! Annotations of GitHub Actions: lines that the service shows beside the run and at the file.

/// What an annotation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// The run goes on.
    Warning,
    /// It does not.
    Error,
}

/// `::error title=F08,file=toolchains.lock,line=4::message`, which GitHub takes from either stream.
pub(crate) fn annotation(
    level: Level,
    title: &str,
    place: Option<(&str, usize, usize)>,
    message: &str,
) -> String {
    let level = match level {
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let place =
        place.map(|(file, line, column)| format!(",file={},line={line},col={column}", property(file)));
    format!("::{level} title={}{}::{}", property(title), place.unwrap_or_default(), data(message))
}

/// One line whatever is in it (actions/toolkit, command.ts).
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_is_one_line() {
        assert_eq!(
            annotation(Level::Error, "error[F08]", None, "100 % wrong:\n  a, b"),
            "::error title=error[F08]::100 %25 wrong:%0A  a, b"
        );
        assert_eq!(
            annotation(Level::Warning, "a:b,c", Some(("toolchains.lock", 4, 1)), "x"),
            "::warning title=a%3Ab%2Cc,file=toolchains.lock,line=4,col=1::x"
        );
    }
}
