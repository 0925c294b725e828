//! Reads the table `[messages]`: what the agents of different sessions are told, so that the effects can be compared.

use unstuck_core::Digest;

use super::fields::{Fields, Node, elements, word};
use crate::mistake::Mistake;

/// What the agent of one session is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Messages that name the tool of the repeated call.
    Named,
    /// Messages that do not name it.
    Unnamed,
    /// Nothing: findings are only recorded.
    Observe,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Named, Self::Unnamed, Self::Observe];

    /// Returns the word for the variant.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Unnamed => "unnamed",
            Self::Observe => "observe",
        }
    }

    /// Returns the variant for the session with this id: always the same one, and each equally often. A session without
    /// any choice has [`Variant::Named`].
    pub fn of_session(variants: &[Self], session: &str) -> Self {
        let count = u64::try_from(variants.len()).unwrap_or(u64::MAX);
        let place = Digest::of(session.as_bytes()).bits().checked_rem(count);
        let place = place.and_then(|place| usize::try_from(place).ok());
        place.and_then(|place| variants.get(place)).copied().unwrap_or(Self::Named)
    }
}

/// Reads the table. A word that stands twice gets twice as many sessions.
pub(super) fn variants(node: &Node<'_>) -> Result<Vec<Variant>, Mistake> {
    let fields = Fields::at(node, "the table of messages", &["variants"])?;
    let list = fields.required("variants")?;
    let variants: Vec<_> = elements(list, "variants")?.map(word).collect::<Result<_, _>>()?;
    if variants.is_empty() {
        return Err(Mistake::new(list.span(), "expected at least one variant"));
    }
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_of;

    #[test]
    fn sessions_are_spread_over_the_variants() {
        let ids: [fn(u32) -> String; 3] = [
            |n| format!("5f1c7a90-0000-4000-8000-{n:012x}"),
            |n| format!("{:016x}", u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            |n| n.to_string(),
        ];
        for (id, count) in ids.into_iter().flat_map(|id| (1..=3).map(move |count| (id, count))) {
            let variants = &Variant::ALL[..count];
            let mut sessions = [0_usize; 3];
            for n in 0..3000 {
                let variant = Variant::of_session(variants, &id(n));
                assert_eq!(variant, Variant::of_session(variants, &id(n)));
                sessions[Variant::ALL.iter().position(|one| *one == variant).expect("one")] += 1;
            }
            // Five standard deviations of a fair draw.
            let fair = 3000 / count;
            let is_fair = |sessions: &usize| sessions.abs_diff(fair) <= 137;
            assert!(sessions[..count].iter().all(is_fair), "{}: {sessions:?}", id(7));
            assert!(sessions[count..].iter().all(|sessions| *sessions == 0), "{sessions:?}");
        }
        assert_eq!(Variant::of_session(&[], "s"), Variant::Named);
    }

    #[test]
    fn the_table_is_read_or_its_mistake_is_shown() {
        let read = |table: &str| config_of(&format!("preset = \"balanced\"\n{table}"));
        let all = "[messages]\nvariants = [\"named\", \"unnamed\", \"observe\"]";
        assert_eq!(read(all).expect("three variants").variants, Variant::ALL);
        assert!(read("").expect("a preset").variants.is_empty());
        for (table, what) in [
            ("messages = 1", "expected a table with variants, found a whole number"),
            ("[messages]", "the table of messages needs `variants`"),
            ("[messages]\nvariants = []", "expected at least one variant"),
            ("[messages]\nvariants = [\"name\"]", "did you mean `named`?"),
            ("[messages]\nvariant = [\"named\"]", "did you mean `variants`?"),
        ] {
            let mistake = read(table).map(|_| ()).expect_err(table);
            assert!(mistake.what().contains(what), "{table}: {}", mistake.what());
        }
    }
}
