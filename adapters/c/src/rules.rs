//! Policies with rules of the caller, in storage of the caller.

use core::ffi::{c_char, c_void};
use core::slice;

use unstuck_core::{
    Action, Basis, Kind, Ladder, Outcomes, Pattern, Policy, Progress, RULES_MAX, RUNGS_MAX, Rule,
    Rung, Select, Silence, TEXT_RULES_MAX, Tag, TagSet, TextRule, Texts, Tool,
};
use unstuck_text::Recipe;

use crate::memory::{self, Output, Plain};
use crate::policy::{self, unstuck_policy_t};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage;
use crate::words;

/// The count that a ladder uses.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_basis_t {
    /// Repetitions of the pattern.
    UNSTUCK_BY_REPETITIONS = 0,
    /// Findings of the same loop.
    UNSTUCK_BY_LOOP_FINDINGS = 1,
    /// Findings of any kind since the history was last cleared.
    UNSTUCK_BY_ALL_FINDINGS = 2,
}

/// The calls that a rule sees. It skips the others.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_select_t {
    /// Every call.
    UNSTUCK_SELECT_EVERY = 0,
    /// Calls with select_tag.
    UNSTUCK_SELECT_TAG = 1,
    /// Calls with any other tag.
    UNSTUCK_SELECT_EXCEPT = 2,
    /// Calls without an outcome.
    UNSTUCK_SELECT_UNREPORTED = 3,
    /// Calls of the tool of the rule.
    UNSTUCK_SELECT_TOOL = 4,
}

/// A rung of a ladder: an action, and the count that it starts at.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rung_t {
    /// The count that the rung starts at, 1 or more. Counts rise from rung to rung.
    pub count: u16,
    /// The action: one of unstuck_action_t. Actions do not fall from rung to rung.
    pub action: u8,
    /// Not read.
    pub reserved: u8,
}

/// A rule: the calls that it sees, the pattern that it finds, and the ladder of actions. Start from zeros:
/// they find equal calls in a row among all calls, whatever their results.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rule_t {
    /// The name of the rule. It must not move or change while the policy is in use.
    pub name: *const c_char,
    /// The ladder, from its lowest rung: rung_count rungs.
    pub rungs: *const unstuck_rung_t,
    /// The number of rungs, 1 to 10.
    pub rung_count: u8,
    /// The count that the ladder uses: one of unstuck_basis_t.
    pub basis: u8,
    /// The kind of the pattern: one of unstuck_kind_t. UNSTUCK_TEXT counts turns without a call: turns with
    /// equal texts if args is UNSTUCK_ARGS_SAME, otherwise all turns. If prompts is set it counts messages
    /// of the user instead. UNSTUCK_ECHO counts repetitions inside a turn. Besides these fields, rules of
    /// both kinds use only name, ladder and times.
    pub kind: u8,
    /// The parts of calls that must be equal: one of unstuck_args_t.
    pub args: u8,
    /// The parts of outcomes that must be equal: one of unstuck_results_t.
    pub results: u8,
    /// The calls that the rule sees: one of unstuck_select_t.
    pub select: u8,
    /// The tag for select: one of unstuck_tag_t.
    pub select_tag: u8,
    /// The outcomes that match. 0: any outcome. 1: failures; a success that the rule sees breaks the pattern.
    /// 2: failures; successes are skipped.
    pub failed: u8,
    /// The number of repetitions: records of a streak or recurrence, laps of a cycle, or turns; 2 or more.
    pub times: u16,
    /// For a recurrence: the number of records to look at, at most the window.
    pub within: u8,
    /// For a recurrence: the largest number of new calls between the matches; 255 for any number.
    pub novel: u8,
    /// For a cycle: the shortest lap in calls; 2 or more.
    pub period_min: u8,
    /// For a cycle: the longest lap in calls.
    pub period_max: u8,
    /// The effect of progress. 0: a pattern that contains progress is not a loop. 1: progress is ignored.
    /// 2: there is no loop while there is progress anywhere in the window.
    pub ignore_progress: u8,
    /// The results of different calls that are evidence. 0: all but silent ones. 1: silent ones, too. 2: only telling
    /// ones, which say so much that an equal one is no coincidence.
    pub count_silence: u8,
    /// The strongest action while the latest outcome is silent: one of unstuck_action_t; 0 for the action of
    /// the ladder.
    pub silent_max: u8,
    /// Nonzero if the rule needs a proof that another call does not help before it asks for more than a
    /// warning. A proof is that the calls fail in the same way, that
    /// idempotent calls have equal raw results, or 24 equal results in a row.
    pub force_proven: u8,
    /// For UNSTUCK_TEXT: whether the rule counts equal messages of the user in a row with no call between: 0
    /// for no, anything else for yes.
    pub prompts: u8,
    /// Not read.
    pub reserved: u8,
    /// The tool for UNSTUCK_SELECT_TOOL: a number of your own, or the result of unstuck_tool().
    pub tool: u32,
}

/// The rules of a policy of your own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rules_t {
    /// The name of the policy. It must not move or change while the policy is in use.
    pub name: *const c_char,
    /// The rules in the order of their evaluation: count rules.
    pub rules: *const unstuck_rule_t,
    /// The number of rules: 1 to 16 about calls, and at most 4 about text.
    pub count: usize,
    /// The tags whose calls are not recorded: bit n is the tag n of unstuck_tag_t.
    pub exempt_tags: u16,
    /// The number of records that the rules look back over, 1 to 64, and at most the detector's window.
    pub window: u8,
    /// Not read.
    pub reserved: [u8; 5],
}

/// The size in bytes of each rule of your own in a policy.
pub const UNSTUCK_POLICY_RULE: usize = 64;

/// The size in bytes of each rung.
pub const UNSTUCK_POLICY_RUNG: usize = 4;

const _: () = assert!(size_of::<Rule<'_>>() <= UNSTUCK_POLICY_RULE);
const _: () = assert!(size_of::<TextRule<'_>>() <= UNSTUCK_POLICY_RULE);
const _: () = assert!(size_of::<Rung>() <= UNSTUCK_POLICY_RUNG);

// SAFETY: made of integers.
unsafe impl Plain for unstuck_rung_t {}
// SAFETY: made of integers and of addresses that are checked before use.
unsafe impl Plain for unstuck_rule_t {}
// SAFETY: made of integers and of addresses that are checked before use.
unsafe impl Plain for unstuck_rules_t {}

/// Makes a policy from rules of your own, in storage of the caller. Its digests are made as for
/// unstuck_balanced().
///
/// storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_RULES_SIZE(rules, rungs) bytes are enough for that
/// many rules with that many rungs in all. It must not change while a detector uses the policy. rules and
/// everything that it points at may be freed afterwards, except the names. policy: receives the address of
/// the policy, which is the address of storage.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NOT_UTF8; UNSTUCK_VALUE
/// for a number outside its enumeration; UNSTUCK_RULES for rules that cannot work. After an error storage
/// may hold anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_of_rules(
    storage: *mut c_void,
    size: usize,
    rules: *const unstuck_rules_t,
    policy: *mut *const unstuck_policy_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { of_rules(storage, size, rules, policy) })
}

/// # Safety
///
/// As for [`unstuck_policy_of_rules`].
unsafe fn of_rules(
    storage: *mut c_void,
    size: usize,
    rules: *const unstuck_rules_t,
    policy: *mut *const unstuck_policy_t,
) -> Result<(), Status> {
    storage::fits::<unstuck_policy_t>(storage, size)?;
    let place: *mut unstuck_policy_t = storage.cast();
    // SAFETY: the caller guarantees it.
    unsafe {
        let (rules, policy) = (memory::read(rules)?, Output::new(policy)?);
        let mut arena = Arena::behind(place, size);
        let made = rules.policy(&mut arena)?;
        place.write(unstuck_policy_t::own(place, made, Recipe::BALANCED));
        policy.put(place);
    }
    Ok(())
}

/// The free rest of a storage.
struct Arena {
    next: *mut u8,
    left: usize,
}

impl Arena {
    /// Returns the rest behind the `T` at `place`, in a storage of `size` bytes.
    fn behind<T>(place: *mut T, size: usize) -> Self {
        let left = size.saturating_sub(size_of::<T>());
        Self { next: place.wrapping_add(1).cast(), left }
    }

    /// Allocates a list of `count` values, which `one` makes.
    ///
    /// # Safety
    ///
    /// The arena is storage that C may write, and that no other code uses as long as the list lives.
    unsafe fn list<T: Copy>(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self, usize) -> Result<T, Status>,
    ) -> Result<&'static [T], Status> {
        if count == 0 {
            return Ok(&[]);
        }
        let gap = self.next.align_offset(align_of::<T>());
        let taken = gap.saturating_add(count.saturating_mul(size_of::<T>()));
        self.left = self.left.checked_sub(taken).ok_or(Status::UNSTUCK_STORAGE_SHORT)?;
        let first: *mut T = self.next.wrapping_add(gap).cast();
        self.next = self.next.wrapping_add(taken);
        for place in 0..count {
            let value = one(self, place)?;
            // SAFETY: the address is within the arena and aligned.
            unsafe { first.wrapping_add(place).write(value) };
        }
        // SAFETY: all of them were written just now.
        Ok(unsafe { slice::from_raw_parts(first, count) })
    }
}

impl unstuck_rules_t {
    /// Returns the policy of these rules, which are copied into `arena`.
    ///
    /// # Safety
    ///
    /// The pointers and the arena are as [`unstuck_policy_of_rules`] requires.
    unsafe fn policy(&self, arena: &mut Arena) -> Result<Policy<'static>, Status> {
        if self.count > RULES_MAX.saturating_add(TEXT_RULES_MAX) {
            return Err(Status::UNSTUCK_RULES);
        }
        // SAFETY: the caller guarantees it. There are `count` rules.
        unsafe {
            let calls = self.some(arena, false, |rule, arena| rule.of_calls(arena))?;
            let texts = self.some(arena, true, |rule, arena| rule.of_texts(arena))?;
            let name = memory::text(self.name)?;
            let policy = Policy::new(name, self.window, calls).map_err(policy::status)?;
            let policy = policy.with_texts(texts).map_err(policy::status)?;
            Ok(policy.with_exempt(exempt(self.exempt_tags)?))
        }
    }
}

impl unstuck_rules_t {
    /// Returns the rules about text, or the rules about calls, as `made` converts them.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn some<T: Copy>(
        &self,
        arena: &mut Arena,
        about_text: bool,
        made: impl Fn(unstuck_rule_t, &mut Arena) -> Result<T, Status>,
    ) -> Result<&'static [T], Status> {
        let mut places = [0; RULES_MAX.saturating_add(TEXT_RULES_MAX)];
        let mut free = places.iter_mut();
        let mut count = 0_usize;
        // SAFETY: the caller guarantees it. There are `count` rules.
        let rule = |place: usize| unsafe { memory::read(self.rules.wrapping_add(place)) };
        for place in 0..self.count {
            if rule(place)?.is_about_text()? == about_text {
                *free.next().ok_or(Status::UNSTUCK_RULES)? = place;
                count = count.saturating_add(1);
            }
        }
        let one = |arena: &mut Arena, nth: usize| {
            made(rule(places.get(nth).copied().unwrap_or_default())?, arena)
        };
        // SAFETY: the caller guarantees it.
        unsafe { arena.list(count, one) }
    }
}

/// Returns the tags whose bits are set.
fn exempt(bits: u16) -> Result<TagSet, Status> {
    let set = (0_u8..16).filter(|bit| bits.checked_shr((*bit).into()).unwrap_or(0) & 1 == 1);
    set.map(words::tag).try_fold(TagSet::EMPTY, |tags, tag| Ok(tags.with(tag?)))
}

impl unstuck_rule_t {
    fn is_about_text(&self) -> Result<bool, Status> {
        Ok(matches!(words::kind(self.kind)?, Kind::Text | Kind::Echo))
    }

    /// Returns the rule about calls.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn of_calls(&self, arena: &mut Arena) -> Result<Rule<'static>, Status> {
        let (args, results) = (words::args(self.args)?, words::results(self.results)?);
        // SAFETY: the caller guarantees it.
        let (name, ladder) = unsafe { (memory::text(self.name)?, self.ladder(arena)?) };
        let mut rule = Rule::new(name, args, results, self.pattern()?, ladder);
        rule = rule.select(self.select(words::tag(self.select_tag)?)?);
        rule.outcomes = self.outcomes()?;
        rule.progress = self.progress()?;
        if self.force_proven != 0 {
            rule = rule.forced_on_proof();
        }
        rule.silence = self.silence()?;
        match words::action(self.silent_max)? {
            Action::Proceed => Ok(rule),
            most => Ok(rule.silent_at_most(most)),
        }
    }

    /// Returns the rule about text-only turns.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn of_texts(&self, arena: &mut Arena) -> Result<TextRule<'static>, Status> {
        use unstuck_core::Args;
        let texts = match (words::kind(self.kind)?, words::args(self.args)?) {
            (Kind::Echo, _) => Texts::Inside,
            _ if self.prompts != 0 => Texts::Prompt,
            (_, Args::Same) => Texts::Same,
            _ => Texts::Any,
        };
        // SAFETY: the caller guarantees it.
        let (name, ladder) = unsafe { (memory::text(self.name)?, self.ladder(arena)?) };
        Ok(TextRule::new(name, texts, self.times, ladder))
    }

    fn pattern(&self) -> Result<Pattern, Status> {
        let short = || u8::try_from(self.times).map_err(|_| Status::UNSTUCK_VALUE);
        let &Self { times, within, novel, period_min, period_max, .. } = self;
        Ok(match words::kind(self.kind)? {
            Kind::Recurrence => Pattern::Recurrence { times: short()?, within, novel },
            Kind::Cycle => Pattern::Cycle { period_min, period_max, laps: short()? },
            _ => Pattern::Streak { times },
        })
    }

    fn outcomes(&self) -> Result<Outcomes, Status> {
        words::word(&[Outcomes::Any, Outcomes::Failed, Outcomes::Failures], self.failed)
    }

    fn silence(&self) -> Result<Silence, Status> {
        let all = [Silence::Ignored, Silence::Evidence, Silence::Telling];
        words::word(&all, self.count_silence)
    }

    fn progress(&self) -> Result<Progress, Status> {
        let all = [Progress::Respect, Progress::Ignore, Progress::Anywhere];
        words::word(&all, self.ignore_progress)
    }

    fn select(&self, tag: Tag) -> Result<Select, Status> {
        match self.select {
            0 => Ok(Select::Every),
            1 => Ok(Select::Tag(tag)),
            2 => Ok(Select::Except(tag)),
            3 => Ok(Select::Unreported),
            4 => Ok(Select::Tool(Tool::new(self.tool))),
            _ => Err(Status::UNSTUCK_VALUE),
        }
    }

    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn ladder(&self, arena: &mut Arena) -> Result<Ladder<'static>, Status> {
        let count = usize::from(self.rung_count);
        if count > RUNGS_MAX {
            return Err(Status::UNSTUCK_RULES);
        }
        let basis = match self.basis {
            0 => Basis::Repetitions,
            1 => Basis::LoopFindings,
            2 => Basis::AllFindings,
            _ => return Err(Status::UNSTUCK_VALUE),
        };
        let rung = |_: &mut Arena, place: usize| {
            // SAFETY: the caller guarantees it. There are `count` rungs.
            let rung = unsafe { memory::read(self.rungs.wrapping_add(place))? };
            Ok(Rung::new(rung.count, words::action(rung.action)?))
        };
        // SAFETY: the caller guarantees it.
        Ok(Ladder { basis, rungs: unsafe { arena.list(count, rung)? } })
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::null;
    use std::ffi::CString;
    use std::vec::Vec;

    use unstuck_core::{Args, Force, Results, presets};

    use super::*;

    /// A storage that is large enough for any policy.
    #[repr(align(8))]
    struct Storage([u8; 4096]);

    fn text(name: &str) -> *const c_char {
        CString::new(name).expect("no NUL").into_raw()
    }

    fn of_ladder(name: &str, ladder: &Ladder<'_>) -> unstuck_rule_t {
        let rung = |rung: &Rung| unstuck_rung_t {
            count: rung.count,
            action: words::unstuck_action_t::from(rung.action) as u8,
            reserved: 0,
        };
        let rungs: Vec<_> = ladder.rungs.iter().map(rung).collect();
        // SAFETY: addresses and integers may be zero.
        let zeros: unstuck_rule_t = unsafe { core::mem::zeroed() };
        unstuck_rule_t {
            name: text(name),
            rung_count: u8::try_from(rungs.len()).expect("a few"),
            rungs: rungs.leak().as_ptr(),
            basis: match ladder.basis {
                Basis::Repetitions => 0,
                Basis::LoopFindings => 1,
                Basis::AllFindings => 2,
            },
            ..zeros
        }
    }

    fn of_calls(rule: &Rule<'_>) -> unstuck_rule_t {
        let tag = |tag: Tag| words::unstuck_tag_t::from(tag) as u8;
        let mut converted = of_ladder(rule.name, &rule.ladder);
        converted.args = words::unstuck_args_t::from(rule.args) as u8;
        converted.results = words::unstuck_results_t::from(rule.results) as u8;
        (converted.select, converted.select_tag) = match rule.select {
            Select::Every => (0, 0),
            Select::Tag(one) => (1, tag(one)),
            Select::Except(one) => (2, tag(one)),
            Select::Unreported => (3, 0),
            Select::Tool(tool) => {
                converted.tool = tool.id();
                (4, 0)
            }
        };
        match rule.pattern {
            Pattern::Streak { times } => converted.times = times,
            Pattern::Recurrence { times, within, novel } => {
                (converted.kind, converted.times, converted.within, converted.novel) =
                    (1, times.into(), within, novel);
            }
            Pattern::Cycle { period_min, period_max, laps } => {
                (converted.kind, converted.times) = (2, laps.into());
                (converted.period_min, converted.period_max) = (period_min, period_max);
            }
        }
        converted.failed = match rule.outcomes {
            Outcomes::Any => 0,
            Outcomes::Failed => 1,
            Outcomes::Failures => 2,
        };
        converted.ignore_progress = match rule.progress {
            Progress::Respect => 0,
            Progress::Ignore => 1,
            Progress::Anywhere => 2,
        };
        converted.force_proven = (rule.force == Force::Proven).into();
        converted.count_silence = match rule.silence {
            Silence::Ignored => 0,
            Silence::Evidence => 1,
            Silence::Telling => 2,
        };
        converted.silent_max = words::unstuck_action_t::from(rule.silent_max) as u8;
        converted
    }

    fn of_texts(rule: &TextRule<'_>) -> unstuck_rule_t {
        let mut converted = of_ladder(rule.name, &rule.ladder);
        (converted.kind, converted.args, converted.prompts) = match rule.texts {
            Texts::Any => (3, 3, 0),
            Texts::Same => (3, 0, 0),
            Texts::Prompt => (3, 0, 1),
            Texts::Inside => (4, 0, 0),
        };
        converted.times = rule.times;
        converted
    }

    fn of_policy(policy: &Policy<'_>, rules: &[unstuck_rule_t]) -> unstuck_rules_t {
        let exempt = Tag::ALL.into_iter().filter(|tag| policy.exempt().contains(*tag));
        let bit = |tag: Tag| 1_u16 << (words::unstuck_tag_t::from(tag) as u8);
        unstuck_rules_t {
            name: text(policy.name()),
            rules: rules.as_ptr(),
            count: rules.len(),
            exempt_tags: exempt.fold(0, |bits, tag| bits | bit(tag)),
            window: policy.window(),
            reserved: [0; 5],
        }
    }

    /// Converts `policy` to C's rules and back in storage of every size. The result is equal, or the storage
    /// is too short.
    fn convert(policy: &Policy<'_>) {
        // Rules about text may come first.
        let texts = policy.texts().iter().map(of_texts);
        let rules: Vec<_> = texts.chain(policy.rules().iter().map(of_calls)).collect();
        let converted = of_policy(policy, &rules);
        let mut storage = Storage([0xAA; 4096]);
        let rungs: usize = rules.iter().map(|rule| usize::from(rule.rung_count)).sum();
        let enough = policy::UNSTUCK_POLICY_HEAD
            + rules.len() * UNSTUCK_POLICY_RULE
            + rungs * UNSTUCK_POLICY_RUNG;
        for size in 0..=enough {
            let mut made = null();
            let place: *mut c_void = storage.0.as_mut_ptr().cast();
            // SAFETY: all of it is there.
            let status = unsafe {
                unstuck_policy_of_rules(place, size, &raw const converted, &raw mut made)
            };
            match status {
                Status::UNSTUCK_OK => {
                    // SAFETY: it was made just now.
                    assert_eq!(unsafe { (*made).policy }, *policy);
                }
                Status::UNSTUCK_STORAGE_SHORT => assert!(size < enough, "{size}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn every_preset_can_be_written_in_c() {
        presets::ALL.into_iter().for_each(convert);
    }

    #[test]
    fn every_option_of_a_rule_can_be_written_in_c() {
        const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Block)]);
        const RULE: Rule<'_> =
            Rule::new("r", Args::Same, Results::Same, Pattern::Streak { times: 2 }, LADDER);
        const RULES: [Rule<'_>; 8] = [
            RULE.failed(),
            RULE.failures(),
            RULE.forced_on_proof(),
            RULE.ignore_progress(),
            RULE.respect_progress_anywhere(),
            RULE.select(Select::Tool(Tool::new(7))),
            RULE.select(Select::Tag(Tag::Act)).count_silence().silent_at_most(Action::Warn),
            RULE.only_telling(),
        ];
        const TEXTS: [TextRule<'_>; 4] = [
            TextRule::new("any", Texts::Any, 2, LADDER),
            TextRule::new("same", Texts::Same, 2, LADDER),
            TextRule::new("prompt", Texts::Prompt, 3, LADDER),
            TextRule::new("inside", Texts::Inside, 4, LADDER),
        ];
        let policy = Policy::new("own", 8, &RULES).expect("rules that can work");
        let policy = policy.with_texts(&TEXTS).expect("texts that can work");
        convert(&policy.with_exempt(TagSet::EMPTY.with(Tag::Act)));
    }
}
