//! Where symbolic links lead, through other links, without touching the disk.

use super::{Refusal, name};
use std::collections::BTreeMap;

/// Linux follows as many (path_resolution(7)).
const MOST_HOPS: usize = 40;

/// Refuses a link that leads out of the tree or in a circle; `links` maps each link to its target.
pub(super) fn check(links: &BTreeMap<String, String>) -> Result<(), Refusal> {
    links.iter().try_for_each(|(member, target)| {
        let escapes = || Refusal::LinkEscapes { member: member.clone(), target: target.clone() };
        if !name::is_plain_target(target) {
            return Err(escapes());
        }
        match resolve(member, target, links) {
            End::Inside => Ok(()),
            End::Outside => Err(escapes()),
            End::Circle => Err(Refusal::LinkLoop { member: member.clone() }),
        }
    })
}

#[derive(Debug, PartialEq, Eq)]
enum End {
    Inside,
    Outside,
    Circle,
}

fn resolve(member: &str, target: &str, links: &BTreeMap<String, String>) -> End {
    let parts = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let mut place = parts(member);
    place.pop();
    let mut open: Vec<String> = parts(target).into_iter().rev().collect();
    let mut hops = 0;
    while let Some(part) = open.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                if place.pop().is_none() {
                    return End::Outside;
                }
                continue;
            }
            _ => place.push(part),
        }
        if let Some(next) = links.get(&place.join("/")) {
            hops += 1;
            if hops > MOST_HOPS {
                return End::Circle;
            }
            if !name::is_plain_target(next) {
                return End::Outside;
            }
            place.pop();
            open.extend(parts(next).into_iter().rev());
        }
    }
    End::Inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(links: &[(&str, &str)]) -> Result<(), Refusal> {
        check(&links.iter().map(|(member, target)| (member.to_string(), target.to_string())).collect())
    }

    #[test]
    fn links_inside_are_kept() {
        for links in [
            &[("lib/a.so", "a.so.1")][..],
            &[("usr/lib/llvm/lib/a", "../../x86/a")],
            &[("a", "./b"), ("b", "c")],
            &[("lib/a", "b/../../c")],
            &[("llvm", "lib/llvm"), ("clang", "llvm/bin/clang")],
            &[("dangling", "nowhere")],
        ] {
            assert!(verdict(links).is_ok(), "{links:?}");
        }
    }

    #[test]
    fn links_outside_are_refused_also_through_other_links() {
        for links in [
            &[("a", "../b")][..],
            &[("lib/a", "../../b")],
            &[("lib/a", "/etc/passwd")],
            &[("lib/a", "..\\..\\b")],
            &[("lib/a", "C:/b")],
            &[("lib/a", "b/../../../c")],
            // `deep/here` is the root, so what looks like two steps down is one step up.
            &[("deep/here", ".."), ("x", "deep/here/../y")],
        ] {
            assert!(matches!(verdict(links), Err(Refusal::LinkEscapes { .. })), "{links:?}");
        }
        assert!(matches!(verdict(&[("a", "b"), ("b", "a")]), Err(Refusal::LinkLoop { .. })));
        assert!(matches!(verdict(&[("a", "a/x")]), Err(Refusal::LinkLoop { .. })));
    }
}
