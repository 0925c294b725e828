//! The rule that came nearest to a finding in a run without one.

use unstuck_core::{Nearness, Policy};

/// The nearest rule, and how near it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The name of the rule.
    pub rule: &'static str,
    /// The number of calls or turns that matched the pattern.
    pub held: u16,
    /// The number that the pattern needs. It is [`held`](Self::held) if the rule needs something else as well.
    pub needed: u16,
    /// The first call or message at which the rule was as near.
    pub at: usize,
}

impl Nearest {
    /// Returns the nearer one of `before` and the rules as they are at `at`.
    pub(super) fn of(
        before: Option<Self>,
        near: impl Iterator<Item = Nearness>,
        policy: &'static Policy<'static>,
        at: usize,
    ) -> Option<Self> {
        // A single call begins every pattern.
        near.filter(|near| near.held > 1).fold(before, |before, near| {
            let is_nearer = before.is_none_or(|before| before.is_behind(near));
            let Nearness { rule, held, needed, .. } = near;
            let now = Self { rule: policy.rule_name(rule), held, needed, at };
            if is_nearer { Some(now) } else { before }
        })
    }

    /// Returns whether `near` has a larger share of what its rule needs.
    fn is_behind(&self, near: Nearness) -> bool {
        let part = |held: u16, of: u16| u32::from(held) * u32::from(of);
        part(near.held, self.needed) > part(self.held, near.needed)
    }
}

#[cfg(test)]
mod tests {
    use unstuck_core::RuleIndex;
    use unstuck_text::PRESETS;

    use super::*;

    #[test]
    fn the_largest_share_is_the_nearest_and_the_first_wins_a_tie() {
        let policy = PRESETS[0].policy;
        let near = |rule, held, needed| Nearness { rule: RuleIndex::Call(rule), held, needed };
        let mut nearest = None;
        for (at, rules) in [
            (0, [near(0, 1, 3), near(1, 0, 4)]),
            (1, [near(0, 1, 3), near(1, 2, 4)]),
            (2, [near(0, 2, 3), near(1, 2, 4)]),
            (3, [near(0, 2, 3), near(1, 2, 3)]),
        ] {
            nearest = Nearest::of(nearest, rules.into_iter(), policy, at);
            let expected = [
                None,
                Some(Nearest { rule: "cycle", held: 2, needed: 4, at: 1 }),
                Some(Nearest { rule: "same-effect", held: 2, needed: 3, at: 2 }),
                Some(Nearest { rule: "same-effect", held: 2, needed: 3, at: 2 }),
            ];
            assert_eq!(nearest, expected[at]);
        }
    }
}
