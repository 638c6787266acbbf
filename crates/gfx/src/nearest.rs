//! "Did you mean": names within a small edit distance.

/// The most names that an error message offers.
const MOST: usize = 4;

/// The name most like `name`, if one is like it at all; of several the first. Upper and lower case count as the same.
pub fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    all_nearest(name, names).first().copied()
}

/// All names that share the smallest edit distance to `name`, at most four, in their own order; none when nothing is alike.
pub(crate) fn all_nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    // A third of the letters wrong is a typing error; more is another word.
    let mut smallest = (name.chars().count() / 3).max(1);
    let mut found = Vec::new();
    for candidate in names {
        let distance = edit_distance(&name, &candidate.to_lowercase());
        if distance < smallest {
            smallest = distance;
            found.clear();
        }
        if distance == smallest && found.len() < MOST {
            found.push(candidate);
        }
    }
    found
}

/// Levenshtein's distance: insertions, deletions and substitutions of one character.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("gfx1201", "gfx1210", 2)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn only_alike_names_are_offered() {
        let names = ["engine", "aiter-kernels"];
        assert_eq!(nearest("engin", names.into_iter()), Some("engine"));
        assert_eq!(nearest("ENGINE", names.into_iter()), Some("engine"));
        assert_eq!(nearest("aiter_kernels", names.into_iter()), Some("aiter-kernels"));
        assert_eq!(nearest("vision", names.into_iter()), None);
        assert_eq!(nearest("", names.into_iter()), None);
    }

    #[test]
    fn equals_share_and_are_few() {
        let names = ["a1", "a2", "a3", "a4", "a5"];
        assert_eq!(all_nearest("a0", names.into_iter()), ["a1", "a2", "a3", "a4"]);
    }
}
