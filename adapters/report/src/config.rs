//! Policies in TOML files, for `--config`, the policies of other agents, and `presets --format
//! toml`.

pub(crate) mod choice;
mod fields;
mod read;
mod tables;
mod write;

pub use choice::{names, text};
pub use read::{Config, config_of, named, preset};
pub use tables::Variant;
pub use write::{config, editable};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use proptest::sample::{Index, select};
    use unstuck_core::{
        Action, Call, Force, Ladder, Outcomes, Pattern, Phase, Policy, Progress, RULES_MAX, Rule,
        Rung, Select, Silence, Tag, TagSet, TextRule, Tool, ToolRule,
    };
    use unstuck_text::{
        Counter, Effect, Failures, Likeness, Mask, Masks, Near, PRESETS, Preset, Recipe,
        ResultPart, ToolDeclaration,
    };

    use super::fields::Word;
    use super::write::HINT;
    use super::{config, named, names, read};
    use crate::cases::{check, rows};

    /// Asserts that the configuration of `preset` is read as `preset`.
    fn comes_back(preset: &Preset) {
        let text = config(preset);
        let read = read::preset(&text).unwrap_or_else(|mistake| panic!("{mistake:?} in\n{text}"));
        assert_eq!(read.policy, preset.policy, "{text}");
        assert_eq!(read.recipe, preset.recipe, "{text}");
    }

    #[test]
    fn each_policy_has_its_own_name() {
        let mut seen = BTreeSet::new();
        for name in names() {
            let preset = named(name).unwrap_or_else(|| panic!("{name} cannot be read"));
            assert_eq!(preset.policy.name(), name);
            assert!(seen.insert(name), "{name} stands twice");
        }
        assert!(named("nobody").is_none());
    }
    #[test]
    fn every_preset_survives_a_round_trip() {
        PRESETS.iter().for_each(comes_back);
    }

    #[test]
    fn a_preset_can_be_named_and_its_exemptions_changed() {
        for preset in &PRESETS {
            let name = preset.policy.name();
            let named = read::preset(&format!("preset = \"{name}\"")).expect("a preset");
            assert_eq!((named.policy, named.recipe), (preset.policy, preset.recipe));
            let text = format!("preset = \"{name}\"\nexempt = [\"shell\", \"read\"]");
            let changed = read::preset(&text).expect("a preset");
            let exempt = TagSet::EMPTY.with(Tag::Shell).with(Tag::Read);
            assert_eq!(changed.recipe, preset.recipe);
            assert_eq!(*changed.policy, preset.policy.with_exempt(exempt));
        }
    }

    #[test]
    fn tables_for_tools_calls_and_phases_change_the_policy() {
        let hint = HINT.lines().filter_map(|line| line.strip_prefix("# "));
        let hint: Vec<&str> = hint.skip_while(|line| !line.starts_with('[')).collect();
        let text = format!("preset = \"nudge\"\n{}", hint.join("\n"));
        let Preset { policy, recipe: own } = *read::preset(&text).expect("a configuration");
        let special = ToolDeclaration::new(Tool::named("screenshot"))
            .effect(Effect::Reads)
            .tag(Tag::Read)
            .masks(Masks::NONE.with(Mask::Spaces))
            .key(&["page"]);
        assert_eq!(own.tools, [special]);
        let tool = ToolRule::new(Tool::named("screenshot")).exempt().patience(2);
        assert_eq!(policy.tools(), [tool]);
        let recipe = Preset::named("nudge").expect("a preset").recipe;
        assert_eq!(policy.allowed(), [recipe.call("bash", r#"{"command":"make test"}"#)]);
        assert_eq!(policy.phases(), (Phase::new(10, 1), Phase::new(100, -1)));
    }

    #[test]
    fn a_rule_for_one_tool_stands_beside_a_preset() {
        let rule = r#"
[[rule]]
name = "no-second-deploy"
args = "same_tool"
results = "ignored"
select = { tool = "deploy" }
pattern = { times = 2 }
ladder = { basis = "repetitions", rungs = [{ count = 2, action = "block" }] }
"#;
        let config = format!("preset = \"balanced\"\n{rule}");
        let Preset { policy, recipe } = *read::preset(&config).expect("a configuration");
        let balanced = read::named("balanced").expect("a preset").policy;
        assert_eq!(policy.rules()[1..], *balanced.rules());
        assert_eq!((policy.texts(), policy.exempt()), (balanced.texts(), balanced.exempt()));
        let mut worker: unstuck_text::Worker<'_, 20> =
            unstuck_text::Worker::new(policy, recipe).expect("a window of 20");
        let mut call = |tool: &str| worker.announce(tool, "{}").verdict.action;
        let [proceed, block] = [Action::Proceed, Action::Block];
        let calls = ["release", "release", "deploy", "release", "deploy"];
        assert_eq!(calls.map(&mut call), [proceed, proceed, proceed, proceed, block]);

        let of_all = config.replace("tool = \"deploy\"", "except = \"poll\"");
        let mistake = read::preset(&of_all).expect_err("not for one tool");
        assert_eq!(mistake.place(&of_all), (3, 1));
        assert!(mistake.what().contains("must be for one tool"), "{}", mistake.what());
        let unnamed = config.replace("\"deploy\"", "\"\"");
        assert_eq!(read::preset(&unnamed).expect_err("no name").place(&unnamed), (7, 19));
        let room = RULES_MAX - balanced.rules().len();
        let promises =
            "`HINT`, `adapters/cli/TEAM.md` and the documentation of `RULES_MAX` say two";
        assert_eq!(room, 2, "{promises}");
        let many = format!("{config}{}", rule.repeat(room));
        let mistake = read::preset(&many).expect_err("one rule too many");
        assert_eq!(mistake.place(&many), (19, 1));
        assert!(mistake.what().contains("17 rules, but at most 16"), "{}", mistake.what());
    }

    #[test]
    fn a_tool_is_declared_in_words() {
        check("config: the fields of a tool, and its effect, its tag and its key", |table| {
            let text = format!("preset = \"balanced\"\n[tools.t]\n{table}");
            let tools = read::preset(&text).expect(table).recipe.tools;
            let [ToolDeclaration { tool, effect, tag, masks: None, key, .. }] = tools else {
                panic!("{tools:?}")
            };
            assert_eq!(*tool, Tool::named("t"));
            format!("{effect:?} {tag:?} {key:?}")
        });
    }

    #[test]
    fn an_allowed_call_is_known_by_its_key() {
        let text = "preset = \"repeat\"\ntools.t.key = [\"id\"]\n\
                    [[allow]]\ntool = \"t\"\nargs = { id = 1, note = \"first\" }";
        let Preset { policy, recipe } = read::preset(text).expect("a configuration");
        assert_eq!(policy.allowed(), [recipe.call("t", r#"{"note":"second","id":1}"#)]);
    }

    #[test]
    fn the_arguments_of_an_allowed_call_are_those_that_an_agent_writes() {
        for (args, json) in rows("config: the arguments of an allowed call as an agent writes them")
        {
            let text = format!("preset = \"repeat\"\n[[allow]]\ntool = \"t\"\nargs = {args}");
            let allowed: &[Call] = read::preset(&text).expect("a configuration").policy.allowed();
            assert_eq!(allowed, [Recipe::EXACT.call("t", &json)], "{args}");
        }
    }

    fn word<W: Word + std::fmt::Debug>() -> impl Strategy<Value = W> {
        select(W::ALL)
    }

    /// A ladder that fits every pattern below.
    fn ladder() -> impl Strategy<Value = Ladder<'static>> {
        let rungs =
            (btree_set(9..20_u16, 1..4), vec(word(), 4)).prop_map(|(counts, mut actions)| {
                actions.sort_unstable();
                let last = counts.len() - 1;
                let rung = |(n, (count, action)): (usize, (u16, Action))| {
                    // An action that clears the history must be the last of a ladder.
                    Rung::new(count, if n < last { action.min(Action::Block) } else { action })
                };
                let rungs = counts.into_iter().zip(actions).enumerate().map(rung);
                &*rungs.collect::<Vec<_>>().leak()
            });
        (word(), rungs).prop_map(|(basis, rungs)| Ladder { basis, rungs })
    }

    fn pattern() -> impl Strategy<Value = Pattern> {
        prop_oneof![
            (2..9_u16).prop_map(|times| Pattern::Streak { times }),
            (2..9_u8, 20..40_u8, any::<u8>())
                .prop_map(|(times, within, novel)| Pattern::Recurrence { times, within, novel }),
            (2..4_u8, 4..9_u8, 2..9_u8).prop_map(|(min, max, laps)| Pattern::cycle(min, max, laps)),
        ]
    }

    fn selection() -> impl Strategy<Value = Select> {
        prop_oneof![
            select(vec![Select::Every, Select::Unreported]),
            word().prop_map(Select::Tag),
            word().prop_map(Select::Except),
        ]
    }

    fn name() -> impl Strategy<Value = &'static str> {
        "[a-z\"'\\\\#=\\[é-]{1,12}".prop_map(|name| &*name.leak())
    }

    fn rule() -> impl Strategy<Value = Rule<'static>> {
        let modes = (word(), word(), word::<Outcomes>(), word::<Progress>());
        let words = (modes, word::<Silence>(), word(), word::<Force>());
        (name(), words, selection(), pattern(), ladder()).prop_map(
            |(name, (modes, silence, most, force), select, pattern, ladder)| {
                let (args, results, outcomes, progress) = modes;
                let mut rule = Rule::new(name, args, results, pattern, ladder);
                (rule.outcomes, rule.progress) = (outcomes, progress);
                (rule.silence, rule.force) = (silence, force);
                rule.select(select).silent_at_most(most)
            },
        )
    }

    fn text() -> impl Strategy<Value = TextRule<'static>> {
        (name(), word(), 2..9_u16, ladder())
            .prop_map(|(name, texts, times, ladder)| TextRule::new(name, texts, times, ladder))
    }

    fn recipe() -> impl Strategy<Value = Recipe> {
        let result = prop_oneof![
            Just(ResultPart::Whole),
            (1..=u32::MAX).prop_map(|head| ResultPart::Head(head as usize)),
        ];
        let likeness = prop_oneof![
            Just(Likeness::Equal),
            Just(Likeness::PrimaryKeys),
            (1..=100_u8).prop_map(Likeness::Words),
        ];
        let masks = vec(word::<Mask>(), 0..4);
        let masks = masks.prop_map(|masks| masks.into_iter().fold(Masks::NONE, Masks::with));
        let counter = "[a-z\\\\\"]{0,3}".prop_map(|text| {
            let text: &str = format!("{text}# ").leak();
            Counter::new(text).expect("one number")
        });
        let counters = vec(counter, 0..3).prop_map(|counters| &*counters.leak());
        let (failures, near) = (word::<Failures>(), word::<Near>());
        (likeness, result, masks, counters, failures, near).prop_map(
            |(likeness, result, masks, counters, failures, near)| Recipe {
                likeness,
                result,
                masks,
                counters,
                failures,
                near,
                tools: &[],
            },
        )
    }

    proptest! {
        #[test]
        fn every_valid_policy_survives_a_round_trip(
            name in name(),
            window in 40..=64_u8,
            rules in vec(rule(), 1..4),
            texts in vec(text(), 0..4),
            exempt in vec(word::<Tag>(), 0..4),
            phases in (0..50_u32, any::<i8>(), 50..u32::MAX, any::<i8>()),
            recipe in recipe(),
        ) {
            let policy = Policy::new(name, window, rules.leak());
            let policy = policy.and_then(|policy| policy.with_texts(texts.leak()));
            let (early, late) = (Phase::new(phases.0, phases.1), Phase::new(phases.2, phases.3));
            let policy = policy.and_then(|policy| policy.with_phases(early, late));
            let exempt = exempt.into_iter().fold(TagSet::EMPTY, TagSet::with);
            let policy = policy.expect("a policy that can work").with_exempt(exempt);
            comes_back(&Preset { policy: Box::leak(Box::new(policy)), recipe });
        }

        #[test]
        fn any_text_is_read_or_refused_with_a_place(text in "(?s).{0,200}") {
            refused_with_a_place(&text);
        }

        #[test]
        fn a_damaged_configuration_is_read_or_refused_with_a_place(
            preset in select(&PRESETS[..]),
            cuts in vec((any::<Index>(), 0..9_usize, "[a-z0-9\"=.,{}\\[\\] \n-]{0,5}"), 1..5),
        ) {
            let mut text = config(&preset);
            for (at, length, put) in cuts {
                let at = at.index(text.len() + 1);
                text.replace_range(at..text.len().min(at + length), &put);
            }
            refused_with_a_place(&text);
        }
    }

    fn refused_with_a_place(text: &str) {
        if let Err(mistake) = read::preset(text) {
            let (line, column) = mistake.place(text);
            assert!((1..=text.matches('\n').count() + 1).contains(&line), "{mistake:?}");
            assert!(column >= 1 && !mistake.what().is_empty(), "{mistake:?}");
            assert_eq!(mistake.quote(text).lines().count(), 3, "{mistake:?}");
        }
    }
}
