//! Presets: a policy of the engine with the recipe for its digests.

use unstuck_core::{Call, Digest, Outcome, Policy, Tag, Tool, Turn, presets};
use unstuck_json::{Exact, Fingerprinter, Hash64 as _, Members, Rapid};

use crate::command::Nature;
use crate::echo::echo;
use crate::groups::Groups;
use crate::likeness::{PRIMARY, file};
use crate::lines::Lines;
use crate::mask::{Counter, Masked, Masker, Masks};
use crate::nothing::finds_nothing;
use crate::own::OwnTool;
use crate::pending::is_pending;
use crate::report::{Report, complaint, opens_with_complaint, report};
use crate::signature::{cause, is_generic, signature};
use crate::silence::is_silent;
use crate::tags::{nature, of_kind, plain_tag};

/// How digests are made from calls and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Which calls are alike.
    pub likeness: Likeness,
    /// How much of a result counts.
    pub result: ResultPart,
    /// What of it is volatile.
    pub masks: Masks,
    /// Which outcomes are failures, and how good they are.
    pub failures: Failures,
    /// Which answers are near.
    pub near: Near,
    /// Numbers of the host's own that are, too.
    pub counters: &'static [Counter<'static>],
    /// Declarations of single tools. Of several for one tool, the first goes first.
    pub tools: &'static [OwnTool<'static>],
}

/// Which outcomes are failures, and how good they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// Those of which the host says so; none is better than another.
    Told,
    /// Also those whose text does, but for tools that read, search or write; the number of failing
    /// tests or of errors is their score. See [`report`](crate::report()).
    Read,
}

/// Which answers are near: the digest of [`Outcome::near`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Near {
    /// Those that are equal but for their numbers.
    Numbers,
    /// Those of one class: failures with the same complaint, but for what it names; searches that
    /// found nothing; reads that showed hardly a line that is new. Others are near where they are equal
    /// but for their numbers.
    Class,
}

/// Which calls are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Only equal calls are.
    Equal,
    /// Calls with equal [primary keys](crate::PRIMARY_KEYS) are, and reads of one file.
    PrimaryKeys,
    /// Calls of one tool are whose arguments have so many percent of their words in common; see
    /// [`Groups`].
    Words(u8),
}

/// How much of a result counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// All of it.
    Whole,
    /// So many characters from its start.
    Head(usize),
}

/// What came back from a call.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The text of the result, as far as it was kept.
    pub text: &'a str,
    /// What stands for the rest of the text; `None` if all of it was kept. Equal ones stand for an
    /// equal rest.
    pub cut: Option<&'a str>,
    /// Whether the host says that the call failed.
    pub failed: bool,
    /// The kind of the [call](Call::kind).
    pub kind: Tag,
    /// The declaration of the tool at run time; the recipe's own goes before it.
    pub said: Option<OwnTool<'a>>,
}

impl<'a> Answer<'a> {
    /// The answer `text` to a call of `tool`.
    pub const fn new(tool: &'a str, text: &'a str, failed: bool) -> Self {
        Self { tool, text, cut: None, failed, kind: Tag::Other, said: None }
    }
}

/// Takes the fingerprints of arguments. The seed is fixed, so that ids of loops are the same from
/// run to run.
static PRINT: Fingerprinter<Exact> = Fingerprinter::new(0);

/// The hash of results and messages, which reads many bytes at a time.
pub(crate) const HASH: Rapid = Rapid::new(0);

/// The digest of `text` as it stands. O(n).
fn digest(text: &str) -> Digest {
    Digest::new(HASH.hash(text.as_bytes()))
}

impl Recipe {
    /// Arguments by the meaning of their JSON, whole results, and nothing alike but what is equal.
    pub const EXACT: Self = Self {
        likeness: Likeness::Equal,
        result: ResultPart::Whole,
        masks: Masks::NONE,
        failures: Failures::Told,
        near: Near::Numbers,
        counters: &[],
        tools: &[],
    };

    /// The recipe of the preset `BALANCED`: what is volatile in results is masked, failures are read
    /// from them, and calls are alike that have four of five words in common.
    pub const BALANCED: Self = Self {
        likeness: Likeness::Words(70),
        masks: Masks::ALL,
        failures: Failures::Read,
        near: Near::Class,
        ..Self::EXACT
    };

    /// The call of `tool` with `args`, which is JSON text; what is not JSON is taken as it
    /// stands. In a step of its own until [`Call::step`] says otherwise. O(length of `args`).
    ///
    /// Calls that are alike by their words are found by [`Recipe::call_among`], which remembers
    /// those before it.
    pub fn call(&self, tool: &str, args: &str) -> Call {
        self.made(self.own(tool), tool, args, |_| None)
    }

    /// As [`Recipe::call`], and alike to those of the calls before it in `groups` that it has enough
    /// words in common with. O(length of `args`).
    pub fn call_among(&self, groups: &mut Groups, tool: &str, args: &str) -> Call {
        self.grouped(groups, self.own(tool), tool, args)
    }

    /// As [`Recipe::call_among`], for a tool that was declared at run time. The recipe's own
    /// declaration goes before `said`.
    pub fn call_among_as(
        &self,
        groups: &mut Groups,
        said: OwnTool<'_>,
        tool: &str,
        args: &str,
    ) -> Call {
        self.grouped(groups, Some(self.completed(tool, said)), tool, args)
    }

    fn grouped(
        &self,
        groups: &mut Groups,
        own: Option<OwnTool<'_>>,
        tool: &str,
        args: &str,
    ) -> Call {
        self.made(own, tool, args, |call| match self.likeness {
            Likeness::Words(percent) => Some(groups.join(tool, args, call, percent)),
            Likeness::Equal | Likeness::PrimaryKeys => None,
        })
    }

    /// The call whose group `group` tells by its digest, if it is in one.
    fn made(
        &self,
        own: Option<OwnTool<'_>>,
        tool: &str,
        args: &str,
        group: impl FnOnce(Digest) -> Option<Digest>,
    ) -> Call {
        let Nature { tag, idempotent, edits } = self.nature(own, tool, args);
        let call = |args| {
            let call = Call::new(Tool::named(tool), args).tag(tag);
            if idempotent { call.idempotent() } else { call }
        };
        let key = own.and_then(|own| own.members());
        let by_keys = self.likeness == Likeness::PrimaryKeys;
        let members = if by_keys { PRIMARY } else { Members::ALL };
        let members = key.unwrap_or(members);
        let read = PRINT.shape(args.as_bytes(), &members).map(|shape| (shape.whole, shape.primary));
        let (canonical, primary) =
            read.unwrap_or_else(|_| (digest(args).mix(Digest::of(b"not JSON")), None));
        if key.is_some() {
            return call(primary.unwrap_or(canonical));
        }
        let keys = || if by_keys { file(tag, args).or(primary) } else { None };
        // Two edits that are alike are two pieces of work.
        let alike = if edits { None } else { group(canonical) };
        call(canonical).similar(alike.or_else(keys).unwrap_or(canonical))
    }

    /// The outcome of a call of `tool` with the text `result`. O(length of `result`).
    pub fn outcome(&self, tool: &str, result: &str, failed: bool) -> Outcome {
        self.outcome_of(&Answer::new(tool, result, failed), None)
    }

    /// The outcome that `answer` stands for, after the answers whose `lines` are remembered.
    /// O(length of the answer).
    pub fn outcome_of(&self, answer: &Answer<'_>, lines: Option<&mut Lines>) -> Outcome {
        let &Answer { tool, text: whole, cut, failed, kind, said } = answer;
        let own = said.map_or_else(|| self.own(tool), |said| Some(self.completed(tool, said)));
        let Masked { result: masked, near } = self.masked(own, whole, cut);
        // The lines that a host puts beside each answer say nothing of the call.
        let text = self.masker(own).trimmed(whole);
        let report = self.report(own, tool, text, failed);
        let failed = failed || report.failed == Some(true);
        let outcome = if failed { Outcome::failed(masked) } else { Outcome::ok(masked) };
        let near = match self.near {
            Near::Numbers => Some(near),
            // What is in no class is near to nothing else.
            Near::Class => {
                let reads = matches!(kind, Tag::Read | Tag::Search);
                let lines = lines.filter(|_| reads);
                let is_stale = lines.is_some_and(|lines| lines.show_masked(text, self.masker(own)));
                class(text, failed, report.score().is_some(), is_stale)
            }
        };
        let mut outcome = outcome.raw(self.raw(whole, text, cut, failed));
        if let Some(near) = near {
            outcome = outcome.near(near);
        }
        if let Some(score) = report.score() {
            outcome = outcome.score(score);
        }
        if report.timed_out {
            outcome = outcome.timed_out();
        }
        if !failed && self.failures == Failures::Read && is_pending(text) {
            outcome = outcome.pending();
        }
        // An empty list says much where something was searched.
        let is_empty_search = kind == Tag::Search && near == Some(nothing_found());
        let is_silent = cut.is_none() && !is_empty_search && self.is_silent(text, failed);
        if is_silent { outcome.silent() } else { outcome }
    }

    /// The digest of a raw answer, its volatile parts included; of a failure, that of its cause.
    fn raw(&self, whole: &str, text: &str, cut: Option<&str>, failed: bool) -> Digest {
        let is_read = failed && self.near == Near::Class;
        match if is_read { complaint(text) } else { None } {
            Some(complaint) => cause(complaint),
            None => digest(whole).mix(cut.map_or(Digest::new(0), digest)),
        }
    }

    /// What `result` says of how the call of `tool` went, of which the host says whether it `failed`.
    fn report(&self, own: Option<OwnTool<'_>>, tool: &str, result: &str, failed: bool) -> Report {
        let opens =
            || Report { failed: opens_with_complaint(result).then_some(true), ..Report::default() };
        if self.failures == Failures::Told {
            return Report::default();
        }
        match self.nature(own, tool, "").tag {
            _ if failed => report(result),
            // What is read tells of itself; but no file is a single complaint.
            Tag::Read if is_one_line(result) => opens(),
            Tag::Read | Tag::Think => Report::default(),
            // Below its first line, a search quotes what it found, and a write what it wrote.
            Tag::Search | Tag::Write => opens(),
            _ => report(result),
        }
    }

    /// Whether `result` says nothing: of a failure, not even what failed.
    fn is_silent(&self, result: &str, failed: bool) -> bool {
        let is_bare = || is_one_line(result) && is_generic(result);
        is_silent(result) || self.near == Near::Class && failed && is_bare()
    }

    /// What stands for such a result, whether or not it failed. O(length of `result`).
    pub fn result(&self, tool: &str, result: &str, cut: Option<&str>) -> Masked {
        self.masked(self.own(tool), result, cut)
    }

    fn masker(&self, own: Option<OwnTool<'_>>) -> Masker<'static> {
        own.and_then(|own| own.masks).unwrap_or(self.masks).and(self.counters)
    }

    fn masked(&self, own: Option<OwnTool<'_>>, result: &str, cut: Option<&str>) -> Masked {
        let masker = self.masker(own);
        match (self.result, cut) {
            (ResultPart::Head(characters), _) => masker.digest(head(result, characters).as_bytes()),
            (ResultPart::Whole, None) => masker.digest(result.as_bytes()),
            (ResultPart::Whole, Some(cut)) => {
                let Masked { result, near } = masker.digest(result.as_bytes());
                Masked { result: result.mix(digest(cut)), near: near.mix(digest(cut)) }
            }
        }
    }

    /// The declaration of `tool`: of several, each completes those before it.
    fn own(&self, tool: &str) -> Option<OwnTool<'static>> {
        // Names are only hashed where something is declared at all.
        if self.tools.is_empty() { None } else { self.declared(Tool::named(tool)) }
    }

    /// The recipe's declaration of `tool`. O(declarations).
    pub fn declared(&self, tool: Tool) -> Option<OwnTool<'static>> {
        let own = self.tools.iter().filter(|own| own.tool == tool).copied();
        own.reduce(OwnTool::or)
    }

    /// The declaration of `tool`, completed by what was said of it at run time.
    fn completed<'t>(&self, tool: &str, said: OwnTool<'t>) -> OwnTool<'t> {
        self.own(tool).map_or(said, |own| own.or(said))
    }

    /// What a call of `tool` with `args` does, declared as `own`. Rule sets that take only the host's
    /// word on what failed do not look into commands, either.
    fn nature(&self, own: Option<OwnTool<'_>>, tool: &str, args: &str) -> Nature {
        let Some(own) = own.filter(OwnTool::has_nature) else {
            return match self.failures {
                Failures::Read => nature(tool, args),
                Failures::Told => Nature::acting(plain_tag(tool, args)),
            };
        };
        // Without arguments, a name stands for its kind alone.
        let nature = of_kind(own.kind(nature(tool, "").tag), args);
        Nature { idempotent: own.is_idempotent().unwrap_or(nature.idempotent), ..nature }
    }

    /// What stands for a message of the user. O(length of `text`).
    pub fn message(&self, text: &str) -> Digest {
        digest(text.trim())
    }

    /// The text-only turn that said `text`, and what repeats inside it. O(length of `text`).
    pub fn turn(&self, text: &str) -> Turn {
        Turn::new(self.message(text)).echo(echo(text))
    }
}

/// What stands for the class of an answer, if it is in one.
fn class(result: &str, failed: bool, is_scored: bool, is_stale: bool) -> Option<Digest> {
    match failed {
        // How a suite fails is told by its score.
        true if is_scored => None,
        true => complaint(result).and_then(signature),
        false if finds_nothing(result) => Some(nothing_found()),
        false => is_stale.then(|| Digest::of(b"nothing new")),
    }
}

/// The class of the searches that found nothing.
fn nothing_found() -> Digest {
    Digest::of(b"nothing found")
}

/// The longest text that is one line, in bytes.
const LINE_MAX: usize = 240;

/// Whether `text` is one short line.
fn is_one_line(text: &str) -> bool {
    let text = text.trim();
    text.len() <= LINE_MAX && !text.contains('\n')
}

/// The first `characters` characters of `text`.
fn head(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// A policy of the engine with the recipe for its digests.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The rules.
    pub policy: &'static Policy<'static>,
    /// How to make the digests that the rules compare.
    pub recipe: Recipe,
}

impl Preset {
    /// The preset called `name`, as [`Policy::name`] spells it.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.policy.name() == name)
    }
}

const fn exact(policy: &'static Policy<'static>) -> Preset {
    Preset { policy, recipe: Recipe::EXACT }
}

/// Every preset, the default first.
pub static PRESETS: [Preset; 8] = [
    Preset { policy: &presets::BALANCED, recipe: Recipe::BALANCED },
    Preset {
        policy: &presets::START_OVER,
        recipe: Recipe { result: ResultPart::Head(500), ..Recipe::EXACT },
    },
    exact(&presets::GRADUATED),
    exact(&presets::GRADUATED_CONSERVATIVE),
    exact(&presets::GRADUATED_AGGRESSIVE),
    Preset {
        policy: &presets::NUDGE,
        recipe: Recipe { likeness: Likeness::PrimaryKeys, ..Recipe::EXACT },
    },
    exact(&presets::CYCLES),
    exact(&presets::REPEAT),
];

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec;

    use unstuck_core::{Tag, Tool, presets};

    use super::{Answer, OwnTool, PRESETS, Preset, Recipe, head};
    use crate::mask::Masks;

    #[test]
    fn every_policy_has_a_recipe() {
        let recipes = PRESETS.iter().map(|preset| preset.policy.name());
        assert!(recipes.eq(presets::ALL.iter().map(|policy| policy.name())));
        assert!(Preset::named("none such").is_none());
    }

    #[test]
    fn a_head_ends_between_characters() {
        for (text, characters, expected) in
            [("", 3, ""), ("äöü", 2, "äö"), ("äöü", 3, "äöü"), ("äöü", 4, "äöü"), ("x", 0, "")]
        {
            assert_eq!(head(text, characters), expected);
        }
    }

    #[test]
    fn a_tool_may_be_of_another_kind_and_have_masks_of_its_own() {
        let own = |name, tag, masks| OwnTool { tag, masks, ..OwnTool::new(Tool::named(name)) };
        let tools = vec![
            own("run", Some(Tag::Shell), None),
            own("clock", None, Some(Masks::NONE)),
            own("log", Some(Tag::Read), None),
        ];
        let recipe = Recipe { tools: tools.leak(), ..Recipe::BALANCED };
        let tests = r#"{"command":"cargo test"}"#;
        assert_eq!(recipe.call("run", tests), Recipe::BALANCED.call("run", tests).tag(Tag::Test));
        let outcome = |recipe: Recipe, tool, text| recipe.outcome(tool, text, false);
        for (tool, text) in [("clock", "at 12:03:59"), ("log", "error: no such thing\n0 found")] {
            assert_ne!(outcome(recipe, tool, text), outcome(Recipe::BALANCED, tool, text));
            assert_eq!(outcome(recipe, "t", text), outcome(Recipe::BALANCED, "t", text));
        }
    }

    #[test]
    fn arguments_that_are_no_json_are_taken_as_they_stand() {
        let call = |args| Recipe::EXACT.call("bash", args);
        assert_eq!(call("{\"a\":"), call("{\"a\":"));
        assert_ne!(call("{\"a\":"), call("{\"a\": "));
        assert_ne!(call("null"), call("nul"));
    }

    #[test]
    fn what_was_cut_off_tells_results_apart() {
        let outcome = |text, cut| {
            Recipe::EXACT.outcome_of(&Answer { cut, ..Answer::new("t", text, false) }, None)
        };
        assert_ne!(outcome("head", None), outcome("head", Some("1")));
        assert_ne!(outcome("head", Some("2")), outcome("head", Some("1")));
        assert_ne!(outcome("", Some("1")), outcome("", None));
    }
}
