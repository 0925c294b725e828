//! The window: the last W settled records, with a column for each digest.
//!
//! A result has 32 bits, and a call 64. No rule fires on fewer than two pairs of equal results, and
//! two pairs collide by chance once in 2⁶⁴. The digest of a call alone decides what is blocked.
//! With 32 bits, two of 20 calls would collide once in 200 million events.

use crate::Digest;
use crate::evidence::{End, Ending};
use crate::mask::Mask;
use crate::pattern::Hit;
use crate::policy::Policy;
use crate::record::{Record, Says, Score, Status, Tag, Tool};
use crate::rule::{Args, Outcomes, Progress, Results, Rule, Silence};
use crate::selection::Column;

/// The last `W` settled records. Slots are filled downwards, so that the slot after the newest
/// holds the record before it. A rotation turns slots into ages.
#[derive(Clone, Debug)]
pub(crate) struct Window<const W: usize> {
    args: [Digest; W],
    result: [u32; W],
    similar: [u32; W],
    near: [u32; W],
    /// The ids of the tools.
    tool: [u32; W],
    /// The digest of each raw answer, including its volatile parts.
    raw: [u16; W],
    /// The tag of each record, and the marks that are needed only if a record is read again.
    marks: [Marks; W],
    flags: Flags,
    newest: u8,
    len: u8,
}

/// What is known of the records of a window. Bit *k* is the record *k* before the newest, and no bit
/// is set beyond the oldest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) answered: Mask,
    pub(crate) vetoed: Mask,
    cancelled: Mask,
    /// Failures. A blocked call counts as a failure.
    pub(crate) failed: Mask,
    pub(crate) silent: Mask,
    pub(crate) novel: Mask,
    /// Novel calls of writing tools that worked.
    pub(crate) written: Mask,
    /// Calls for which an equal answer proves that calling again does not help.
    idempotent: Mask,
}

impl Flags {
    const NONE: Self = Self {
        answered: Mask::NONE,
        vetoed: Mask::NONE,
        cancelled: Mask::NONE,
        failed: Mask::NONE,
        silent: Mask::NONE,
        novel: Mask::NONE,
        written: Mask::NONE,
        idempotent: Mask::NONE,
    };

    fn each_mut(&mut self) -> [&mut Mask; 8] {
        let Self { answered, vetoed, cancelled, failed, silent, novel, written, idempotent } = self;
        [answered, vetoed, cancelled, failed, silent, novel, written, idempotent]
    }

    /// Forgets the `n` newest records.
    fn turn_back(&mut self, n: u32) {
        for flags in self.each_mut() {
            *flags = flags.since(n);
        }
    }
}

/// Returns `W` as a number, and checks at compile time that `W` records fit into a mask.
const fn width<const W: usize>() -> u8 {
    const { assert!(W >= 1 && W <= 64, "a detector holds 1 to 64 records") };
    let [lowest, ..] = W.to_le_bytes();
    lowest
}

impl<const W: usize> Window<W> {
    pub(crate) const fn new() -> Self {
        Self {
            args: [Digest::new(0); W],
            result: [0; W],
            similar: [0; W],
            near: [0; W],
            tool: [0; W],
            raw: [0; W],
            marks: [Marks::NONE; W],
            flags: Flags::NONE,
            newest: 0,
            len: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.flags = Flags::NONE;
        self.len = 0;
    }

    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    /// Adds the newest record. The record `W` before it is forgotten. O(1).
    pub(crate) fn push(&mut self, record: &Record) {
        let width = width::<W>();
        self.newest = self.newest.checked_sub(1).unwrap_or(width.saturating_sub(1));
        self.len = self.len.saturating_add(1).min(width);
        let slot = usize::from(self.newest);
        set(&mut self.args, slot, record.args);
        set(&mut self.result, slot, record.result);
        set(&mut self.similar, slot, record.similar);
        set(&mut self.near, slot, record.near);
        set(&mut self.tool, slot, record.tool.id());
        set(&mut self.raw, slot, record.raw);
        set(&mut self.marks, slot, Marks::of(record));
        let all = Mask::newest(u32::from(width));
        let now = [
            record.status == Status::Reported,
            record.status == Status::Vetoed,
            record.status == Status::Cancelled,
            record.has_failed(),
            record.is_silent(),
            record.novel,
            record.has_written(),
            record.idempotent,
        ];
        for (flags, is) in self.flags.each_mut().into_iter().zip(now) {
            *flags = flags.then(is) & all;
        }
    }

    /// Makes records of calls that worked count as if they had been cancelled. O(1).
    pub(crate) fn forget_answers(&mut self) {
        let worked = self.flags.answered & !self.flags.failed;
        self.flags.cancelled = self.flags.cancelled | worked;
        self.flags.answered = self.flags.answered & !worked;
        self.flags.novel = self.flags.novel & !worked;
        self.flags.written = self.flags.written & !worked;
    }

    /// Takes back the newest record. O(1).
    pub(crate) fn pop(&mut self) -> Option<Record> {
        let record = self.record(0)?;
        let after = self.newest.saturating_add(1);
        self.newest = if after < width::<W>() { after } else { 0 };
        self.len = self.len.saturating_sub(1);
        self.flags.turn_back(1);
        Some(record)
    }

    /// Returns the record `age` records back in its settled form. Age 0 is the newest.
    pub(crate) fn record(&self, age: u32) -> Option<Record> {
        let slot = self.slot(age)?;
        let marks = *self.marks.get(slot)?;
        let status = if self.flags.answered.has(age) {
            Status::Reported
        } else if self.flags.vetoed.has(age) {
            Status::Vetoed
        } else if self.flags.cancelled.has(age) {
            Status::Cancelled
        } else if marks.has(Marks::TELLING_OR_DROPPED) {
            Status::Dropped
        } else {
            Status::Unreported
        };
        let before = (age..).map_while(|age| self.marks(age));
        let joined = before.take_while(|marks| marks.has(Marks::JOINED)).count();
        Some(Record {
            args: *self.args.get(slot)?,
            result: *self.result.get(slot)?,
            similar: *self.similar.get(slot)?,
            near: *self.near.get(slot)?,
            tool: Tool::new(*self.tool.get(slot)?),
            raw: *self.raw.get(slot)?,
            tag: marks.tag(),
            status,
            failed: status == Status::Reported && self.flags.failed.has(age),
            says: match status {
                _ if self.flags.silent.has(age) => Says::Nothing,
                Status::Reported if marks.has(Marks::TELLING_OR_DROPPED) => Says::Much,
                _ => Says::Something,
            },
            idempotent: self.flags.idempotent.has(age),
            transient: marks.has(Marks::TRANSIENT),
            novel: self.flags.novel.has(age),
            in_step: u8::try_from(joined).unwrap_or(u8::MAX),
            moved: marks.has(Marks::MOVED),
            era: 0,
            score: Score::NONE,
        })
    }

    /// Returns the age of the latest record if it is of the call that ended `now`, and came back
    /// with the same bytes. A blocked call matches any answer. Only records in `reach` count.
    /// O(1).
    pub(crate) fn continued_by(&self, now: Ending, reach: Mask) -> Option<u32> {
        let present = reach & Mask::newest(self.len()) & !self.flags.cancelled;
        let age = present.nth(0)?;
        if !now.is_comparable_to(self.ending(age)?) {
            return None;
        }
        let latest = (self.flags.answered & reach).nth(0).and_then(|latest| self.ending(latest));
        latest.is_none_or(|latest| now.has_answer_of(latest)).then_some(age)
    }

    /// Returns how many repetitions of `hit`, up to `record` and without a gap, prove that making
    /// its calls again does not help. While something in `reach` is under way,
    /// an equal answer to a call that works proves nothing: it may change by itself. O(W).
    pub(crate) fn proven(&self, record: &Record, hit: &Hit, reach: Mask) -> u16 {
        let waits = self.is_under_way(reach);
        let period = usize::from(hit.period);
        let (ages, mut row) = (hit.evidence.since(1), 0_u16);
        let olders = ages.places().skip(period.saturating_sub(1));
        let mut newer = Ending::of(record, record.status);
        for (newer_age, older_age) in ages.places().zip(olders) {
            let proves = |older: &Ending| newer.proves_with(*older) && !(waits && newer.worked());
            let Some(older) = self.ending(older_age).filter(proves) else { break };
            newer = if period == 1 { older } else { self.ending(newer_age).unwrap_or(older) };
            row = row.saturating_add(1);
        }
        row.checked_div(hit.period.into()).unwrap_or(0).saturating_add(1)
    }

    /// Returns whether a call in `reach` was answered that something is under way. O(W).
    fn is_under_way(&self, reach: Mask) -> bool {
        let is_poll = |age| self.marks(age).is_some_and(|marks| marks.has_tag(Tag::Poll));
        (self.flags.answered & reach).places().any(is_poll)
    }

    /// Returns whether the `count` newest records are duplicates of the record before them: issued
    /// in the same step, of the same call, and with the same ending. O(`count`).
    pub(crate) fn only_duplicates(&self, count: u32) -> bool {
        let first = self.ending(count);
        (0..count).all(|age| {
            self.marks(age).is_some_and(|marks| marks.has(Marks::JOINED))
                && self.ending(age).zip(first).is_some_and(|(one, first)| one.proves_with(first))
        })
    }

    /// Returns the ending of the call `age` records back.
    fn ending(&self, age: u32) -> Option<Ending> {
        let slot = self.slot(age)?;
        let (answered, vetoed) = (self.flags.answered.has(age), self.flags.vetoed.has(age));
        let end = if self.marks.get(slot)?.has_tag(Tag::Poll) || !answered && !vetoed {
            End::Open
        } else if vetoed {
            End::Vetoed
        } else if self.flags.failed.has(age) {
            End::Failed
        } else {
            End::Worked { idempotent: self.flags.idempotent.has(age) }
        };
        Some(Ending {
            args: *self.args.get(slot)?,
            result: *self.result.get(slot)?,
            raw: *self.raw.get(slot)?,
            end,
        })
    }

    /// Returns the tool of the call `age` records back.
    pub(crate) fn tool(&self, age: u32) -> Option<Tool> {
        self.tool.get(self.slot(age)?).copied().map(Tool::new)
    }

    /// Returns the age of the latest failure that `is_meant`, if its tool failed more than once among these. O(W).
    pub(crate) fn failing(&self, is_meant: impl Fn(u32) -> bool) -> Option<u32> {
        let mut failed =
            (self.flags.failed & self.flags.answered).places().filter(|&age| is_meant(age));
        let latest = failed.next()?;
        failed.any(|age| self.tool(age) == self.tool(latest)).then_some(latest)
    }

    /// Returns the marks of the record `age` records back.
    fn marks(&self, age: u32) -> Option<Marks> {
        self.marks.get(self.slot(age)?).copied()
    }

    /// Returns the slot of the record `age` records back.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn slot(&self, age: u32) -> Option<usize> {
        if age >= self.len() {
            return None;
        }
        let place = u32::from(self.newest).checked_add(age)?;
        usize::try_from(place.checked_sub(u32::from(width::<W>())).unwrap_or(place)).ok()
    }

    /// Returns the calls of the same tool with the same arguments. O(W).
    pub(crate) fn same_calls(&self, record: &Record) -> Mask {
        self.ages(equal(&self.args, record.args)) & !self.flags.cancelled
    }

    /// Returns whether an answer of the window is a failure.
    pub(crate) fn holds_failures(&self) -> bool {
        !(self.flags.failed & self.flags.answered).is_empty()
    }

    /// Returns the failures that `record` may try again: of the same call, or, if the tool writes or does something
    /// unknown, of any call of the tool. Others ask for different things in turn. O(W).
    pub(crate) fn tried_before(&self, record: &Record) -> Mask {
        let same = match record.tag {
            Tag::Write | Tag::Other => self.ages(equal(&self.tool, record.tool.id())),
            _ => self.same_calls(record),
        };
        same & self.flags.failed & self.flags.answered
    }

    /// Returns whether a call of the window has the digest of `record` in `column`. The record
    /// that left the window last may also count. O(W).
    pub(crate) fn holds(&self, record: &Record, column: Column) -> bool {
        match column {
            Column::Similar => holds(&self.similar, record.similar),
            Column::Near => holds(&self.near, record.near),
            Column::Result => holds(&self.result, record.result),
        }
    }

    /// Compares the call of `record` with the whole window, once for each digest of a call that `policy`
    /// uses. O(W).
    pub(crate) fn compare_call(&self, record: &Record, policy: &Policy<'_>) -> View {
        let needs = policy.needs();
        View {
            args: self.same_calls(record),
            similar: self.if_needed(needs.similar, || equal(&self.similar, record.similar)),
            tool: self.if_needed(needs.tool, || equal(&self.tool, record.tool.id())),
            flags: Flags { novel: self.flags.novel, ..Flags::NONE },
            reach: policy.reach(),
            ..View::default()
        }
    }

    /// Compares `record` with the window, once for each digest that `policy` uses. O(W).
    pub(crate) fn compare(&self, record: &Record, policy: &Policy<'_>) -> View {
        let needs = policy.needs();
        let mut view = self.compare_call(record, policy);
        view.flags = self.flags;
        view.forget_beyond_reach();
        // Progress depends on earlier answers of the same call, whatever the rules ask.
        let repeated = !view.args.is_empty();
        view.result =
            self.if_needed(needs.result || repeated, || equal(&self.result, record.result));
        view.near = self.if_needed(needs.near, || equal(&self.near, record.near));
        // If work was done between failures, only answers with the same bytes count.
        let failures = policy.selection().matches_failures();
        view.raw = self.if_needed(failures, || equal(&self.raw, record.raw));
        view.changed = repeated && view.answers_differ(record, view.result);
        // The same answer is no progress, whatever class it is of now.
        view.nearly_changed = repeated && view.answers_differ(record, view.near | view.result);
        view
    }

    /// Returns the view of [`Window::compare`] for the record `age` records back, restricted to
    /// records that are still in the window. O(W).
    pub(crate) fn compare_from(&self, age: u32, record: &Record, policy: &Policy<'_>) -> View {
        self.compare(record, policy).since(age.saturating_add(1))
    }

    /// Returns whether progress anywhere in the window undoes a pattern of `rule` at `record`: a
    /// record that is progress in itself, or two records of one call with two answers. Before the
    /// record, `open` calls wait for their outcomes. O(W²) for a rule that asks for it.
    pub(crate) fn undoes(&self, rule: &Rule<'_>, record: &Record, view: &View, open: u16) -> bool {
        if rule.progress != Progress::Anywhere {
            return false;
        }
        let reach = view.reach.since(open.into()) & Mask::newest(self.len());
        let (column, answer) = match rule.results {
            Results::Near => (&self.near, record.near),
            Results::Ignored | Results::Same => (&self.result, record.result),
        };
        let answered = self.flags.answered & reach;
        let differs = |args, answer| self.has_other_answer(args, column, answer, answered);
        let is_progress = |age| {
            let slot = self.slot(age)?;
            let moved = self.marks.get(slot)?.has(Marks::MOVED);
            let is_answered = self.flags.answered.has(age);
            Some(moved || is_answered && differs(*self.args.get(slot)?, *column.get(slot)?))
        };
        record.moved
            || record.status == Status::Reported && differs(record.args, answer)
            || reach.places().any(|age| is_progress(age) == Some(true))
    }

    /// Returns whether the call with these `args` has another answer than `answer` among the `answered` ones, by the
    /// digests in `column`. O(W).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn has_other_answer(
        &self,
        args: Digest,
        column: &[u32; W],
        answer: u32,
        answered: Mask,
    ) -> bool {
        let same = self.ages(equal(&self.args, args)) & answered;
        !(same & !self.ages(equal(column, answer))).is_empty()
    }

    fn if_needed(&self, needed: bool, slots: impl FnOnce() -> u64) -> Mask {
        if needed { self.ages(slots()) } else { Mask::NONE }
    }

    /// Returns the key of the record `age` records back under `rule`. Age 0 is the newest settled
    /// one.
    pub(crate) fn key(&self, rule: &Rule<'_>, age: u32) -> Option<Key> {
        let slot = self.slot(age)?;
        let vetoed = self.flags.vetoed.has(age);
        let digests = Digests {
            args: *self.args.get(slot)?,
            result: *self.result.get(slot)?,
            similar: *self.similar.get(slot)?,
            near: *self.near.get(slot)?,
            tool: Tool::new(*self.tool.get(slot)?),
        };
        Some(digests.key(rule, vetoed))
    }

    /// Converts a set of slots into a mask of ages.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn ages(&self, slots: u64) -> Mask {
        let (newest, width) = (u32::from(self.newest), u32::from(width::<W>()));
        let older = slots.wrapping_shr(newest);
        let newer = slots.wrapping_shl(width.saturating_sub(newest));
        Mask::new(older | newer) & Mask::newest(self.len())
    }
}

fn set<T>(column: &mut [T], slot: usize, value: T) {
    if let Some(place) = column.get_mut(slot) {
        *place = value;
    }
}

/// The tag of a record in the lower four bits, and marks in the others.
#[derive(Clone, Copy, Debug)]
struct Marks(u8);

impl Marks {
    const NONE: Self = Self(0);
    /// The call timed out.
    const TRANSIENT: u8 = 0x10;
    /// Of an answered record: the answer was telling. Of another: nobody waits for its outcome.
    const TELLING_OR_DROPPED: u8 = 0x20;
    /// The record is progress, whatever earlier answers of the same call were.
    const MOVED: u8 = 0x40;
    /// The record was issued together with the record before it.
    const JOINED: u8 = 0x80;

    fn of(record: &Record) -> Self {
        let mark = |mark, is| if is { mark } else { 0 };
        let (answered, dropped) =
            (record.status == Status::Reported, record.status == Status::Dropped);
        Self(
            record.tag.code()
                | mark(Self::TRANSIENT, record.transient)
                | mark(Self::TELLING_OR_DROPPED, answered && record.says == Says::Much || dropped)
                | mark(Self::MOVED, record.moved)
                | mark(Self::JOINED, record.in_step > 0),
        )
    }

    const fn has(self, mark: u8) -> bool {
        self.0 & mark != 0
    }

    const fn has_tag(self, tag: Tag) -> bool {
        self.0 & 0x0f == tag.code()
    }

    fn tag(self) -> Tag {
        Tag::ALL.get(usize::from(self.0 & 0x0f)).copied().unwrap_or_default()
    }
}

const _: () = assert!(Tag::ALL.len() <= 16, "a tag has four bits");

/// Returns whether a slot of `column` holds `value`.
#[cfg_attr(target_pointer_width = "32", inline(never))]
fn holds<const W: usize>(column: &[u32; W], value: u32) -> bool {
    // Without an early exit, the compiler compares many slots at once.
    column.iter().fold(0, |any, held| any | u8::from(*held == value)) != 0
}

/// Returns the slots of `column` that hold `value`.
#[cfg_attr(target_pointer_width = "32", inline(never))]
fn equal<T: PartialEq + Copy, const W: usize>(column: &[T; W], value: T) -> u64 {
    // Eight bytes of 0 or 1 become eight bits: each factor moves one of them to the top byte.
    const SPREAD: u64 = 0x0102_0408_1020_4080;
    // A small processor has no such factors: it takes one slot after another.
    let (eights, rest) = match usize::BITS {
        64 => column.as_chunks::<8>(),
        _ => (&[][..], &column[..]),
    };
    let rest = rest
        .iter()
        .rev()
        .fold(0, |bits: u64, held| bits.wrapping_shl(1) | u64::from(*held == value));
    eights.iter().rev().fold(rest, |bits, eight| {
        let flags = eight.map(|held| u8::from(held == value));
        let packed = u64::from_le_bytes(flags).wrapping_mul(SPREAD).wrapping_shr(56);
        bits.wrapping_shl(8) | packed
    })
}

/// The key by which a rule identifies a record, for the id of its loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Key {
    pub(crate) args: Digest,
    pub(crate) result: Digest,
    pub(crate) vetoed: bool,
}

impl Key {
    pub(crate) fn of(record: &Record, rule: &Rule<'_>) -> Self {
        let Record { args, result, similar, near, tool, .. } = *record;
        Digests { args, result, similar, near, tool }.key(rule, record.status == Status::Vetoed)
    }
}

/// All digests of a record.
struct Digests {
    args: Digest,
    result: u32,
    similar: u32,
    near: u32,
    tool: Tool,
}

impl Digests {
    /// Returns the part that `rule` compares.
    fn key(&self, rule: &Rule<'_>, vetoed: bool) -> Key {
        let args = match rule.args {
            Args::Same => self.args,
            Args::Similar => Digest::new(u64::from(self.similar)),
            Args::SameTool => Digest::new(u64::from(self.tool.id())),
            Args::Any => Digest::new(0),
        };
        let result = match rule.results {
            Results::Ignored => Digest::new(0),
            Results::Same => Digest::new(u64::from(self.result)),
            Results::Near => Digest::new(u64::from(self.near)),
        };
        Key { args, result, vetoed }
    }
}

/// The past as seen by one record: for each digest, the mask of the records that are equal to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    pub(crate) args: Mask,
    pub(crate) similar: Mask,
    pub(crate) tool: Mask,
    pub(crate) result: Mask,
    pub(crate) near: Mask,
    pub(crate) raw: Mask,
    pub(crate) flags: Flags,
    /// The records that the policy's window reaches.
    pub(crate) reach: Mask,
    /// True if the record is progress by its result.
    changed: bool,
    /// True if the record is progress by its near result.
    nearly_changed: bool,
}

impl View {
    /// Returns the records that `rule` considers equal to `record`, even if the rule does not see
    /// them.
    pub(crate) fn matches(&self, rule: &Rule<'_>, record: &Record) -> Mask {
        let args = match rule.args {
            Args::Same => self.args,
            Args::Similar => self.similar,
            Args::SameTool => self.tool,
            Args::Any => self.reach,
        };
        let args = match rule.outcomes {
            Outcomes::Failures if !record.has_failed() => Mask::NONE,
            Outcomes::Failures => args & self.flags.failed,
            Outcomes::Any | Outcomes::Failed => args,
        };
        if args.is_empty() {
            return Mask::NONE;
        }
        let equal = match rule.results {
            Results::Ignored => return args,
            Results::Same => self.result & self.flags.answered,
            Results::Near => self.near & self.flags.answered,
        };
        // A blocked call matches any result if the rule names the call or the call is the same. A
        // near result may be near only to answers of the same call.
        let named = match (rule.args, rule.results) {
            (Args::Same, _) | (Args::Similar, Results::Same | Results::Ignored) => args,
            (Args::Similar, Results::Near) | (Args::SameTool | Args::Any, _) => args & self.args,
        };
        // Silence is evidence only between equal calls, unless the rule says otherwise.
        let telling = match (rule.silence, record.says) {
            (Silence::Evidence, _) | (Silence::Telling, Says::Much) => args,
            (Silence::Ignored, Says::Little | Says::Something | Says::Much) => {
                self.args | !self.flags.silent
            }
            (Silence::Ignored | Silence::Telling, _) => self.args,
        };
        match record.status {
            Status::Open | Status::Unreported | Status::Dropped | Status::Cancelled => Mask::NONE,
            Status::Vetoed => named & (self.flags.answered | self.flags.vetoed),
            Status::Reported => (args & equal & telling) | (named & self.flags.vetoed),
        }
    }

    /// Puts the open call `newer` between the record and its past.
    pub(crate) fn add(&mut self, newer: &Record, record: &Record) {
        self.args = self.args.then(newer.is_same_call(record));
        self.similar = self.similar.then(newer.similar == record.similar);
        self.tool = self.tool.then(newer.tool == record.tool);
        self.flags.novel = self.flags.novel.then(newer.novel);
    }

    /// Forgets the calls that the policy's window does not reach.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn forget_beyond_reach(&mut self) {
        let Flags { novel, written, .. } = &mut self.flags;
        for mask in [&mut self.args, &mut self.similar, &mut self.tool, novel, written] {
            *mask = *mask & self.reach;
        }
    }

    /// Returns the view from `n` records earlier, as far as those records are known. It does not
    /// contain whether the record was progress.
    fn since(mut self, n: u32) -> Self {
        self.flags.turn_back(n);
        Self {
            args: self.args.since(n),
            similar: self.similar.since(n),
            tool: self.tool.since(n),
            result: self.result.since(n),
            near: self.near.since(n),
            raw: self.raw.since(n),
            flags: self.flags,
            reach: self.reach.since(n),
            changed: false,
            nearly_changed: false,
        }
    }

    /// Returns whether the record is progress by the measure of `results`.
    pub(crate) fn progressed(&self, results: Results) -> bool {
        match results {
            Results::Ignored | Results::Same => self.changed,
            Results::Near => self.nearly_changed,
        }
    }

    /// Returns whether the call of `record` was answered in an earlier step, and the latest of
    /// those answers is not among the `equal` ones.
    fn answers_differ(&self, record: &Record, equal: Mask) -> bool {
        let earlier = !Mask::newest(u32::from(record.in_step));
        let answers = self.args & self.flags.answered & earlier;
        record.status == Status::Reported && answers.nth(0).is_some_and(|latest| !equal.has(latest))
    }
}
