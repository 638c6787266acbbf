//! Cards: what they are called, what their PCI ids are, and which target each of them is.

use crate::Target::{self, *};

/// A product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Card {
    /// The part of its name that tells it from all others, e.g. `7900 XTX`: without AMD, Radeon, RX, PRO.
    pub model: &'static str,
    /// Its target.
    pub target: Target,
}

/// The device part of a PCI id whose vendor is AMD (1002).
pub type PciId = u16;

const fn card(model: &'static str, target: Target) -> Card {
    Card { model, target }
}

/// Every card that a source names (facts/strata.md 2.4).
///
/// Names that look like a sibling's and are another chip: W7800 is gfx1100 (not 1101 like W7700), 7700S is gfx1102 (not 1101 like 7700 XT),
/// 6800M is gfx1031, 6700S and 6800S are gfx1032.
pub const CARDS: &[Card] = &[
    card("6800", Gfx1030),
    card("6800 XT", Gfx1030),
    card("6900 XT", Gfx1030),
    card("6950 XT", Gfx1030),
    card("W6800", Gfx1030),
    card("V620", Gfx1030),
    card("6700", Gfx1031),
    card("6700 XT", Gfx1031),
    card("6750 XT", Gfx1031),
    card("6800M", Gfx1031),
    card("6850M XT", Gfx1031),
    card("6600", Gfx1032),
    card("6600 XT", Gfx1032),
    card("6650 XT", Gfx1032),
    card("6600M", Gfx1032),
    card("6700S", Gfx1032),
    card("6800S", Gfx1032),
    card("W6600", Gfx1032),
    card("6500 XT", Gfx1034),
    card("6400", Gfx1034),
    card("680M", Gfx1035),
    card("660M", Gfx1035),
    card("7900 XTX", Gfx1100),
    card("7900 XT", Gfx1100),
    card("7900 GRE", Gfx1100),
    card("7900M", Gfx1100),
    card("W7900", Gfx1100),
    card("W7800", Gfx1100),
    card("7800 XT", Gfx1101),
    card("7700 XT", Gfx1101),
    card("7700", Gfx1101),
    card("W7700", Gfx1101),
    card("V710", Gfx1101),
    card("7600", Gfx1102),
    card("7600 XT", Gfx1102),
    card("7650 GRE", Gfx1102),
    card("7700S", Gfx1102),
    card("7600S", Gfx1102),
    card("7600M", Gfx1102),
    card("W7600", Gfx1102),
    card("W7500", Gfx1102),
    card("780M", Gfx1103),
    card("760M", Gfx1103),
    card("740M", Gfx1103),
    card("890M", Gfx1150),
    card("880M", Gfx1150),
    card("8065S", Gfx1151),
    card("8060S", Gfx1151),
    card("8050S", Gfx1151),
    card("8040S", Gfx1151),
    card("860M", Gfx1152),
    card("840M", Gfx1152),
    card("9060 XT", Gfx1200),
    card("9060", Gfx1200),
    card("9070 XT", Gfx1201),
    card("9070", Gfx1201),
    card("9070 GRE", Gfx1201),
    card("R9700", Gfx1201),
];

/// facts/strata.md 2.4. One id can stand for several products of one chip: 1586 is the 8060S, the 8050S and the 8040S.
const PCI_IDS: &[(Target, &[PciId])] = &[
    (Gfx1030, &[0x73BF, 0x73AF, 0x73A5, 0x73A3]),
    (Gfx1031, &[0x73DF]),
    (Gfx1032, &[0x73FF, 0x73EF, 0x73E3]),
    (Gfx1034, &[0x743F, 0x7422]),
    (Gfx1035, &[0x1681]),
    (Gfx1036, &[0x164E, 0x13C0]),
    (Gfx1100, &[0x744C, 0x7448, 0x745E]),
    (Gfx1101, &[0x747E, 0x7470]),
    (Gfx1102, &[0x7480, 0x7483, 0x7489]),
    (Gfx1103, &[0x15BF, 0x15C8, 0x164F, 0x1900, 0x1901]),
    (Gfx1150, &[0x150E]),
    (Gfx1151, &[0x1586]),
    (Gfx1152, &[0x1114, 0x1902]),
    (Gfx1200, &[0x7590]),
    (Gfx1201, &[0x7550, 0x7551]),
];

/// The target of a PCI device of AMD. Surer than a name.
pub fn target_of_pci_id(id: PciId) -> Option<Target> {
    PCI_IDS.iter().find(|(_, ids)| ids.contains(&id)).map(|(target, _)| *target)
}

/// The target of a card by the name its driver gives it, e.g. `AMD Radeon(TM) RX 7900 XTX` or `AMD Radeon PRO W7800 48GB`.
/// The model has to be the same word for word: `7700S` is another chip than `7700`. APUs that are merely `AMD Radeon(TM) Graphics` have none.
pub fn target_of_card_name(name: &str) -> Option<Target> {
    let model = model_of(name);
    CARDS.iter().find(|card| card.model.eq_ignore_ascii_case(&model)).map(|card| card.target)
}

/// Whether every chip of this target sits in a processor and shares its memory: Rembrandt and Raphael, Phoenix, Strix and Krackan, Van Gogh
/// (facts/strata.md 2.4). A generic target is no chip.
pub fn is_integrated(target: Target) -> bool {
    matches!(target, Gfx1033 | Gfx1035 | Gfx1036 | Gfx1103 | Gfx1150 | Gfx1151 | Gfx1152 | Gfx1153)
}

/// What is left of a name without the words that many cards share and the memory size.
fn model_of(name: &str) -> String {
    const SHARED: [&str; 8] = ["amd", "ati", "radeon", "rx", "pro", "ai", "graphics", "gpu"];
    let is_memory = |word: &str| {
        let digits = word.strip_suffix("gb").unwrap_or(word);
        word.ends_with("gb") && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let plain = name.to_lowercase().replace("(tm)", " ").replace("(r)", " ").replace(['™', '®'], " ");
    let words: Vec<&str> =
        plain.split_whitespace().filter(|word| !SHARED.contains(word) && !is_memory(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_as_drivers_print_them() {
        for (name, target) in [
            ("AMD Radeon RX 9070 XT", Some(Gfx1201)),
            ("AMD Radeon AI PRO R9700", Some(Gfx1201)),
            ("AMD Radeon(TM) RX 7900 XTX", Some(Gfx1100)),
            ("AMD Radeon™ 8060S Graphics", Some(Gfx1151)),
            ("AMD Radeon(TM) 890M Graphics", Some(Gfx1150)),
            ("Radeon RX 7600 XT 16GB", Some(Gfx1102)),
            ("AMD Radeon(TM) Graphics", None),
            ("NVIDIA GeForce RTX 4090", None),
            ("", None),
        ] {
            assert_eq!(target_of_card_name(name), target, "{name}");
        }
    }

    #[test]
    fn siblings_that_are_another_chip() {
        for (name, target) in [
            ("AMD Radeon PRO W7800", Gfx1100),
            ("AMD Radeon PRO W7800 48GB", Gfx1100),
            ("AMD Radeon PRO W7700", Gfx1101),
            ("AMD Radeon RX 7700S", Gfx1102),
            ("AMD Radeon RX 7700 XT", Gfx1101),
            ("AMD Radeon RX 6800M", Gfx1031),
            ("AMD Radeon RX 6800", Gfx1030),
            ("AMD Radeon RX 6800S", Gfx1032),
            ("AMD Radeon RX 6700S", Gfx1032),
            ("AMD Radeon RX 6700", Gfx1031),
        ] {
            assert_eq!(target_of_card_name(name), Some(target), "{name}");
        }
        assert_eq!(target_of_card_name("AMD Radeon RX 7900 XTXX"), None);
    }

    #[test]
    fn a_chip_is_a_card_or_part_of_a_processor() {
        let is_apu_model = |model: &str| model.ends_with('M') && model.len() == 4 || model.starts_with("80");
        for card in CARDS.iter().filter(|card| card.model.len() <= 5) {
            assert_eq!(is_integrated(card.target), is_apu_model(card.model), "{}", card.model);
        }
    }

    #[test]
    fn pci_ids_are_unique() {
        let ids: Vec<PciId> = PCI_IDS.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        let unique: std::collections::BTreeSet<&PciId> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len());
        assert_eq!(target_of_pci_id(0x7550), Some(Gfx1201));
        assert_eq!(target_of_pci_id(0x2684), None);
    }

    #[test]
    fn models_are_unique_and_find_themselves() {
        for card in CARDS {
            assert_eq!(target_of_card_name(card.model), Some(card.target), "{}", card.model);
        }
        let unique: std::collections::BTreeSet<&str> = CARDS.iter().map(|card| card.model).collect();
        assert_eq!(unique.len(), CARDS.len());
    }
}
