//! How far the runtime reads when it is given a code object.

/// Whether the bytes hold all that a 64-bit ELF header says they do: both tables, and what each entry of them covers.
pub(crate) fn is_whole_elf(bytes: &[u8]) -> bool {
    const NOBITS: u64 = 8;
    let number = |at: u64, len: usize| {
        let start = usize::try_from(at).ok()?;
        let field = bytes.get(start..start.checked_add(len)?)?;
        Some(field.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)))
    };
    // Of a table: the offset, entry size and count in the header; of an entry: its type, the offset of what it covers, and the size.
    let covers = |table: [(u64, usize); 3], entry: [(u64, usize); 3], skips_nobits: bool| {
        let [offset, size, count] = table.map(|(at, len)| number(at, len));
        let (offset, size) = (offset?, size?);
        (0..count?).try_fold(0_u64, |end, i| {
            let start = offset.checked_add(i.checked_mul(size)?)?;
            let [kind, from, len] = entry.map(|(at, len)| number(start.checked_add(at)?, len));
            let is_empty = skips_nobits && kind? == NOBITS;
            let covered = if is_empty { 0 } else { from?.checked_add(len?)? };
            Some(end.max(covered).max(start.checked_add(size)?))
        })
    };
    let segments = covers([(32, 8), (54, 2), (56, 2)], [(0, 4), (8, 8), (32, 8)], false);
    let sections = covers([(40, 8), (58, 2), (60, 2)], [(4, 4), (24, 8), (32, 8)], true);
    let is_within = |end: Option<u64>| end.is_some_and(|end| end <= bytes.len() as u64);
    bytes.starts_with(b"\x7fELF\x02\x01") && is_within(segments) && is_within(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &[u8] = include_bytes!("../../code-object/tests/data/gfx1201.co");

    #[test]
    fn a_whole_file_is_whole_and_no_part_of_it_is() {
        assert!(is_whole_elf(OBJECT));
        for len in 0..OBJECT.len() {
            assert!(!is_whole_elf(&OBJECT[..len]), "{len}");
        }
    }

    #[test]
    fn huge_numbers_are_no_whole_file() {
        for (at, len) in [(32, 8), (40, 8), (54, 2), (56, 2), (58, 2), (60, 2)] {
            let mut changed = OBJECT.to_vec();
            changed[at..at + len].fill(0xff);
            assert!(!is_whole_elf(&changed), "{at}");
        }
    }
}
