//! What Windows lets this process use of a card: the free figure of HIP knows of this process only there (facts: HIP on WDDM), DXGI's budget knows of all.

#[cfg(windows)]
mod dxgi;

/// A card as DXGI describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// PCI's number of its maker.
    pub vendor: u32,
    /// Its name.
    pub name: String,
    /// Bytes of its own memory that this process may use, by DXGI.
    pub budget: u64,
    /// Bytes that this process uses already.
    pub used: u64,
}

/// AMD at PCI.
const AMD: u32 = 0x1002;

/// The bytes that may still be used of the card that HIP calls `name`; `None`: DXGI knows no such card.
///
/// The two have no number in common that both always give, and number cards differently: cards are told apart by their names, and of several with one
/// name the smallest budget counts, so that none is asked for too much.
pub fn budget(name: &str, adapters: &[Adapter]) -> Option<u64> {
    let same = adapters.iter().filter(|adapter| adapter.vendor == AMD && adapter.name.trim() == name.trim());
    same.map(|adapter| adapter.budget.saturating_sub(adapter.used)).min()
}

/// The cards as DXGI describes them; none where there is no DXGI.
pub fn adapters() -> Vec<Adapter> {
    #[cfg(windows)]
    return dxgi::adapters();
    #[cfg(not(windows))]
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_the_budget_of_its_name() {
        let adapter =
            |vendor, name: &str, budget, used| Adapter { vendor, name: name.to_owned(), budget, used };
        let adapters = [
            adapter(0x10de, "Radeon RX 7900 XTX", 99, 0),
            adapter(AMD, "Radeon RX 7900 XTX", 20, 3),
            adapter(AMD, "Radeon RX 7900 XTX ", 22, 10),
            adapter(AMD, "Radeon RX 9070", 4, 9),
            adapter(0x1414, "Microsoft Basic Render Driver", 1, 0),
        ];
        let table = [("Radeon RX 7900 XTX", Some(12)), ("Radeon RX 9070", Some(0)), ("Radeon RX 6800", None)];
        for (name, expected) in table {
            assert_eq!(budget(name, &adapters), expected, "{name}");
        }
    }
}
