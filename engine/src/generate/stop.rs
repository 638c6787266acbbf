//! Texts at which generating ends.

/// Holds back what may be the start of a stop text.
#[derive(Debug)]
pub(super) struct Stops {
    stops: Vec<String>,
    held: String,
}

impl Stops {
    pub(super) fn new(stops: Vec<String>) -> Self {
        Self { stops: stops.into_iter().filter(|stop| !stop.is_empty()).collect(), held: String::new() }
    }

    /// Adds text. Gives what may be shown, and whether a stop text was found; that and what follows is not shown.
    pub(super) fn push(&mut self, text: &str) -> (String, bool) {
        self.held.push_str(text);
        let found = self.stops.iter().filter_map(|stop| self.held.find(stop)).min();
        if let Some(at) = found {
            let shown = self.held[..at].to_owned();
            self.held.clear();
            return (shown, true);
        }
        let is_start = |at: &usize| self.stops.iter().any(|stop| stop.starts_with(&self.held[*at..]));
        let longest = self.stops.iter().map(String::len).max().unwrap_or(0);
        let near_end = self.held.len().saturating_sub(longest);
        let starts = self.held.char_indices().map(|(at, _)| at).filter(|at| *at >= near_end);
        let keep = starts.filter(is_start).min().unwrap_or(self.held.len());
        let rest = self.held.split_off(keep);
        (std::mem::replace(&mut self.held, rest), false)
    }

    /// What was held back, at the end.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_texts_are_found_across_parts() {
        let mut stops = Stops::new(vec!["END".to_owned(), "日本".to_owned(), String::new()]);
        let pushed = ["a E", "Nx", "E", "N", "日", "x 日", "本 y"].map(|text| stops.push(text));
        let shown = pushed.each_ref().map(|(text, _)| text.as_str());
        assert_eq!(shown, ["a ", "ENx", "", "", "EN", "日x ", ""]);
        assert_eq!(pushed.map(|(_, found)| found), [false, false, false, false, false, false, true]);
    }

    #[test]
    fn without_stops_nothing_is_held() {
        let mut stops = Stops::new(Vec::new());
        assert_eq!(stops.push("all"), ("all".to_owned(), false));
        assert_eq!(stops.finish(), "");
    }
}
