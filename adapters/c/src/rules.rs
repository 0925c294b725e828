//! Policies of the caller's own rules, in storage of the caller's.

use core::ffi::{c_char, c_void};
use core::slice;

use unstuck_core::{
    Action, Basis, Kind, Ladder, Outcomes, Pattern, Policy, Progress, RULES_MAX, RUNGS_MAX, Rule,
    Rung, Select, TEXT_RULES_MAX, Tag, TagSet, TextRule, Texts,
};
use unstuck_text::Recipe;

use crate::memory::{self, Place, Plain};
use crate::policy::{self, unstuck_policy_t};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage;
use crate::words;

/// What a ladder counts.
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

/// Which calls a rule sees; the others are skipped.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_select_t {
    /// Every call.
    UNSTUCK_SELECT_EVERY = 0,
    /// Calls with select_tag.
    UNSTUCK_SELECT_TAG = 1,
    /// Calls with any other tag.
    UNSTUCK_SELECT_EXCEPT = 2,
    /// Calls whose outcome never came.
    UNSTUCK_SELECT_UNREPORTED = 3,
}

/// One rung of a ladder: from this count on, this action.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rung_t {
    /// The count from which on the rung holds, 1 or more. Counts rise from rung to rung.
    pub count: u16,
    /// What to do there: one of unstuck_action_t. Actions do not fall from rung to rung.
    pub action: u8,
    /// Not read.
    pub reserved: u8,
}

/// What must match, which calls count, how they recur, and what to do about it. Zeros are a good
/// beginning: every call, the same tool and arguments whatever comes back, in a row.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rule_t {
    /// What findings call the rule. Must stay where it is as long as the policy does.
    pub name: *const c_char,
    /// The ladder, from its lowest rung: rung_count rungs.
    pub rungs: *const unstuck_rung_t,
    /// How many rungs there are, 1 to 10.
    pub rung_count: u8,
    /// What the ladder counts: one of unstuck_basis_t.
    pub basis: u8,
    /// How things recur: one of unstuck_kind_t. UNSTUCK_TEXT counts turns without a call, those with
    /// the same text if args is UNSTUCK_ARGS_SAME, and all of them else; if prompts is set it counts
    /// messages of the user instead. UNSTUCK_ECHO counts what repeats inside a turn. Of such a rule
    /// only name, ladder and times are read beside that.
    pub kind: u8,
    /// What two calls must have in common: one of unstuck_args_t.
    pub args: u8,
    /// What their outcomes must have in common: one of unstuck_results_t.
    pub results: u8,
    /// Which calls the rule sees: one of unstuck_select_t.
    pub select: u8,
    /// The tag that select is about: one of unstuck_tag_t.
    pub select_tag: u8,
    /// Which outcomes match: 0 for any. 1 for failures, and a call that the rule sees and that worked
    /// breaks the pattern. 2 for failures, and a call that worked is passed over.
    pub failed: u8,
    /// How often: records of a streak or recurrence, laps of a cycle, turns; 2 or more.
    pub times: u16,
    /// A recurrence: among how many records, the window at most.
    pub within: u8,
    /// A recurrence: how many new calls may stand between the matches; 255 for any number.
    pub novel: u8,
    /// A cycle: the shortest lap, in calls; 2 or more.
    pub period_min: u8,
    /// A cycle: the longest lap.
    pub period_max: u8,
    /// How progress counts: 0 if a pattern that holds progress is no loop. 1 if it is a loop all the
    /// same. 2 if nothing is a loop as long as there is progress anywhere in the window.
    pub ignore_progress: u8,
    /// Whether silent results of different calls are as much evidence as others: 0 for no, anything
    /// else for yes.
    pub count_silence: u8,
    /// The most to ask for while the latest outcome is silent: one of unstuck_action_t; 0 for whatever
    /// the ladder says.
    pub silent_max: u8,
    /// Whether the rule asks for more than a warning only if running the call again is known not to
    /// help: 0 for no, anything else for yes. It is known if the calls fail alike, if idempotent calls
    /// have equal answers (raw), or after 24 equal answers in a row.
    pub force_proven: u8,
    /// A rule of UNSTUCK_TEXT: whether it counts how often the user sent the same message in a row,
    /// with no call between. 0 for no, anything else for yes.
    pub prompts: u8,
    /// Not read.
    pub reserved: [u8; 5],
}

/// The rules of a policy of your own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct unstuck_rules_t {
    /// What the policy is called. Must stay where it is as long as the policy does.
    pub name: *const c_char,
    /// The rules, in the order in which they are judged: count rules.
    pub rules: *const unstuck_rule_t,
    /// How many rules there are: 1 to 14 about calls, and up to 4 about text.
    pub count: usize,
    /// Whose calls are not recorded: bit n stands for the tag n of unstuck_tag_t.
    pub exempt_tags: u16,
    /// How many records the rules look back over, 1 to 64, and at most the detector's window.
    pub window: u8,
    /// Not read.
    pub reserved: [u8; 5],
}

/// How many bytes each rule of your own adds to a policy.
pub const UNSTUCK_POLICY_RULE: usize = 64;

/// How many bytes each rung adds.
pub const UNSTUCK_POLICY_RUNG: usize = 4;

const _: () = assert!(size_of::<Rule<'_>>() <= UNSTUCK_POLICY_RULE);
const _: () = assert!(size_of::<TextRule<'_>>() <= UNSTUCK_POLICY_RULE);
const _: () = assert!(size_of::<Rung>() <= UNSTUCK_POLICY_RUNG);

// SAFETY: made of integers.
unsafe impl Plain for unstuck_rung_t {}
// SAFETY: made of integers and of addresses that nobody follows unseen.
unsafe impl Plain for unstuck_rule_t {}
// SAFETY: made of integers and of addresses that nobody follows unseen.
unsafe impl Plain for unstuck_rules_t {}

/// Makes a policy of rules of your own, in storage of the caller's. Digests for it are made as for
/// unstuck_balanced().
///
/// storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_RULES_SIZE(rules, rungs) are enough for so
/// many rules with so many rungs in all. It must stay as it is for as long as a detector follows the
/// policy. rules and all that it points at may be thrown away afterwards, but for the names. policy:
/// receives the address of the policy, which is that of storage.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NOT_UTF8;
/// UNSTUCK_VALUE for a number that is none of its enumeration; UNSTUCK_RULES for rules that cannot
/// work. Where there is an error storage may hold anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_of_rules(
    storage: *mut c_void,
    size: usize,
    rules: *const unstuck_rules_t,
    policy: *mut *const unstuck_policy_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
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
    // SAFETY: the caller says so.
    unsafe {
        let (rules, policy) = (memory::read(rules)?, Place::new(policy)?);
        let mut room = Room::behind(place, size);
        let made = rules.policy(&mut room)?;
        place.write(unstuck_policy_t::own(place, made, Recipe::BALANCED));
        policy.put(place);
    }
    Ok(())
}

/// What is left of a storage.
struct Room {
    next: *mut u8,
    left: usize,
}

impl Room {
    /// The room behind the `T` at `place`, where `size` bytes are.
    fn behind<T>(place: *mut T, size: usize) -> Self {
        let left = size.saturating_sub(size_of::<T>());
        Self { next: place.wrapping_add(1).cast(), left }
    }

    /// The list of what `one` gives for each place up to `count`.
    ///
    /// # Safety
    ///
    /// The room is storage that C may write, and that nobody else uses as long as the list.
    unsafe fn list<T: Copy>(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self, usize) -> Result<T, Status>,
    ) -> Result<&'static [T], Status> {
        let gap = self.next.align_offset(align_of::<T>());
        let taken = gap.saturating_add(count.saturating_mul(size_of::<T>()));
        self.left = self.left.checked_sub(taken).ok_or(Status::UNSTUCK_STORAGE_SHORT)?;
        let first: *mut T = self.next.wrapping_add(gap).cast();
        self.next = self.next.wrapping_add(taken);
        for place in 0..count {
            let value = one(self, place)?;
            // SAFETY: it lies within the room, and is aligned.
            unsafe { first.wrapping_add(place).write(value) };
        }
        // SAFETY: all of them were written just now.
        Ok(unsafe { slice::from_raw_parts(first, count) })
    }
}

impl unstuck_rules_t {
    /// The policy of these rules, which are put into `room`.
    ///
    /// # Safety
    ///
    /// The caller of [`unstuck_policy_of_rules`] vouches for the pointers, and for the room.
    unsafe fn policy(&self, room: &mut Room) -> Result<Policy<'static>, Status> {
        if self.count > RULES_MAX.saturating_add(TEXT_RULES_MAX) {
            return Err(Status::UNSTUCK_RULES);
        }
        // SAFETY: the caller says so; there are so many rules.
        unsafe {
            let calls = self.some(room, false, |rule, room| rule.of_calls(room))?;
            let texts = self.some(room, true, |rule, room| rule.of_texts(room))?;
            let name = memory::text(self.name)?;
            let policy = Policy::new(name, self.window, calls).map_err(policy::flaw)?;
            let policy = policy.with_texts(texts).map_err(policy::flaw)?;
            Ok(policy.with_exempt(exempt(self.exempt_tags)?))
        }
    }
}

impl unstuck_rules_t {
    /// Those rules that are about text, or that are not, as `made` makes them.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn some<T: Copy>(
        &self,
        room: &mut Room,
        about_text: bool,
        made: impl Fn(unstuck_rule_t, &mut Room) -> Result<T, Status>,
    ) -> Result<&'static [T], Status> {
        let mut places = [0; RULES_MAX.saturating_add(TEXT_RULES_MAX)];
        let mut free = places.iter_mut();
        let mut count = 0_usize;
        // SAFETY: the caller says so; there are so many rules.
        let rule = |place: usize| unsafe { memory::read(self.rules.wrapping_add(place)) };
        for place in 0..self.count {
            if rule(place)?.is_about_text()? == about_text {
                *free.next().ok_or(Status::UNSTUCK_RULES)? = place;
                count = count.saturating_add(1);
            }
        }
        let one = |room: &mut Room, nth: usize| {
            made(rule(places.get(nth).copied().unwrap_or_default())?, room)
        };
        // SAFETY: the caller says so.
        unsafe { room.list(count, one) }
    }
}

/// The tags whose bits are set.
fn exempt(bits: u16) -> Result<TagSet, Status> {
    let set = (0_u8..16).filter(|bit| bits.checked_shr((*bit).into()).unwrap_or(0) & 1 == 1);
    set.map(words::tag).try_fold(TagSet::EMPTY, |tags, tag| Ok(tags.with(tag?)))
}

impl unstuck_rule_t {
    fn is_about_text(&self) -> Result<bool, Status> {
        Ok(matches!(words::kind(self.kind)?, Kind::Text | Kind::Echo))
    }

    /// The rule about calls.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn of_calls(&self, room: &mut Room) -> Result<Rule<'static>, Status> {
        let (args, results) = (words::args(self.args)?, words::results(self.results)?);
        // SAFETY: the caller says so.
        let (name, ladder) = unsafe { (memory::text(self.name)?, self.ladder(room)?) };
        let mut rule = Rule::new(name, args, results, self.pattern()?, ladder);
        rule = rule.select(self.select(words::tag(self.select_tag)?)?);
        rule.outcomes = self.outcomes()?;
        rule.progress = self.progress()?;
        if self.force_proven != 0 {
            rule = rule.forced_on_proof();
        }
        if self.count_silence != 0 {
            rule = rule.count_silence();
        }
        match words::action(self.silent_max)? {
            Action::Proceed => Ok(rule),
            most => Ok(rule.silent_at_most(most)),
        }
    }

    /// The rule about text-only turns.
    ///
    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn of_texts(&self, room: &mut Room) -> Result<TextRule<'static>, Status> {
        use unstuck_core::Args;
        let texts = match (words::kind(self.kind)?, words::args(self.args)?) {
            (Kind::Echo, _) => Texts::Inside,
            _ if self.prompts != 0 => Texts::Prompt,
            (_, Args::Same) => Texts::Same,
            _ => Texts::Any,
        };
        // SAFETY: the caller says so.
        let (name, ladder) = unsafe { (memory::text(self.name)?, self.ladder(room)?) };
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
            _ => Err(Status::UNSTUCK_VALUE),
        }
    }

    /// # Safety
    ///
    /// As for [`unstuck_rules_t::policy`].
    unsafe fn ladder(&self, room: &mut Room) -> Result<Ladder<'static>, Status> {
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
        let rung = |_: &mut Room, place: usize| {
            // SAFETY: the caller says so; there are so many rungs.
            let rung = unsafe { memory::read(self.rungs.wrapping_add(place))? };
            Ok(Rung::new(rung.count, words::action(rung.action)?))
        };
        // SAFETY: the caller says so.
        Ok(Ladder { basis, rungs: unsafe { room.list(count, rung)? } })
    }
}

#[cfg(test)]
mod tests {
    use core::ptr::null;
    use std::ffi::CString;
    use std::vec::Vec;

    use unstuck_core::{Args, Force, Results, Silence, presets};

    use super::*;

    /// A storage with room for any policy.
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
        let mut told = of_ladder(rule.name, &rule.ladder);
        told.args = words::unstuck_args_t::from(rule.args) as u8;
        told.results = words::unstuck_results_t::from(rule.results) as u8;
        (told.select, told.select_tag) = match rule.select {
            Select::Every => (0, 0),
            Select::Tag(one) => (1, tag(one)),
            Select::Except(one) => (2, tag(one)),
            Select::Unreported => (3, 0),
        };
        match rule.pattern {
            Pattern::Streak { times } => told.times = times,
            Pattern::Recurrence { times, within, novel } => {
                (told.kind, told.times, told.within, told.novel) = (1, times.into(), within, novel);
            }
            Pattern::Cycle { period_min, period_max, laps } => {
                (told.kind, told.times) = (2, laps.into());
                (told.period_min, told.period_max) = (period_min, period_max);
            }
        }
        told.failed = match rule.outcomes {
            Outcomes::Any => 0,
            Outcomes::Failed => 1,
            Outcomes::Failures => 2,
        };
        told.ignore_progress = match rule.progress {
            Progress::Respect => 0,
            Progress::Ignore => 1,
            Progress::Anywhere => 2,
        };
        told.force_proven = (rule.force == Force::Proven).into();
        told.count_silence = (rule.silence == Silence::Evidence).into();
        told.silent_max = words::unstuck_action_t::from(rule.silent_max) as u8;
        told
    }

    fn of_texts(rule: &TextRule<'_>) -> unstuck_rule_t {
        let mut told = of_ladder(rule.name, &rule.ladder);
        (told.kind, told.args, told.prompts) = match rule.texts {
            Texts::Any => (3, 3, 0),
            Texts::Same => (3, 0, 0),
            Texts::Prompt => (3, 0, 1),
            Texts::Inside => (4, 0, 0),
        };
        told.times = rule.times;
        told
    }

    fn told(policy: &Policy<'_>, rules: &[unstuck_rule_t]) -> unstuck_rules_t {
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

    /// Tells `policy` by its rules in storage of every size: it is the same, or the storage is short.
    fn tell(policy: &Policy<'_>) {
        // The texts first: what is about text stands by itself.
        let texts = policy.texts().iter().map(of_texts);
        let rules: Vec<_> = texts.chain(policy.rules().iter().map(of_calls)).collect();
        let told = told(policy, &rules);
        let mut storage = Storage([0xAA; 4096]);
        let rungs: usize = rules.iter().map(|rule| usize::from(rule.rung_count)).sum();
        let enough = policy::UNSTUCK_POLICY_HEAD
            + rules.len() * UNSTUCK_POLICY_RULE
            + rungs * UNSTUCK_POLICY_RUNG;
        for size in 0..=enough {
            let mut made = null();
            let place: *mut c_void = storage.0.as_mut_ptr().cast();
            // SAFETY: all of it is there.
            let status =
                unsafe { unstuck_policy_of_rules(place, size, &raw const told, &raw mut made) };
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
    fn every_preset_can_be_told_by_its_rules() {
        presets::ALL.into_iter().for_each(tell);
    }

    #[test]
    fn every_option_of_a_rule_can_be_told() {
        const LADDER: Ladder<'_> = Ladder::by_repetitions(&[Rung::new(2, Action::Block)]);
        const RULE: Rule<'_> =
            Rule::new("r", Args::Same, Results::Same, Pattern::Streak { times: 2 }, LADDER);
        const RULES: [Rule<'_>; 6] = [
            RULE.failed(),
            RULE.failures(),
            RULE.forced_on_proof(),
            RULE.ignore_progress(),
            RULE.respect_progress_anywhere(),
            RULE.select(Select::Tag(Tag::Act)).count_silence().silent_at_most(Action::Warn),
        ];
        const TEXTS: [TextRule<'_>; 4] = [
            TextRule::new("any", Texts::Any, 2, LADDER),
            TextRule::new("same", Texts::Same, 2, LADDER),
            TextRule::new("prompt", Texts::Prompt, 3, LADDER),
            TextRule::new("inside", Texts::Inside, 4, LADDER),
        ];
        let policy = Policy::new("own", 8, &RULES).expect("rules that can work");
        let policy = policy.with_texts(&TEXTS).expect("texts that can work");
        tell(&policy.with_exempt(TagSet::EMPTY.with(Tag::Act)));
    }
}
