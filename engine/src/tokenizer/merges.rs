//! Joins neighbours, the best pair first, until no pair can be joined: the common part of BPE and SentencePiece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A part of the text: where it starts and ends, and its neighbours.
struct Part {
    start: usize,
    end: usize,
    before: usize,
    after: usize,
}

/// No neighbour.
const NONE: usize = usize::MAX;

/// Joins parts of a text whose limits are `limits` (its start, all borders, its end). `rank` says how good it is to join the parts `a..b` and `b..c`:
/// the smallest goes first, of equals the leftmost; `None` is never joined. Gives the limits of what is left. Takes n log n steps.
pub(super) fn join<R: Ord + Copy>(
    limits: &[usize],
    rank: impl Fn(usize, usize, usize) -> Option<R>,
) -> Vec<usize> {
    let count = limits.len().saturating_sub(1);
    let mut parts: Vec<Part> = (0..count)
        .map(|i| Part {
            start: limits[i],
            end: limits[i + 1],
            before: i.checked_sub(1).unwrap_or(NONE),
            after: if i + 1 < count { i + 1 } else { NONE },
        })
        .collect();
    let mut queue = BinaryHeap::new();
    let offer = |queue: &mut BinaryHeap<_>, parts: &[Part], left: usize, right: usize| {
        if left != NONE && right != NONE {
            let (a, b, c) = (parts[left].start, parts[left].end, parts[right].end);
            if let Some(rank) = rank(a, b, c) {
                queue.push(Reverse((rank, left, right, c - a)));
            }
        }
    };
    for left in 1..count {
        offer(&mut queue, &parts, left - 1, left);
    }
    while let Some(Reverse((_, left, right, len))) = queue.pop() {
        // A pair of which one part has been joined with another since is out of date.
        let is_current =
            parts[left].after == right && parts[right].end.wrapping_sub(parts[left].start) == len;
        if !is_current {
            continue;
        }
        parts[left].end = parts[right].end;
        let after = parts[right].after;
        parts[left].after = after;
        (parts[right].after, parts[right].start) = (NONE, parts[right].end);
        if after != NONE {
            parts[after].before = left;
        }
        offer(&mut queue, &parts, parts[left].before, left);
        offer(&mut queue, &parts, left, after);
    }
    let mut left = vec![];
    let mut at = if count == 0 { NONE } else { 0 };
    while at != NONE {
        left.push(parts[at].start);
        at = parts[at].after;
    }
    left.extend(limits.last());
    left
}
