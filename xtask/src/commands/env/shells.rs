//! An environment in the words of each shell, quoted so that nothing in a path is read as code.

use super::Environment;
use crate::lock::Host;

/// For `eval "$(…)"`, on Windows in the bash of Git or MSYS2.
pub(super) fn bash(environment: &Environment, host: Host) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut lines: Vec<String> = environment
        .variables
        .iter()
        .map(|(name, value)| format!("export {name}={}", quoted(value)))
        .collect();
    let path: String =
        environment.path.iter().map(|folder| format!("{}:", quoted(&in_path(folder, host)))).collect();
    lines.push(format!("export PATH={path}\"$PATH\""));
    lines.join("\n")
}

/// A folder as a PATH of bash has it: on Windows the colon of `C:/x` would end an entry, and `/c/x` means the same.
fn in_path(folder: &str, host: Host) -> String {
    match folder.split_once(':') {
        Some((drive, rest)) if host != Host::Linux && drive.len() == 1 => {
            format!("/{}{}", drive.to_ascii_lowercase(), rest.replace('\\', "/"))
        }
        _ => folder.to_owned(),
    }
}

/// For `… | source`.
pub(super) fn fish(environment: &Environment) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"));
    let mut lines: Vec<String> = environment
        .variables
        .iter()
        .map(|(name, value)| format!("set -gx {name} {}", quoted(value)))
        .collect();
    let path: Vec<String> = environment.path.iter().map(|folder| quoted(folder)).collect();
    lines.push(format!("set -gx PATH {} $PATH", path.join(" ")));
    lines.join("\n")
}

/// Each of them ends a string in single quotes, and is one of its characters where it stands twice: the curly ones of a folder
/// that a person named too (PowerShell's `CharTraits.IsSingleQuote`).
const POWERSHELL_QUOTES: [char; 5] = ['\'', '\u{2018}', '\u{2019}', '\u{201a}', '\u{201b}'];

/// For `… | Out-String | Invoke-Expression`.
pub(super) fn powershell(environment: &Environment, separator: &str) -> String {
    let doubled = |c: char| std::iter::repeat_n(c, if POWERSHELL_QUOTES.contains(&c) { 2 } else { 1 });
    let quoted = |text: &str| format!("'{}'", text.chars().flat_map(doubled).collect::<String>());
    let mut lines: Vec<String> = environment
        .variables
        .iter()
        .map(|(name, value)| format!("$env:{name} = {}", quoted(value)))
        .collect();
    let path: String = environment.path.iter().map(|folder| format!("{folder}{separator}")).collect();
    lines.push(format!("$env:PATH = {} + $env:PATH", quoted(&path)));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd() -> Environment {
        let variables = [("CXX", "/a b/it's $(x)/\"clang++\""), ("ROOT", r"C:\x")];
        Environment {
            variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            path: vec!["/a b/bin".to_owned(), "/c's".to_owned(), "/Jo’s".to_owned()],
        }
    }

    #[test]
    fn a_shell_gets_back_what_was_meant() {
        let script = format!("{}\nprintf '%s\\n' \"$CXX\" \"$ROOT\" \"$PATH\"", bash(&odd(), Host::Linux));
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &script])
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("sh");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text, "/a b/it's $(x)/\"clang++\"\nC:\\x\n/a b/bin:/c's:/Jo’s:/usr/bin:/bin\n");
    }

    #[test]
    fn a_drive_is_a_folder_in_the_path_of_bash() {
        let on = |host, folder: &str| in_path(folder, host);
        for host in [Host::WindowsMsvc, Host::WindowsGnu] {
            assert_eq!(on(host, "C:/a b/bin"), "/c/a b/bin");
            assert_eq!(on(host, r"D:\x\y"), "/d/x/y");
            assert_eq!(on(host, "//server/x"), "//server/x");
        }
        assert_eq!(on(Host::Linux, "/a:b/c"), "/a:b/c");
        let environment = Environment {
            variables: [("CXX".to_owned(), "C:/x/clang++".to_owned())].into(),
            path: vec!["C:/x".into()],
        };
        let text = bash(&environment, Host::WindowsMsvc);
        assert_eq!(text, "export CXX='C:/x/clang++'\nexport PATH='/c/x':\"$PATH\"");
    }

    #[test]
    fn words_of_the_other_shells() {
        let fish = fish(&odd());
        assert_eq!(
            fish,
            "set -gx CXX '/a b/it\\'s $(x)/\"clang++\"'\nset -gx ROOT 'C:\\\\x'\nset -gx PATH '/a b/bin' '/c\\'s' '/Jo’s' $PATH"
        );
        let powershell = powershell(&odd(), ";");
        assert_eq!(
            powershell,
            "$env:CXX = '/a b/it''s $(x)/\"clang++\"'\n$env:ROOT = 'C:\\x'\n$env:PATH = '/a b/bin;/c''s;/Jo’’s;' + $env:PATH"
        );
    }
}
