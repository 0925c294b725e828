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
use crate::selection::{Column, RuleSet};

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
    flags: [Flags; W],
    /// The rules that saw each record and may still use it.
    seen: [RuleSet; W],
    newest: u8,
    len: u8,
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
            flags: [Flags::NONE; W],
            seen: [0; W],
            newest: 0,
            len: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn len(&self) -> u32 {
        u32::from(self.len)
    }

    /// Adds the newest record, which the rules in `seen` saw. The record `W` before it is forgotten. O(1).
    pub(crate) fn push(&mut self, record: &Record, seen: RuleSet) {
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
        set(&mut self.flags, slot, Flags::of(record));
        set(&mut self.seen, slot, seen);
    }

    /// Makes records of calls that worked count as if they had been cancelled. O(W).
    pub(crate) fn forget_answers(&mut self) {
        for flags in &mut self.flags {
            if flags.has(Flags::ANSWERED) && !flags.has(Flags::FAILED) {
                *flags = flags.cancelled();
            }
        }
    }

    /// Makes the rules in `broken` forget all records. O(W).
    pub(crate) fn forget(&mut self, broken: RuleSet) {
        self.seen.iter_mut().for_each(|seen| *seen &= !broken);
    }

    /// Returns the records that the rules in `one` saw and may still use. O(W).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn seen_by(&self, one: RuleSet) -> Mask {
        self.ages(slots(&self.seen, |seen| seen & one != 0))
    }

    /// Records that the rules in `one` saw the record `age` records back.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_seen(&mut self, one: RuleSet, age: u32) {
        if let Some(seen) = self.slot(age).and_then(|slot| self.seen.get_mut(slot)) {
            *seen |= one;
        }
    }

    /// Takes back the newest record. O(1).
    pub(crate) fn pop(&mut self) -> Option<Record> {
        let record = self.record(0)?;
        let after = self.newest.saturating_add(1);
        self.newest = if after < width::<W>() { after } else { 0 };
        self.len = self.len.saturating_sub(1);
        Some(record)
    }

    /// Returns the record `age` records back in its settled form. Age 0 is the newest.
    pub(crate) fn record(&self, age: u32) -> Option<Record> {
        let slot = self.slot(age)?;
        let marks = *self.marks.get(slot)?;
        let flags = *self.flags.get(slot)?;
        let status = if flags.has(Flags::ANSWERED) {
            Status::Reported
        } else if flags.has(Flags::FAILED) {
            Status::Vetoed
        } else if flags.has(Flags::CANCELLED) {
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
            failed: status == Status::Reported && flags.has(Flags::FAILED),
            says: match status {
                _ if flags.has(Flags::SILENT) => Says::Nothing,
                Status::Reported if marks.has(Marks::TELLING_OR_DROPPED) => Says::Much,
                _ => Says::Something,
            },
            idempotent: flags.has(Flags::IDEMPOTENT),
            transient: marks.has(Marks::TRANSIENT),
            novel: flags.has(Flags::NOVEL),
            in_step: u8::try_from(joined).unwrap_or(u8::MAX),
            moved: marks.has(Marks::MOVED),
            era: 0,
            score: Score::NONE,
        })
    }

    /// Returns the age of the latest record if it is of the call that ended `now`, and came back
    /// with the same bytes. A blocked call matches any answer. Only records in `reach` count.
    /// O(1).
    pub(crate) fn continued_by(&self, now: &Ending, reach: Mask) -> Option<u32> {
        let latest = |is_meant: fn(Flags) -> bool| {
            let mut ages = 0..self.len().min(reach.count());
            ages.find(|&age| self.flags(age).is_some_and(is_meant))
        };
        let age = latest(|flags| !flags.has(Flags::CANCELLED))?;
        if !now.is_comparable_to(&self.ending(age)?) {
            return None;
        }
        let latest = latest(|flags| flags.has(Flags::ANSWERED)).and_then(|age| self.ending(age));
        latest.is_none_or(|latest| now.has_answer_of(&latest)).then_some(age)
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
            let proves = |older: &Ending| newer.proves_with(older) && !(waits && newer.worked());
            let Some(older) = self.ending(older_age).filter(proves) else { break };
            newer = if period == 1 { older } else { self.ending(newer_age).unwrap_or(older) };
            row = row.saturating_add(1);
        }
        row.checked_div(hit.period.into()).unwrap_or(0).saturating_add(1)
    }

    /// Returns whether a call in `reach` was answered that something is under way. O(W).
    fn is_under_way(&self, reach: Mask) -> bool {
        let is_poll = |age| self.marks(age).is_some_and(|marks| marks.has_tag(Tag::Poll));
        reach.places().any(|age| is_poll(age) && self.has(age, Flags::ANSWERED))
    }

    /// Returns whether the `count` newest records are duplicates of the record before them: issued
    /// in the same step, of the same call, and with the same ending. O(`count`).
    pub(crate) fn only_duplicates(&self, count: u32) -> bool {
        let first = self.ending(count);
        (0..count).all(|age| {
            self.marks(age).is_some_and(|marks| marks.has(Marks::JOINED))
                && first
                    .as_ref()
                    .is_some_and(|first| self.ending(age).is_some_and(|one| one.proves_with(first)))
        })
    }

    /// Returns the ending of the call `age` records back.
    fn ending(&self, age: u32) -> Option<Ending> {
        let slot = self.slot(age)?;
        let flags = *self.flags.get(slot)?;
        let is_poll = self.marks.get(slot)?.has_tag(Tag::Poll);
        let end = match (flags.has(Flags::ANSWERED), flags.has(Flags::FAILED)) {
            _ if is_poll => End::Open,
            (false, false) => End::Open,
            (false, true) => End::Vetoed,
            (true, true) => End::Failed,
            (true, false) => End::Worked { idempotent: flags.has(Flags::IDEMPOTENT) },
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
        let mut failed = self.failures().places().filter(|&age| is_meant(age));
        let latest = failed.next()?;
        failed.any(|age| self.tool(age) == self.tool(latest)).then_some(latest)
    }

    /// Returns the calls that were answered with a failure. O(W).
    fn failures(&self) -> Mask {
        self.flagged(Flags::ANSWERED) & self.flagged(Flags::FAILED)
    }

    /// Returns the records with this flag. O(W).
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    fn flagged(&self, flag: u8) -> Mask {
        self.ages(slots(&self.flags, |flags| flags.has(flag)))
    }

    /// Returns whether the record `age` records back has this flag.
    pub(crate) fn has(&self, age: u32, flag: u8) -> bool {
        self.flags(age).is_some_and(|flags| flags.has(flag))
    }

    /// Returns the flags of the record `age` records back.
    fn flags(&self, age: u32) -> Option<Flags> {
        self.flags.get(self.slot(age)?).copied()
    }

    /// Returns whether one of the `records` is a novel call of a writing tool that worked.
    pub(crate) fn has_written(&self, records: Mask) -> bool {
        records.places().any(|age| self.has(age, Flags::WRITTEN))
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
        let same = self.ages(equal(&self.args, record.args));
        if same.is_empty() { same } else { same & !self.flagged(Flags::CANCELLED) }
    }

    /// Returns whether an answer of the window is a failure.
    pub(crate) fn holds_failures(&self) -> bool {
        !self.failures().is_empty()
    }

    /// Returns the failures that `record` may try again: of the same call, or, if the tool writes or does something
    /// unknown, of any call of the tool. Others ask for different things in turn. O(W).
    pub(crate) fn tried_before(&self, record: &Record) -> Mask {
        let same = match record.tag {
            Tag::Write | Tag::Other => self.ages(equal(&self.tool, record.tool.id())),
            _ => self.same_calls(record),
        };
        same & self.failures()
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
            novel: self.flagged(Flags::NOVEL),
            reach: policy.reach(),
            ..View::default()
        }
    }

    /// Compares `record` with the window, once for each digest that `policy` uses. O(W).
    pub(crate) fn compare(&self, record: &Record, policy: &Policy<'_>) -> View {
        let needs = policy.needs();
        let mut view = self.compare_call(record, policy);
        view.answered = self.flagged(Flags::ANSWERED);
        view.failed = self.flagged(Flags::FAILED);
        view.silent = self.flagged(Flags::SILENT);
        view.forget_beyond_reach();
        // Progress depends on earlier answers of the same call, whatever the rules ask.
        let repeated = !view.args.is_empty();
        view.result =
            self.if_needed(needs.result || repeated, || equal(&self.result, record.result));
        view.near = self.if_needed(needs.near, || equal(&self.near, record.near));
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
        let answered = self.flagged(Flags::ANSWERED) & reach;
        let differs = |args, answer| self.has_other_answer(args, column, answer, answered);
        let is_progress = |age| {
            let slot = self.slot(age)?;
            let moved = self.marks.get(slot)?.has(Marks::MOVED);
            Some(moved || answered.has(age) && differs(*self.args.get(slot)?, *column.get(slot)?))
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

    /// Returns the answers with the bytes of the answer of `record`. O(W).
    pub(crate) fn equal_answers(&self, record: &Record) -> Mask {
        // A blocked call has no answer.
        self.ages(equal(&self.raw, record.raw)) & self.flagged(Flags::ANSWERED)
    }

    fn if_needed(&self, needed: bool, slots: impl FnOnce() -> u64) -> Mask {
        if needed { self.ages(slots()) } else { Mask::NONE }
    }

    /// Returns the key of the record `age` records back under `rule`. Age 0 is the newest settled
    /// one.
    pub(crate) fn key(&self, rule: &Rule<'_>, age: u32) -> Option<Key> {
        let slot = self.slot(age)?;
        let flags = *self.flags.get(slot)?;
        let vetoed = flags.has(Flags::FAILED) && !flags.has(Flags::ANSWERED);
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

/// What the rules ask of a record, one bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags(u8);

impl Flags {
    const NONE: Self = Self(0);
    const ANSWERED: u8 = 0x01;
    /// The answer was a failure. Of a record without an answer: the call was blocked, which counts as a failure.
    const FAILED: u8 = 0x02;
    const CANCELLED: u8 = 0x04;
    const SILENT: u8 = 0x08;
    const NOVEL: u8 = 0x10;
    /// A novel call of a writing tool that worked.
    pub(crate) const WRITTEN: u8 = 0x20;
    /// An equal answer proves that calling again does not help.
    const IDEMPOTENT: u8 = 0x40;

    fn of(record: &Record) -> Self {
        let mark = |mark, is| if is { mark } else { 0 };
        let end = match record.status {
            Status::Reported => Self::ANSWERED | mark(Self::FAILED, record.failed),
            Status::Vetoed => Self::FAILED,
            Status::Cancelled => Self::CANCELLED,
            Status::Open | Status::Unreported | Status::Dropped => 0,
        };
        Self(
            end | mark(Self::SILENT, record.is_silent())
                | mark(Self::NOVEL, record.novel)
                | mark(Self::WRITTEN, record.has_written())
                | mark(Self::IDEMPOTENT, record.idempotent),
        )
    }

    const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }

    /// Returns the flags of a record that counts as if its call had never been announced.
    const fn cancelled(self) -> Self {
        Self(self.0 & (Self::SILENT | Self::IDEMPOTENT) | Self::CANCELLED)
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
    slots(column, |held| held == value)
}

/// Returns the slots of `column` that are `wanted`.
#[inline]
fn slots<T: Copy, const W: usize>(column: &[T; W], wanted: impl Fn(T) -> bool) -> u64 {
    // Eight bytes of 0 or 1 become eight bits: each factor moves one of them to the top byte.
    const SPREAD: u64 = 0x0102_0408_1020_4080;
    // A small processor has no such factors, and few processors compare many values of 64 bits at once.
    if usize::BITS < 64 || size_of::<T>() == size_of::<u64>() {
        let bit = |bits: u64, held: &T| bits.wrapping_shl(1) | u64::from(wanted(*held));
        return column.iter().rev().fold(0, bit);
    }
    // The compiler compares many slots at once if nothing else is in the loop.
    let mut found = [0_u8; W];
    for (found, held) in found.iter_mut().zip(column) {
        *found = u8::from(wanted(*held));
    }
    let (eights, rest) = found.as_chunks::<8>();
    let rest = rest.iter().rev().fold(0, |bits: u64, one| bits.wrapping_shl(1) | u64::from(*one));
    eights.iter().rev().fold(rest, |bits, eight| {
        let packed = u64::from_le_bytes(*eight).wrapping_mul(SPREAD).wrapping_shr(56);
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
    pub(crate) answered: Mask,
    /// Failures. A blocked call counts as a failure.
    pub(crate) failed: Mask,
    pub(crate) silent: Mask,
    pub(crate) novel: Mask,
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
            Outcomes::Failures => args & self.failed,
            Outcomes::Any | Outcomes::Failed => args,
        };
        if args.is_empty() {
            return Mask::NONE;
        }
        let equal = match rule.results {
            Results::Ignored => return args,
            Results::Same => self.result & self.answered,
            Results::Near => self.near & self.answered,
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
                self.args | !self.silent
            }
            (Silence::Ignored | Silence::Telling, _) => self.args,
        };
        match record.status {
            Status::Open | Status::Unreported | Status::Dropped | Status::Cancelled => Mask::NONE,
            Status::Vetoed => named & (self.answered | self.failed),
            Status::Reported => (args & equal & telling) | (named & self.failed & !self.answered),
        }
    }

    /// Puts the open call `newer` between the record and its past.
    pub(crate) fn add(&mut self, newer: &Record, record: &Record) {
        self.args = self.args.then(newer.is_same_call(record));
        self.similar = self.similar.then(newer.similar == record.similar);
        self.tool = self.tool.then(newer.tool == record.tool);
        self.novel = self.novel.then(newer.novel);
    }

    /// Forgets the calls that the policy's window does not reach.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(crate) fn forget_beyond_reach(&mut self) {
        for mask in [&mut self.args, &mut self.similar, &mut self.tool, &mut self.novel] {
            *mask = *mask & self.reach;
        }
    }

    /// Returns the view from `n` records earlier, as far as those records are known. It does not
    /// contain whether the record was progress.
    fn since(self, n: u32) -> Self {
        Self {
            args: self.args.since(n),
            similar: self.similar.since(n),
            tool: self.tool.since(n),
            result: self.result.since(n),
            near: self.near.since(n),
            answered: self.answered.since(n),
            failed: self.failed.since(n),
            silent: self.silent.since(n),
            novel: self.novel.since(n),
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
        let answers = self.args & self.answered & earlier;
        record.status == Status::Reported && answers.nth(0).is_some_and(|latest| !equal.has(latest))
    }
}
