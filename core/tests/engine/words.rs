//! The names in reports and configurations, on which users rely.

use unstuck_core::{Action, Args, Force, Kind, Policy, Results, Tag, Texts, Tool, presets};

#[test]
fn every_name_is_the_documented_one() {
    let args = [Args::Same, Args::Similar, Args::SameTool, Args::Any].map(Args::name);
    assert_eq!(args, ["same", "similar", "same_tool", "any"]);
    let results = [Results::Ignored, Results::Same, Results::Near].map(Results::name);
    assert_eq!(results, ["ignored", "same", "near"]);
    let texts = [Texts::Any, Texts::Same, Texts::Prompt, Texts::Inside].map(Texts::name);
    assert_eq!(texts, ["any", "same", "prompt", "inside"]);
    assert_eq!([Force::Always, Force::Proven].map(Force::name), ["always", "proven"]);
    let tags = Tag::ALL.map(|tag| tag.to_string());
    assert_eq!(tags, Tag::ALL.map(Tag::name));
    let expected = "other test shell read write search poll think finish start_over act";
    assert_eq!(tags.join(" "), expected);
    let kinds = Kind::ALL.map(|kind| kind.to_string());
    assert_eq!(kinds, Kind::ALL.map(Kind::name));
    assert_eq!(kinds.join(" "), "streak recurrence cycle text echo");
    let actions = Action::ALL.map(|action| action.to_string());
    assert_eq!(actions.join(" "), "proceed nudge warn block start_over stop");
    let presets = presets::ALL.map(Policy::name);
    let expected = "balanced start_over graduated graduated_conservative graduated_aggressive \
                    nudge cycles repeat";
    assert_eq!(presets.join(" "), expected);
}

#[test]
fn tools_differ_by_name() {
    let names = ["", "bash", "Bash", "read", "write", "bash "];
    for (i, one) in names.iter().enumerate() {
        for (k, other) in names.iter().enumerate() {
            assert_eq!(Tool::named(one) == Tool::named(other), i == k, "{one} and {other}");
        }
    }
    assert_eq!(Tool::new(7).id(), 7);
}
