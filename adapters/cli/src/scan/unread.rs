//! The inputs that could not be judged, grouped by the reason.

use std::collections::HashMap;

/// The inputs that could not be read, or that have nothing to judge.
pub(super) struct Unread {
    /// The most inputs of one reason that are named, each on its own line if there are no more.
    names_max: usize,
    /// In the order in which they first occurred.
    reasons: Vec<Reason>,
    /// The place of each reason.
    places: HashMap<String, usize>,
}

/// A reason, and the inputs that could not be judged because of it.
struct Reason {
    why: String,
    /// The first inputs.
    names: Vec<String>,
    count: usize,
}

impl Unread {
    /// Explainable each input if `each` is set, or the first ones of each reason.
    pub(super) fn new(each: bool) -> Self {
        let names_max = if each { usize::MAX } else { 3 };
        Self { names_max, reasons: Vec::new(), places: HashMap::new() }
    }

    pub(super) fn add(&mut self, name: &str, why: &str) {
        let place = *self.places.entry(why.to_owned()).or_insert_with(|| {
            self.reasons.push(Reason { why: why.to_owned(), names: Vec::new(), count: 0 });
            self.reasons.len() - 1
        });
        let reason = &mut self.reasons[place];
        reason.count += 1;
        if reason.names.len() < self.names_max {
            reason.names.push(name.to_owned());
        }
    }

    /// Tells the inputs and the reasons, and forgets them.
    pub(super) fn tell(&mut self, tell: fn(&str, &str)) {
        self.places.clear();
        for reason in self.reasons.drain(..) {
            for line in reason.lines() {
                tell(&line, &reason.why);
            }
        }
    }
}

impl Reason {
    /// Returns the beginning of each line: the name of an input, or of all if they are many.
    fn lines(&self) -> Vec<String> {
        match self.count.saturating_sub(self.names.len()) {
            0 => self.names.clone(),
            more => {
                vec![format!("{} files ({} and {more} more)", self.count, self.names.join(", "))]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(each: bool, inputs: &[(&str, &str)]) -> Vec<String> {
        let mut unread = Unread::new(each);
        for (name, why) in inputs {
            unread.add(name, why);
        }
        let lines = |reason: &Reason| {
            reason
                .lines()
                .into_iter()
                .map(|name| format!("{name}: {}", reason.why))
                .collect::<Vec<_>>()
        };
        unread.reasons.iter().flat_map(lines).collect()
    }

    #[test]
    fn a_few_files_have_a_line_each_and_many_share_one() {
        let few = [("a", "empty"), ("b", "locked"), ("c", "empty"), ("d", "empty")];
        assert_eq!(lines(false, &few), ["a: empty", "c: empty", "d: empty", "b: locked"]);
        let many = [few.as_slice(), &[("e", "empty"), ("f", "empty")]].concat();
        assert_eq!(lines(false, &many), ["5 files (a, c, d and 2 more): empty", "b: locked"]);
        assert_eq!(lines(true, &many).len(), 6);
    }

    #[test]
    fn the_names_do_not_grow_with_their_number() {
        let mut unread = Unread::new(false);
        for n in 0..10_000 {
            unread.add(&n.to_string(), "empty");
        }
        assert_eq!(unread.reasons.len(), 1);
        assert_eq!(unread.reasons[0].lines(), ["10000 files (0, 1, 2 and 9997 more)"]);
    }
}
