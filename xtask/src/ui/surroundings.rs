//! What decides how things are shown: the stream and the variables of the environment, as plain data.

use std::io::IsTerminal;

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR or CLICOLOR=0 forbids it; CLICOLOR_FORCE=1 colours everywhere
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// What the command line asks for, before clap has read it: clap colours its own help and mistakes.
    pub(crate) fn of_arguments(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Self {
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let value = match text.strip_prefix("--color") {
                Some("") => arguments.next().map(|value| value.to_string_lossy().into_owned()),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            match value.as_deref() {
                Some("always") => return Self::Always,
                Some("never") => return Self::Never,
                _ => {}
            }
        }
        Self::Auto
    }
}

impl From<Color> for clap::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// Where talk goes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// Whether stderr is a terminal.
    pub(crate) is_terminal: bool,
    /// Its width, where it is one.
    pub(crate) columns: Option<usize>,
    /// NO_COLOR is set and not empty (no-color.org).
    pub(crate) no_color: bool,
    /// CLICOLOR (bixense.com/clicolors).
    pub(crate) clicolor: Option<String>,
    /// CLICOLOR_FORCE.
    pub(crate) clicolor_force: Option<String>,
    /// TERM=dumb: no control codes at all.
    pub(crate) is_dumb: bool,
    /// GITHUB_ACTIONS=true: warnings and errors become annotations.
    pub(crate) is_github: bool,
}

impl Surroundings {
    /// This process's.
    pub(crate) fn of_process() -> Self {
        let variable = |name| std::env::var(name).ok();
        let columns = terminal_size::terminal_size_of(std::io::stderr());
        Self {
            is_terminal: std::io::stderr().is_terminal(),
            columns: columns.map(|(terminal_size::Width(columns), _)| columns.into()),
            no_color: variable("NO_COLOR").is_some_and(|value| !value.is_empty()),
            clicolor: variable("CLICOLOR"),
            clicolor_force: variable("CLICOLOR_FORCE"),
            is_dumb: variable("TERM").as_deref() == Some("dumb"),
            is_github: variable("GITHUB_ACTIONS").as_deref() == Some("true"),
        }
    }

    /// Whether to colour.
    pub(crate) fn has_color(&self, asked: Color) -> bool {
        match asked {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if self.no_color => false,
            Color::Auto if self.clicolor_force.as_deref().is_some_and(|value| value != "0") => true,
            Color::Auto => self.is_terminal && !self.is_dumb && self.clicolor.as_deref() != Some("0"),
        }
    }

    /// Whether a line can be written over.
    pub(crate) fn has_bars(&self) -> bool {
        self.is_terminal && !self.is_dumb
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_about_colour() {
        let terminal = Surroundings { is_terminal: true, ..Surroundings::default() };
        let set = |value: &str| Some(value.to_owned());
        for (surroundings, asked, expected) in [
            (terminal.clone(), Color::Auto, true),
            (Surroundings::default(), Color::Auto, false),
            (Surroundings::default(), Color::Always, true),
            (terminal.clone(), Color::Never, false),
            (Surroundings { no_color: true, ..terminal.clone() }, Color::Auto, false),
            (Surroundings { no_color: true, ..terminal.clone() }, Color::Always, true),
            (Surroundings { clicolor: set("0"), ..terminal.clone() }, Color::Auto, false),
            (Surroundings { clicolor: set("1"), ..Surroundings::default() }, Color::Auto, false),
            (Surroundings { clicolor_force: set("1"), ..Surroundings::default() }, Color::Auto, true),
            (Surroundings { clicolor_force: set("0"), ..Surroundings::default() }, Color::Auto, false),
            (
                Surroundings { clicolor_force: set("1"), no_color: true, ..terminal.clone() },
                Color::Auto,
                false,
            ),
            (Surroundings { is_dumb: true, ..terminal.clone() }, Color::Auto, false),
        ] {
            assert_eq!(surroundings.has_color(asked), expected, "{surroundings:?} {asked:?}");
        }
    }

    #[test]
    fn the_arguments_tell_before_clap_does() {
        let of = |text: &str| Color::of_arguments(text.split_whitespace().map(Into::into));
        assert_eq!(of("build --color never"), Color::Never);
        assert_eq!(of("--color=always bild"), Color::Always);
        assert_eq!(of("build --color auto"), Color::Auto);
        assert_eq!(of("build --colors never"), Color::Auto);
        assert_eq!(of(""), Color::Auto);
    }
}
