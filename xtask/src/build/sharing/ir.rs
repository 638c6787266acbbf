//! LLVM IR with places where a target's name and features stand.

/// A kernel whose IR says which features the compiler ascribes to a target.
pub(super) const PROBE: &str = "extern \"C\" __attribute__((global)) void probe() {}\n";

const NAME: &str = "\"target-cpu\"=\"";
const FEATURES: &str = "\"target-features\"=\"";
const NAME_PLACE: &str = "\"target-cpu\"=\"@NAME@\"";
const FEATURES_PLACE: &str = "\"target-features\"=\"@FEATURES@\"";

/// The features in the IR of [`PROBE`].
pub(super) fn features(ir: &str) -> Option<String> {
    Some(ir.split_once(FEATURES)?.1.split_once('"')?.0.to_owned())
}

/// `None` when the IR speaks of the target or of other features in any other place.
pub(super) fn with_places(ir: &str, target: &str, features: &str) -> Option<String> {
    let text = ir
        .replace(&format!("{NAME}{target}\""), NAME_PLACE)
        .replace(&format!("{FEATURES}{features}\""), FEATURES_PLACE);
    let others =
        |attribute: &str, place: &str| text.matches(attribute).count() != text.matches(place).count();
    let is_foreign = text.contains(target) || others(NAME, NAME_PLACE) || others(FEATURES, FEATURES_PLACE);
    (!is_foreign).then_some(text)
}

/// The IR that the front end would have made for this target.
pub(super) fn for_target(ir: &str, target: &str, features: &str) -> String {
    ir.replace(NAME_PLACE, &format!("{NAME}{target}\""))
        .replace(FEATURES_PLACE, &format!("{FEATURES}{features}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str =
        "define void @f() #0\nattributes #0 = { \"target-cpu\"=\"gfx1100\" \"target-features\"=\"+a,+b\" }\n";

    #[test]
    fn name_and_features_are_exchanged() {
        assert_eq!(features(IR).as_deref(), Some("+a,+b"));
        let shared = with_places(IR, "gfx1100", "+a,+b").expect("nothing else speaks of the target");
        assert_eq!(for_target(&shared, "gfx1100", "+a,+b"), IR);
        let expected = IR.replace("gfx1100", "gfx1151").replace("+a,+b", "+a,+b,+c");
        assert_eq!(for_target(&shared, "gfx1151", "+a,+b,+c"), expected);
    }

    #[test]
    fn what_speaks_of_the_target_elsewhere_is_not_shared() {
        assert_eq!(with_places(&format!("{IR}@name = \"gfx1100\"\n"), "gfx1100", "+a,+b"), None);
        assert_eq!(
            with_places(&format!("{IR}#1 = {{ \"target-features\"=\"+z\" }}"), "gfx1100", "+a,+b"),
            None
        );
        assert_eq!(features("define void @f()"), None);
    }
}
