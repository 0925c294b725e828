//! A naive detector, written from `core/DEFINITIONS.md` alone. It keeps every record, compares
//! pair by pair, and counts by walking back. It shares only the public types of rules with the
//! engine.

use std::array::from_fn;
use std::iter::successors;
use std::rc::Rc;

use unstuck_core::{
    Action, Args, Basis, Call, Digest, Force, Kind, LOOPS_MAX, Ladder, MESSAGES_MAX, OPEN_MAX,
    Outcomes, Pattern, Policy, Progress, RAISE_MAX, RAISED_MAX, RUNAWAY_MIN, Results, Rule,
    SILENCED_MAX, Select, Silence, Tag, Texts, Tool,
};

/// An event for both detectors. Calls are named by their index among all announced calls, so that
/// a call that was taken back differs from the call that has its number now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Announce(CallSpec),
    Outcome(usize, OutcomeSpec),
    Veto(usize),
    Finish,
    /// The text of a turn, and the laps inside it.
    Text(u8, u16),
    UserMessage(u8),
    Clear,
    /// The number of calls that are taken back.
    Retry(usize),
    Cancel(usize),
    Compacted,
    Progress,
    /// The latest finding was wrong.
    FalsePositive,
}

/// A call as small numbers. Equal numbers stand for equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSpec {
    pub(crate) tool: u8,
    pub(crate) args: u8,
    pub(crate) similar: u8,
    pub(crate) tag: Tag,
    pub(crate) idempotent: bool,
    pub(crate) step: Option<u8>,
}

impl CallSpec {
    /// A call of the tool 0 that acts, in a step of its own.
    pub(crate) const PLAIN: Self =
        Self { tool: 0, args: 0, similar: 0, tag: Tag::Other, idempotent: false, step: None };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each thing to say of an answer")]
pub(crate) struct OutcomeSpec {
    pub(crate) result: u8,
    /// `None` if the host gives no near digest.
    pub(crate) near: Option<u8>,
    /// The digest of every byte. It is independent of the result, so that each can differ alone.
    pub(crate) raw: u8,
    pub(crate) failed: bool,
    pub(crate) silent: bool,
    pub(crate) telling: bool,
    pub(crate) pending: bool,
    pub(crate) late: bool,
    /// Weak, or of a pending answer, the start of a job. A weak answer is not telling.
    pub(crate) weak: bool,
    pub(crate) score: Option<u8>,
}

impl OutcomeSpec {
    /// An ordinary result.
    pub(crate) const PLAIN: Self = Self {
        result: 0,
        near: Some(0),
        raw: 0,
        failed: false,
        silent: false,
        telling: true,
        pending: false,
        late: false,
        weak: false,
        score: None,
    };
}

/// The verdict that both must return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainVerdict {
    pub(crate) action: Action,
    pub(crate) rung: usize,
    pub(crate) fresh: bool,
    pub(crate) finding: Option<PlainFinding>,
}

impl PlainVerdict {
    pub(crate) const NOTHING: Self =
        Self { action: Action::Proceed, rung: 0, fresh: false, finding: None };

    /// Returns the strongest verdict of an event: its own, or one of the settled ones.
    pub(crate) fn strongest(self, settled: Vec<Self>) -> Self {
        settled.into_iter().fold(self, Self::or_stronger)
    }

    fn or_stronger(self, other: Self) -> Self {
        let rank = |said: &Self| (said.action, said.fresh, said.finding.is_some());
        if rank(&other) > rank(&self) { other } else { self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlainFinding {
    /// The index of the rule among the rules about calls (`Ok`) or about text (`Err`).
    pub(crate) rule: Result<usize, usize>,
    pub(crate) kind: Kind,
    pub(crate) period: usize,
    pub(crate) laps: usize,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The calls that prove it, as far back as the window reaches.
    pub(crate) calls: Vec<u64>,
    pub(crate) tool: u8,
    pub(crate) tag: Tag,
    pub(crate) confidence: usize,
    /// The strongest action that more of the same can lead to.
    pub(crate) most: Action,
    pub(crate) identity: Identity,
}

/// The identity of a loop: the properties that its rule compares, and the arguments and results of
/// each record as far as the rule compares them, in the rotation that sorts first.
pub(crate) type Identity = Rc<(Compared, Vec<(Key, Key)>)>;

/// The properties that a rule about calls (`Ok`) or about text (`Err`) compares.
pub(crate) type Compared = Result<(Select, Args, Results), Texts>;

/// Up to four numbers that stand for arguments or results.
pub(crate) type Key = [Option<u8>; 4];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Open,
    Reported(OutcomeSpec),
    Unreported,
    Dropped,
    Vetoed,
    Cancelled,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    seq: u64,
    asked: CallSpec,
    /// Calls with equal numbers were issued together.
    step: usize,
    status: Status,
    novel: bool,
    /// True if it is progress, whatever earlier answers of the same call were.
    moved: bool,
    /// The index of the call among all announced calls.
    call: usize,
}

impl Record {
    /// Returns the answer, if there is one.
    fn answer(&self) -> Option<OutcomeSpec> {
        match self.status {
            Status::Reported(answer) => Some(answer),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
struct KnownLoop {
    identity: Identity,
    last: u64,
    findings: usize,
    rung: usize,
    blocked_by: Option<usize>,
}

/// The number of repetitions for which a finding counts on its ladder.
struct Count {
    laps: usize,
    most: Action,
    proof: Proof,
    blocker: Option<usize>,
    now: u64,
}

/// The limit up to which a ladder may go beyond a warning.
struct Proof {
    /// Rungs that ask for `Block` or more count only up to this number.
    reach: usize,
    /// True if the latest repetition is proved, so that more of the same raises `reach`.
    grows: bool,
}

impl Proof {
    /// The proof of a rule that needs none.
    const GIVEN: Self = Self { reach: usize::MAX, grows: true };
}

/// A pattern that holds, as the list of its records, the oldest first.
struct Hit {
    kind: Kind,
    period: usize,
    laps: usize,
    first: u64,
    /// The records that the window still shows.
    shown: Vec<Record>,
    confidence: usize,
    identity: Identity,
}

impl Hit {
    fn found(self, place: usize, record: &Record) -> PlainFinding {
        PlainFinding {
            rule: Ok(place),
            kind: self.kind,
            period: self.period,
            laps: self.laps,
            first: self.first,
            last: record.seq,
            calls: self.shown.iter().map(|old| old.seq).collect(),
            tool: record.asked.tool,
            tag: record.asked.tag,
            confidence: self.confidence,
            most: Action::Stop,
            identity: self.identity,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Model<'p> {
    policy: &'p Policy<'p>,
    /// The number of settled records that are held to be taken back.
    capacity: usize,
    settled: Vec<Record>,
    /// All records that settled since the history was cleared or counted again, in order.
    history: Vec<Record>,
    open: Vec<Record>,
    /// The records that each rule saw and may still use, the oldest first.
    visible: Vec<Vec<Record>>,
    loops: Vec<KnownLoop>,
    findings: usize,
    rung: usize,
    next: u64,
    /// The number of the first record of this run.
    begun: u64,
    steps: usize,
    step: Option<u8>,
    turns: u64,
    /// The texts of the turns in a row, the latest last.
    row: Vec<u8>,
    /// The messages of the user, the latest last, and how often in a row the latest came.
    messages: Vec<u8>,
    prompts: usize,
    /// The number of announced calls.
    calls: usize,
    /// The best score of each tag.
    best: Vec<(Tag, u8)>,
    /// True if the next call is progress.
    moved: bool,
    /// The silenced loops, and the rules that were wrong about a tool, once for each time.
    silenced: Vec<(Identity, Kind)>,
    wrong: Vec<(Result<usize, usize>, u8)>,
    /// The latest finding.
    last: Option<PlainFinding>,
    pub(crate) tally: Tally,
    heard: Heard,
}

/// What the user said since the history began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Nothing,
    Instruction,
    Repeated,
}

/// The counts of the detector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) checks: usize,
    /// The kind and action of every verdict with a finding.
    pub(crate) findings: Vec<(Kind, Action)>,
    pub(crate) false_positives: usize,
}

impl<'p> Model<'p> {
    /// Creates a detector that has seen no event, and can take back `capacity` settled records.
    pub(crate) fn new(policy: &'p Policy<'p>, capacity: usize) -> Self {
        Self {
            policy,
            capacity,
            settled: Vec::new(),
            history: Vec::new(),
            open: Vec::new(),
            visible: vec![Vec::new(); policy.rules().len()],
            loops: Vec::new(),
            findings: 0,
            rung: 0,
            next: 0,
            begun: 0,
            steps: 0,
            step: None,
            turns: 0,
            row: Vec::new(),
            heard: Heard::Nothing,
            messages: Vec::new(),
            prompts: 0,
            calls: 0,
            best: Vec::new(),
            moved: false,
            silenced: Vec::new(),
            wrong: Vec::new(),
            last: None,
            tally: Tally::default(),
        }
    }

    /// Returns the verdict on the event, and in order every verdict with a finding on the calls
    /// that settled with it.
    pub(crate) fn take(&mut self, event: Event) -> (PlainVerdict, Vec<PlainVerdict>) {
        let mut settled = Vec::new();
        let said = match event {
            Event::Announce(asked) => self.announce(asked, &mut settled),
            Event::Outcome(n, answer) => {
                self.close(n, Status::Reported(answer));
                self.settle(&mut settled);
                PlainVerdict::NOTHING
            }
            Event::Veto(n) => {
                self.close(n, Status::Vetoed);
                self.settle(&mut settled);
                PlainVerdict::NOTHING
            }
            Event::Finish => {
                self.give_up(usize::MAX, Status::Unreported);
                self.settle(&mut settled);
                PlainVerdict::NOTHING
            }
            Event::Text(text, echo) => self.text(text, usize::from(echo)),
            Event::UserMessage(message) => self.user_message(message),
            Event::Clear => {
                self.clear();
                PlainVerdict::NOTHING
            }
            Event::Retry(calls) => {
                self.retry(calls);
                PlainVerdict::NOTHING
            }
            Event::Cancel(n) => {
                if self.close(n, Status::Cancelled) {
                    if self.judges_early() {
                        self.rebuild();
                    }
                    self.settle(&mut settled);
                }
                PlainVerdict::NOTHING
            }
            Event::Compacted => {
                for record in &mut self.settled {
                    if matches!(record.status, Status::Reported(answer) if !answer.failed) {
                        (record.status, record.novel) = (Status::Cancelled, false);
                    }
                }
                self.rebuild();
                PlainVerdict::NOTHING
            }
            Event::Progress => {
                self.progress();
                PlainVerdict::NOTHING
            }
            Event::FalsePositive => {
                self.false_positive();
                PlainVerdict::NOTHING
            }
        };
        for one in settled.iter().chain([&said]) {
            if let Some(found) = &one.finding {
                self.tally.findings.push((found.kind, one.action));
                self.last = Some(found.clone());
            }
        }
        (said, settled)
    }

    fn clear(&mut self) {
        self.settled.clear();
        self.open.clear();
        self.forget_patterns();
        self.begun = self.next;
        self.step = None;
        self.row.clear();
        self.prompts = 0;
        self.best.clear();
        self.moved = false;
        self.heard = Heard::Nothing;
    }

    /// Takes in a new instruction. With a rule about failures alone, the next call decides whether it changes anything.
    fn instructed(&mut self) {
        let may_go_on = self.policy.rules().iter().any(|rule| rule.outcomes == Outcomes::Failures);
        if !may_go_on || !self.settled.iter().any(failed) {
            return self.clear();
        }
        self.row.clear();
        self.heard = Heard::Instruction;
        self.loops.iter_mut().for_each(|known| known.blocked_by = None);
        for record in &mut self.open {
            (record.status, record.novel) = (Status::Cancelled, false);
        }
        if self.judges_early() {
            self.rebuild();
        }
        self.settle(&mut Vec::new());
    }

    /// Begins anew if the user gave an instruction and the call did not fail before.
    fn obey(&mut self, asked: CallSpec) {
        if self.heard != Heard::Instruction {
            return;
        }
        let has_failed = self.settled.iter().any(|old| {
            let is_in_window = self.next - old.seq <= u64::from(self.policy.window());
            let is_any = matches!(asked.tag, Tag::Write | Tag::Other);
            let is_same = old.asked.tool == asked.tool && (is_any || old.asked.args == asked.args);
            is_in_window && is_same && failed(old)
        });
        if has_failed { self.heard = Heard::Repeated } else { self.clear() }
    }

    fn forget_patterns(&mut self) {
        self.history.clear();
        self.visible.iter_mut().for_each(Vec::clear);
        self.loops.clear();
        self.findings = 0;
        self.rung = 0;
    }

    /// Takes back the latest calls, as far as they are held.
    fn retry(&mut self, calls: usize) {
        let taken = calls.min(self.open.len() + self.settled.len());
        if taken == 0 {
            return;
        }
        let mut oldest = None;
        let seen = taken > self.open.len() || self.judges_early();
        for _ in 0..taken {
            if let Some(record) = self.open.pop() {
                self.moved |= record.moved;
                oldest = Some(record);
                continue;
            }
            let record = self.settled.pop().unwrap();
            if record.moved {
                // The earlier best score is unknown, so every score is better.
                for (_, best) in self.best.iter_mut().filter(|(tag, _)| *tag == record.asked.tag) {
                    *best = u8::MAX;
                }
            }
            oldest = Some(record);
        }
        self.next -= taken as u64;
        self.begun = self.begun.min(self.next);
        // The latest step goes on if a part of it is left.
        let left = self.open.last().or(self.settled.last());
        if left.map(|record| record.step) != oldest.map(|record| record.step)
            || left.is_some_and(|record| record.step != self.steps)
        {
            self.step = None;
        }
        if seen {
            self.rebuild();
        }
    }

    /// Returns whether some rule has seen the calls that wait for their outcomes.
    fn judges_early(&self) -> bool {
        self.policy.rules().iter().any(is_early)
    }

    /// Counts everything again from the held records, as if each had been answered before the next
    /// was announced.
    fn rebuild(&mut self) {
        let settled = std::mem::take(&mut self.settled);
        let open = std::mem::take(&mut self.open);
        self.forget_patterns();
        for mut record in settled {
            // How little an answer proved is not kept.
            if let Status::Reported(answer) = &mut record.status {
                answer.weak = false;
            }
            self.judge(&unanswered(record), true);
            self.settle_one(record);
        }
        for record in open {
            self.judge(&unanswered(record), true);
            self.open.push(record);
        }
    }

    /// Makes the oldest call that has not settled, or else the next one, progress.
    fn progress(&mut self) {
        match self.open.first_mut() {
            Some(record) => record.moved = true,
            None => self.moved = true,
        }
        let first = self.open.first().map_or(self.next, |record| record.seq);
        for (place, rule) in self.policy.rules().iter().enumerate() {
            if rule.progress == Progress::Respect && is_early(rule) {
                self.visible[place].retain(|old| old.seq >= first);
            }
        }
    }

    /// Silences the loop found last, and raises its rule for that tool.
    fn false_positive(&mut self) {
        let Some(found) = self.last.clone() else { return };
        self.tally.false_positives += 1;
        let loop_of_kind = (found.identity.clone(), found.kind);
        // A loop that only its rule identifies is not silenced, because that would silence the
        // whole rule.
        let names_it = match found.rule {
            Ok(place) => {
                let rule = &self.policy.rules()[place];
                let named = matches!(rule.args, Args::Same | Args::Similar);
                named || rule.results != Results::Ignored
            }
            Err(place) => self.policy.texts()[place].texts != Texts::Any,
        };
        if names_it && !self.silenced.contains(&loop_of_kind) {
            self.silenced.push(loop_of_kind);
            if self.silenced.len() > SILENCED_MAX {
                self.silenced.remove(0);
            }
        }
        self.loops.retain(|known| known.identity != found.identity);
        self.findings = self.findings.saturating_sub(1);
        self.rung = self.rung.saturating_sub(1);
        let pair = (found.rule, found.tool);
        let times = self.raised(pair.0, pair.1) + 1;
        self.wrong.retain(|wrong| *wrong != pair);
        self.wrong.extend(vec![pair; times]);
        let mut pairs: Vec<_> = self.wrong.clone();
        pairs.dedup();
        if pairs.len() > RAISED_MAX {
            self.wrong.retain(|wrong| *wrong != pairs[0]);
        }
    }

    /// Returns the additional repetitions of a rule that was wrong about a tool. A rule about calls is as patient as the most
    /// patient one that compares no less.
    fn raised(&self, rule: Result<usize, usize>, tool: u8) -> usize {
        let rules = self.policy.rules();
        let args = [Args::Same, Args::Similar, Args::SameTool, Args::Any];
        let results = [Results::Same, Results::Near, Results::Ignored];
        let rank = |rule: &Rule<'_>| {
            let of_args = args.iter().position(|known| *known == rule.args);
            (of_args, results.iter().position(|known| *known == rule.results))
        };
        let times = |one: Result<usize, usize>| {
            self.wrong.iter().filter(|wrong| **wrong == (one, tool)).count().min(RAISE_MAX.into())
        };
        let Ok(place) = rule else { return times(rule) };
        let own = rank(&rules[place]);
        let akin = (0..rules.len()).filter(|other| {
            let (args, results) = rank(&rules[*other]);
            args <= own.0 && results <= own.1
        });
        akin.map(|other| times(Ok(other))).max().unwrap_or(0)
    }

    /// Returns the additional repetitions of a rule at a record. It adds what the policy says of
    /// the tool and of this part of the run, one for each time that the rule was wrong, one if the
    /// record timed out, five if it acted and the rule is about results, and one if the user asked for a call
    /// again and the rule asks for less than four.
    fn patience(&self, place: usize, record: &Record) -> i64 {
        let tools = self.policy.tools().iter();
        let mut tools = tools.filter(|rule| rule.tool == Tool::new(record.asked.tool.into()));
        let tool = tools.next().map_or(0, |rule| i64::from(rule.patience));
        let before = record.seq - self.begun;
        let (early, late) = self.policy.phases();
        let early = if before < early.calls.into() { early.patience } else { 0 };
        let late = if before >= late.calls.into() { late.patience } else { 0 };
        let raised = self.raised(Ok(place), record.asked.tool);
        let timed_out = matches!(record.status, Status::Reported(OutcomeSpec { late: true, .. }));
        let worked = record.answer().is_some_and(|answer| !answer.failed);
        let same = self.policy.rules()[place].results == Results::Same;
        let timed_out = timed_out && self.policy.rules()[place].args != Args::Any;
        let acted = if record.asked.tag == Tag::Act && worked && same { 5 } else { 0 };
        let of_record = i64::try_from(raised).unwrap() + 2 * i64::from(timed_out) + acted;
        let is_quick = least(self.policy.rules()[place].pattern) < 4;
        let heard = i64::from(self.heard == Heard::Repeated && is_quick);
        let evidence = self.patience_by_evidence(&self.policy.rules()[place], record);
        tool + i64::from(early) + i64::from(late) + heard + of_record + evidence
    }

    /// Returns the additional repetitions because of what the answer proves, and of what came before it.
    fn patience_by_evidence(&self, rule: &Rule<'_>, record: &Record) -> i64 {
        let tag = record.asked.tag;
        let answer = record.answer();
        let is_weak = answer.is_some_and(|answer| answer.weak && !answer.silent);
        let failed = answer.is_some_and(|answer| answer.failed);
        let before: Vec<&Record> = {
            let all = self.settled.iter().chain(&self.open);
            let mut before: Vec<_> = all.filter(|old| old.seq < record.seq).collect();
            before.reverse();
            before.retain(|old| self.in_window(old, record));
            before
        };
        let mut more = 0;
        if is_weak && tag != Tag::Poll && record.novel && rule.args != Args::Same {
            more += 3;
        }
        if is_weak && tag == Tag::Poll && !failed && rule.args == Args::Same {
            more -= 3;
        }
        let is_news = |old: &&&Record| {
            let worked = old.answer().is_some_and(|answer| !answer.failed);
            old.novel && worked && !same_call(old, record)
        };
        if rule.select == Select::Tag(Tag::Poll)
            && tag == Tag::Poll
            && before.iter().take(16).filter(is_news).count() >= 4
        {
            more += 64;
        }
        let is_of_searches = matches!(
            (rule.args, rule.results),
            (Args::Similar, Results::Same) | (Args::SameTool, Results::Near)
        );
        if is_of_searches && tag == Tag::Search && !failed {
            let is_used = self.policy.rules().iter().any(|rule| rule.args == Args::Similar);
            let looks_similar = |old: &&&Record| is_used && similar_call(old, record);
            let is_alike = rule.args == Args::Similar
                || before.iter().take(4).filter(looks_similar).count() >= 2;
            let has_written = |old: &&Record| {
                let worked = old.answer().is_some_and(|answer| !answer.failed);
                old.asked.tag == Tag::Write && old.novel && worked
            };
            if !is_alike || before.iter().take(9).any(has_written) {
                more += 5;
            }
        }
        more
    }

    /// Returns whether the score of a record is better than the best of its tag so far.
    fn improves(&mut self, record: &Record) -> bool {
        let Status::Reported(OutcomeSpec { score: Some(score), .. }) = record.status else {
            return false;
        };
        let Some((_, best)) = self.best.iter_mut().find(|(tag, _)| *tag == record.asked.tag) else {
            self.best.push((record.asked.tag, score));
            return false;
        };
        let better = score < *best;
        *best = score.min(*best);
        better
    }

    fn announce(&mut self, asked: CallSpec, settled: &mut Vec<PlainVerdict>) -> PlainVerdict {
        let call = self.calls;
        self.calls += 1;
        let Some(tag) = self.tag(asked) else { return PlainVerdict::NOTHING };
        let asked = CallSpec { tag, ..asked };
        self.obey(asked);
        let later = asked.step.is_none() || self.step != asked.step;
        if later {
            self.give_up(usize::MAX, Status::Unreported);
            self.steps += 1;
        } else if self.open.len() == OPEN_MAX {
            self.give_up(1, Status::Dropped);
        }
        self.settle(settled);
        self.step = asked.step;
        self.row.clear();
        self.prompts = 0;
        self.tally.checks += 1;
        let seq = self.next;
        self.next += 1;
        let moved = std::mem::take(&mut self.moved);
        let mut record = Record {
            seq,
            asked,
            step: self.steps,
            status: Status::Open,
            novel: false,
            moved,
            call,
        };
        record.novel = !self
            .settled
            .iter()
            .chain(&self.open)
            .filter(|old| old.status != Status::Cancelled)
            .any(|old| self.in_window(old, &record) && same_call(old, &record));
        let mut said = self.judge(&record, true);
        if let Some(blocked) = self.blocked(&record) {
            said = said.or_stronger(blocked);
        }
        if said.action >= Action::StartOver {
            self.clear();
        } else {
            self.open.push(record);
        }
        said
    }

    /// Returns the tag under which a call is recorded, or `None` if it is not recorded.
    fn tag(&self, asked: CallSpec) -> Option<Tag> {
        let tool = Tool::new(asked.tool.into());
        let call = Call::new(tool, Digest::of(&[asked.args]));
        let same = |allowed: &Call| *allowed == call;
        let rule = self.policy.tools().iter().find(|rule| rule.tool == tool);
        let tag = if rule.is_some_and(|rule| rule.poll) { Tag::Poll } else { asked.tag };
        let exempt = rule.is_some_and(|rule| rule.exempt) || self.policy.exempt().contains(tag);
        (!exempt && !self.policy.allowed().iter().any(same)).then_some(tag)
    }

    /// Gives up waiting for the `n` oldest calls that have not settled.
    fn give_up(&mut self, n: usize, status: Status) {
        for record in self.open.iter_mut().take(n) {
            if record.status == Status::Open {
                record.status = status;
            }
        }
    }

    /// Ends the wait for the outcome of a call. Returns whether the call was waiting.
    fn close(&mut self, call: usize, status: Status) -> bool {
        let waiting = self.open.iter_mut().find(|record| record.call == call);
        match waiting.filter(|record| record.status == Status::Open) {
            Some(record) => {
                record.status = status;
                record.novel &= status != Status::Cancelled;
                let pending = matches!(status, Status::Reported(OutcomeSpec { pending: true, .. }));
                if pending && !matches!(record.asked.tag, Tag::Test | Tag::Finish | Tag::StartOver)
                {
                    record.asked.tag = Tag::Poll;
                }
                true
            }
            None => false,
        }
    }

    fn settle(&mut self, settled: &mut Vec<PlainVerdict>) {
        while self.open.first().is_some_and(|record| record.status != Status::Open) {
            let mut record = self.open.remove(0);
            record.moved |= self.improves(&record);
            let said = self.settle_one(record);
            if said.action >= Action::StartOver {
                self.clear();
            }
            settled.extend(said.finding.is_some().then_some(said));
        }
    }

    fn settle_one(&mut self, record: Record) -> PlainVerdict {
        for (place, rule) in self.policy.rules().iter().enumerate() {
            let progressed = record.moved || self.progressed(&record, rule.results);
            if rule.progress == Progress::Respect && progressed {
                self.visible[place].retain(|old| old.seq >= record.seq);
            }
        }
        self.history.push(record);
        let said = self.judge(&record, false);
        self.settled.push(record);
        if self.settled.len() > self.capacity {
            self.settled.remove(0);
        }
        said
    }

    fn in_window(&self, old: &Record, new: &Record) -> bool {
        new.seq - old.seq <= u64::from(self.policy.window())
    }

    /// Returns whether the same call was answered in an earlier step, and the latest of those
    /// answers was different.
    fn progressed(&self, record: &Record, results: Results) -> bool {
        let earlier = self.settled.iter().rev().filter(|old| {
            self.in_window(old, record) && old.step != record.step && same_call(old, record)
        });
        let mut answers = earlier.filter(|old| old.answer().is_some());
        let agree = |old| agree(old, record, results) || agree(old, record, Results::Same);
        record.answer().is_some() && answers.next().is_some_and(|old| !agree(old))
    }

    fn judge(&mut self, record: &Record, early: bool) -> PlainVerdict {
        let mut found = None;
        for (place, rule) in self.policy.rules().iter().enumerate() {
            if is_early(rule) != early {
                continue;
            }
            if early && record.moved && rule.progress == Progress::Respect {
                self.visible[place].clear();
            }
            let asked = patient(rule.pattern, self.patience(place, record));
            if self.sees(place, rule, record)
                && let Some(hit) = self.pattern(rule, asked, &self.visible[place])
                && !self.undone(rule, record)
            {
                found = found.or(Some((place, rule, asked, hit)));
            }
        }
        let Some((place, rule, asked, hit)) = found else { return PlainVerdict::NOTHING };
        let is_asked_for = self.heard == Heard::Repeated;
        let row = || match early {
            _ if is_asked_for => 0,
            true => self.unbroken_before(record),
            false => self.unbroken(),
        };
        let is_answered = |old: &&Record| matches!(old.status, Status::Reported(_));
        let earlier = self.settled.iter().filter(|old| old.seq < record.seq);
        let waits = earlier
            .filter(|old| self.in_window(old, record))
            .filter(is_answered)
            .any(|old| old.asked.tag == Tag::Poll);
        let proof = proof(rule, asked, &hit, !early && !is_asked_for, waits, row);
        let found = hit.found(place, record);
        let blocks = !early && matches!(rule.args, Args::Same | Args::Similar);
        let silent = matches!(record.status, Status::Reported(OutcomeSpec { silent: true, .. }));
        let count = Count {
            laps: counted(rule, asked, found.laps),
            most: if silent { rule.silent_max } else { Action::Stop },
            proof,
            blocker: blocks.then_some(place),
            now: record.seq,
        };
        self.climb(&rule.ladder, &count, found)
    }

    /// Shows a record to a rule, and returns whether the rule counts it.
    fn sees(&mut self, place: usize, rule: &Rule<'_>, record: &Record) -> bool {
        let selected = match rule.select {
            _ if record.status == Status::Cancelled => false,
            Select::Every => true,
            Select::Tag(tag) => record.asked.tag == tag,
            Select::Except(tag) => record.asked.tag != tag,
            Select::Unreported => record.status == Status::Unreported,
            Select::Tool(tool) => Tool::new(record.asked.tool.into()) == tool,
        };
        if !selected {
            return false;
        }
        if rule.outcomes == Outcomes::Failed && !has_failed(record) {
            self.visible[place].clear();
            return false;
        }
        let duplicate = self.visible[place]
            .iter()
            .any(|old| old.step == record.step && self.matches(rule, old, record));
        if !duplicate {
            self.visible[place].push(*record);
        }
        !duplicate
    }

    /// Returns whether two records match by a rule. `old` is in the window of `new`.
    fn matches(&self, rule: &Rule<'_>, old: &Record, new: &Record) -> bool {
        let args = match rule.args {
            Args::Same => same_call(old, new),
            Args::Similar => similar_call(old, new),
            Args::SameTool => old.asked.tool == new.asked.tool,
            Args::Any => true,
        };
        if !args || !self.in_window(old, new) {
            return false;
        }
        if rule.outcomes == Outcomes::Failures && !(has_failed(old) && has_failed(new)) {
            return false;
        }
        if rule.results == Results::Ignored {
            return true;
        }
        let named = rule.args == Args::Similar && rule.results == Results::Same;
        let named = named || same_call(old, new);
        match (old.status, new.status) {
            (Status::Reported(a), Status::Reported(b)) => {
                let telling = match rule.silence {
                    Silence::Ignored => !a.silent && !b.silent,
                    Silence::Evidence => true,
                    Silence::Telling => b.telling && !b.silent,
                };
                agree(old, new, rule.results) && (same_call(old, new) || telling)
            }
            (Status::Vetoed, Status::Reported(_) | Status::Vetoed)
            | (Status::Reported(_), Status::Vetoed) => named,
            _ => false,
        }
    }

    /// Returns the hit if the rule's pattern holds at the last record that it saw.
    fn pattern(&self, rule: &Rule<'_>, asked: Pattern, visible: &[Record]) -> Option<Hit> {
        let last = visible.last()?;
        let hit = |kind, period, laps, novel, members: Vec<Record>, round: &[Record]| {
            let shown = members.iter().filter(|old| self.in_window(old, last));
            Hit {
                kind,
                period,
                laps,
                first: members[0].seq,
                shown: shown.copied().collect(),
                confidence: confidence(rule.args, rule.results, novel, laps - least(asked)),
                identity: identity(rule, round, period),
            }
        };
        match asked {
            Pattern::Streak { times } => {
                let row = self.row(rule, visible);
                (row >= usize::from(times)).then(|| {
                    let members = visible[visible.len() - row..].to_vec();
                    let matching: Vec<Record> = visible
                        .iter()
                        .filter(|old| old.seq == last.seq || self.matches(rule, old, last))
                        .copied()
                        .collect();
                    hit(Kind::Streak, 1, row, 0, members, &matching)
                })
            }
            Pattern::Recurrence { times, within, novel } => {
                let recent = &visible[visible.len().saturating_sub(usize::from(within))..];
                let holds = |members: &[Record]| {
                    let oldest = members[members.len().checked_sub(usize::from(times))?];
                    let after = recent.iter().filter(|old| old.seq > oldest.seq && old.novel);
                    (after.clone().count() <= usize::from(novel)).then(|| (oldest, after.count()))
                };
                let mut members: Vec<Record> = recent
                    .iter()
                    .filter(|old| old.seq == last.seq || self.matches(rule, old, last))
                    .copied()
                    .collect();
                let (oldest, mut novel_between) = holds(&members)?;
                // A tool that timed out works again.
                let recovers = rule.progress == Progress::Respect
                    && rule.outcomes == Outcomes::Failures
                    && matches!(last.status, Status::Reported(OutcomeSpec { late: true, .. }));
                if recovers
                    && self.settled.iter().any(|old| {
                        let worked = old.answer().is_some_and(|answer| !answer.failed);
                        let wrote = old.asked.tag == Tag::Write && old.novel;
                        let is_between = old.seq > oldest.seq && self.in_window(old, last);
                        is_between && old.asked.tool == last.asked.tool && worked && !wrote
                    })
                {
                    return None;
                }
                if rule.progress == Progress::Respect && self.moved(rule, oldest, last, &members) {
                    // The work was to mend what a tool that writes refused.
                    if rule.outcomes != Outcomes::Failures || last.asked.tag == Tag::Write {
                        return None;
                    }
                    let raw = |record: &Record| record.answer().map(|answer| answer.raw);
                    members.retain(|old| raw(old).is_some() && raw(old) == raw(last));
                    (_, novel_between) = holds(&members)?;
                }
                let laps = members.len();
                Some(hit(Kind::Recurrence, 1, laps, novel_between, members.clone(), &members))
            }
            Pattern::Cycle { period_min, period_max, laps } => {
                let (range, laps) = (period_min..=period_max, usize::from(laps));
                let period = range.map(usize::from).find(|&period| {
                    let tail = period * laps;
                    self.run(rule, visible, period) >= tail - period
                        && !(1..period)
                            .filter(|shorter| period % shorter == 0)
                            .any(|shorter| self.run(rule, visible, shorter) >= tail - shorter)
                })?;
                let run = self.run(rule, visible, period);
                let members = visible[visible.len() - run - period..].to_vec();
                let shown: Vec<Record> =
                    members.iter().filter(|old| self.in_window(old, last)).copied().collect();
                Some(hit(Kind::Cycle, period, run / period + 1, 0, members, &shown))
            }
        }
    }

    /// Returns whether records that are not among `members` did work after `oldest` and before
    /// `last`, which was answered. If `last` is silent, any novel call is work. Otherwise a novel
    /// write is work, if `last` did not fail or the rule skips successes.
    fn moved(&self, rule: &Rule<'_>, oldest: Record, last: &Record, members: &[Record]) -> bool {
        let Some(answer) = last.answer() else { return false };
        let between = self.settled.iter().filter(|old| old.seq > oldest.seq && old.novel);
        let is_other = |old: &&Record| members.iter().all(|member| member.seq != old.seq);
        between.filter(is_other).any(|old| {
            let silent = answer.silent && rule.silence != Silence::Evidence;
            let counts = !answer.failed || rule.outcomes == Outcomes::Failures;
            let worked = old.answer().is_some_and(|answer| !answer.failed);
            silent || counts && worked && old.asked.tag == Tag::Write
        })
    }

    /// Returns whether there is progress among the settled records in the window of this one, or
    /// in it: a call with two answers, or a record that is progress by itself.
    fn undone(&self, rule: &Rule<'_>, record: &Record) -> bool {
        let settled = self.settled.iter().filter(|old| self.in_window(old, record));
        let held: Vec<&Record> = settled.chain([record]).collect();
        let differ = |a: &Record, b: &Record| {
            let answered = a.answer().is_some() && b.answer().is_some();
            answered && same_call(a, b) && !agree(a, b, rule.results)
        };
        rule.progress == Progress::Anywhere
            && held.iter().any(|a| a.moved || held.iter().any(|b| differ(a, b)))
    }

    /// Returns how many records in a row match the last one. For a row that fills the window,
    /// records that matched before also count.
    fn row(&self, rule: &Rule<'_>, visible: &[Record]) -> usize {
        let Some((last, before)) = visible.split_last() else { return 0 };
        let in_window: Vec<&Record> =
            before.iter().rev().filter(|old| self.in_window(old, last)).collect();
        let row = in_window.iter().take_while(|old| self.matches(rule, old, last)).count();
        if row > 0 && row == in_window.len() {
            row.max(self.row(rule, before)) + 1
        } else {
            row + 1
        }
    }

    /// Returns how many records in a row, up to the latest settled one, are of the same call and
    /// came back with the same bytes. Records that were issued together count once, cancelled
    /// records do not count, and polls end the row.
    fn unbroken(&self) -> usize {
        let present: Vec<&Record> =
            self.history.iter().filter(|old| old.status != Status::Cancelled).collect();
        (0..present.len()).fold(0, |row, n| {
            let (earlier, record) = (&present[..n], present[n]);
            match earlier.last() {
                _ if record.asked.tag == Tag::Poll => 0,
                Some(before) if self.goes_on(earlier, record) => {
                    row + usize::from(before.step != record.step)
                }
                _ => 1,
            }
        })
    }

    /// Returns whether a record is of the call of the one before it and came back with the same
    /// bytes.
    fn goes_on(&self, earlier: &[&Record], record: &Record) -> bool {
        let Some(before) = earlier.last() else { return false };
        let in_window = |old: &&Record| self.in_window(old, record);
        if !in_window(before) || !comparable(before, record) {
            return false;
        }
        let mut answers = earlier.iter().rev().copied().filter(in_window).filter_map(|old| {
            matches!(old.status, Status::Reported(_)).then_some((old, old.status))
        });
        match (record.status, answers.next()) {
            (Status::Vetoed, _) | (_, None) => true,
            (Status::Reported(now), Some((old, Status::Reported(then)))) => {
                comparable(old, record) && now.failed == then.failed && now.raw == then.raw
            }
            _ => false,
        }
    }

    /// Returns the length of the row that an announced call would continue if it were answered as
    /// before. Returns 0 while other calls are open, because their effect is unknown.
    fn unbroken_before(&self, record: &Record) -> usize {
        let attempt = Record { status: Status::Vetoed, ..*record };
        let present = self.history.iter().filter(|old| old.status != Status::Cancelled);
        let present: Vec<&Record> = present.collect();
        if self.open.is_empty() && self.goes_on(&present, &attempt) { self.unbroken() } else { 0 }
    }

    /// Returns the number of records held and the number that a finding takes, for each rule.
    pub(crate) fn nearness(&self) -> Vec<(usize, usize)> {
        let rules = self.policy.rules().iter().enumerate();
        let calls = rules.map(|(place, rule)| self.near(place, rule));
        let texts = self.policy.texts().iter().map(|rule| {
            let held = match (rule.texts, self.row.last()) {
                (Texts::Any, _) => self.row.len(),
                (Texts::Prompt, _) => self.prompts,
                (Texts::Same, Some(last)) => {
                    self.row.iter().rev().take_while(|said| *said == last).count()
                }
                (Texts::Same | Texts::Inside, _) => 0,
            };
            (held, usize::from(rule.times))
        });
        let texts = texts.enumerate().map(|(place, (held, times))| {
            let needed = times + self.raised(Err(place), 0);
            (held.min(needed), needed)
        });
        calls.chain(texts).collect()
    }

    fn near(&self, place: usize, rule: &Rule<'_>) -> (usize, usize) {
        let visible = &self.visible[place];
        let window = u64::from(self.policy.window());
        let last = visible.last().filter(|last| self.next - last.seq <= window);
        // If the rule holds no record, the answer is that for a tool without rules of its own.
        let mut asked = Record {
            seq: self.next.max(self.begun + 1) - 1,
            asked: CallSpec::PLAIN,
            step: 0,
            status: Status::Open,
            novel: false,
            moved: false,
            call: 0,
        };
        asked.asked.tool = last.map_or(0, |last| last.asked.tool);
        let pattern = patient(rule.pattern, self.patience(place, &asked));
        let (held, needed) = match pattern {
            Pattern::Streak { times } => (self.row(rule, visible), times.into()),
            Pattern::Recurrence { times, within, .. } => {
                let recent = &visible[visible.len().saturating_sub(within.into())..];
                let matching = |old: &&Record| last.is_some_and(|new| self.matches(rule, old, new));
                let others = recent.iter().filter(|old| Some(old.seq) != last.map(|new| new.seq));
                let others = others.filter(|old| self.next - old.seq <= window);
                (others.filter(matching).count() + 1, times.into())
            }
            Pattern::Cycle { period_min, period_max, laps } => {
                self.nearest_cycle(rule, visible, [period_min, period_max, laps].map(usize::from))
            }
        };
        (if last.is_some() { held.min(needed) } else { 0 }, needed)
    }

    /// Returns the nearest cycle: the period whose tail is nearest to enough laps, among the
    /// periods that no shorter one explains. Of two equal periods the shorter wins.
    fn nearest_cycle(
        &self,
        rule: &Rule<'_>,
        visible: &[Record],
        [least, most, laps]: [usize; 3],
    ) -> (usize, usize) {
        let run = |period| self.run(rule, visible, period);
        let mut nearest = (0, least * laps);
        for period in least..=most {
            let tail = run(period) + period;
            let shorter =
                |divisor: &usize| period % divisor == 0 && run(*divisor) >= tail - divisor;
            if run(period) == 0 || (1..period).any(|divisor| shorter(&divisor)) {
                continue;
            }
            let held = tail.min(period * laps);
            if held * nearest.1 > nearest.0 * period * laps {
                nearest = (held, period * laps);
            }
        }
        nearest
    }

    /// Returns how many records up to the last match the record `period` before them, without a
    /// gap.
    fn run(&self, rule: &Rule<'_>, visible: &[Record], period: usize) -> usize {
        let pairs = visible.iter().rev().zip(visible.iter().rev().skip(period));
        pairs.take_while(|(new, old)| self.matches(rule, old, new)).count()
    }

    fn climb(
        &mut self,
        ladder: &Ladder<'_>,
        count: &Count,
        mut found: PlainFinding,
    ) -> PlainVerdict {
        if self.silenced.contains(&(found.identity.clone(), found.kind)) {
            return PlainVerdict::NOTHING;
        }
        let now = count.now;
        self.findings += 1;
        let window = u64::from(self.policy.window());
        self.loops.retain(|known| now.saturating_sub(known.last) <= window);
        if !self.loops.iter().any(|known| known.identity == found.identity) {
            if self.loops.len() == LOOPS_MAX {
                let oldest = self.loops.iter().map(|known| known.last).min();
                let place = self.loops.iter().position(|known| Some(known.last) == oldest);
                self.loops.swap_remove(place.unwrap());
            }
            self.loops.push(KnownLoop {
                identity: found.identity.clone(),
                last: now,
                findings: 0,
                rung: 0,
                blocked_by: None,
            });
        }
        let known = self.loops.iter_mut().find(|known| known.identity == found.identity).unwrap();
        known.last = now;
        known.findings += 1;
        let (reached, highest) = match ladder.basis {
            Basis::Repetitions => (count.laps, &mut known.rung),
            Basis::LoopFindings => (known.findings, &mut known.rung),
            Basis::AllFindings => (self.findings, &mut self.rung),
        };
        let rungs = ladder.rungs.iter().filter(|rung| usize::from(rung.count) <= reached);
        let rung = rungs.filter(|rung| rung.action <= count.most).count();
        let asked = rung.checked_sub(1).map_or(Action::Proceed, |n| ladder.rungs[n].action);
        // Without proof the action ends at a warning, which is repeated at each reminder. With
        // proof it ends at the highest proved rung.
        let (rung, action) = if asked < Action::Block {
            (rung, asked)
        } else {
            match forced(ladder, reached.min(count.proof.reach), count.most) {
                Some(forced) => (rung, forced),
                None => (rung + reminders(ladder, reached), Action::Warn),
            }
        };
        // More of the same climbs to the top if it adds to the proof. Otherwise it ends at a
        // warning.
        let top = ladder.rungs.iter().map(|rung| rung.action).filter(|top| *top <= count.most);
        let top = top.max().unwrap_or(Action::Proceed);
        found.most = if count.proof.grows { top } else { top.min(Action::Warn) };
        let begins = action >= Action::Block && count.blocker.is_some();
        let fresh = rung > *highest || begins && known.blocked_by.is_none();
        *highest = rung.max(*highest);
        let proved = forced(ladder, count.proof.reach, Action::Stop).is_some();
        let careful = |place: &usize| self.policy.rules()[*place].force == Force::Proven;
        if action >= Action::Block && count.blocker.is_some() {
            known.blocked_by = count.blocker;
        } else if known.blocked_by.as_ref().is_some_and(careful)
            && !(known.blocked_by == count.blocker && proved)
        {
            // The blocking rule has lost its proof, or did not look for it.
            known.blocked_by = None;
        }
        PlainVerdict { action, rung, fresh, finding: Some(found) }
    }

    /// Returns whether all records between those two were issued together with the first of them,
    /// and are the same call with the same ending.
    fn only_duplicates(&self, last: u64, next: u64) -> bool {
        let at = |seq| self.settled.iter().find(|one| one.seq == seq);
        let is_one = |seq| match (at(last), at(seq - 1), at(seq)) {
            (Some(first), Some(before), Some(one)) => one.step == before.step && proves(one, first),
            _ => false,
        };
        last < next && (last + 1..next).all(is_one)
    }

    /// Returns the verdict on a call that continues a blocked loop: its rule would fire again on
    /// the same loop if the call were answered as before.
    fn blocked(&self, record: &Record) -> Option<PlainVerdict> {
        let window = u64::from(self.policy.window());
        let attempt = Record { status: Status::Vetoed, ..*record };
        if !self.open.is_empty() {
            return None;
        }
        self.loops.iter().find_map(|known| {
            let place = known.blocked_by?;
            let rule = &self.policy.rules()[place];
            if record.seq.saturating_sub(known.last) > window {
                return None;
            }
            // A rule that asks for proof blocks only the call after the one that gave it.
            if rule.force == Force::Proven && !self.only_duplicates(known.last, record.seq) {
                return None;
            }
            let mut trial = self.clone();
            if record.moved && rule.progress == Progress::Respect {
                trial.visible[place].clear();
            }
            let asked = patient(rule.pattern, self.patience(place, record));
            let hit = trial
                .sees(place, rule, &attempt)
                .then(|| trial.pattern(rule, asked, &trial.visible[place]))??;
            if trial.undone(rule, &attempt) {
                return None;
            }
            let most = rule.ladder.rungs.iter().map(|rung| rung.action).max()?;
            (hit.identity == known.identity).then_some(PlainVerdict {
                action: Action::Block,
                rung: known.rung,
                fresh: false,
                finding: Some(PlainFinding { most, ..hit.found(place, record) }),
            })
        })
    }

    fn text(&mut self, text: u8, echo: usize) -> PlainVerdict {
        self.tally.checks += 1;
        self.turns += 1;
        self.row.push(text);
        let same = self.row.iter().rev().take_while(|said| **said == text).count();
        let any = self.row.len();
        self.talk(text, |texts| match texts {
            Texts::Any => any,
            Texts::Same => same,
            Texts::Inside => echo,
            Texts::Prompt => 0,
        })
    }

    /// Takes in a message. A message among the latest is no new instruction, and the one that came
    /// longest ago makes room.
    fn user_message(&mut self, message: u8) -> PlainVerdict {
        let again = self.messages.last() == Some(&message);
        let known = self.messages.contains(&message);
        self.messages.retain(|heard| *heard != message);
        self.messages.push(message);
        if self.messages.len() > MESSAGES_MAX {
            self.messages.remove(0);
        }
        if !known {
            self.instructed();
        }
        self.prompts = if again { self.prompts + 1 } else { 1 };
        let prompts = self.prompts;
        self.talk(message, |texts| if texts == Texts::Prompt { prompts } else { 0 })
    }

    /// Judges a text by the rules about text. `laps` returns the count of each kind.
    fn talk(&mut self, text: u8, laps: impl Fn(Texts) -> usize) -> PlainVerdict {
        let rules = self.policy.texts();
        let asked = |place: usize| usize::from(rules[place].times) + self.raised(Err(place), 0);
        let found = (0..rules.len()).find(|place| laps(rules[*place].texts) >= asked(*place));
        let Some(place) = found else { return PlainVerdict::NOTHING };
        let asked = asked(place);
        let rule = rules[place];
        let laps = laps(rule.texts);
        // A prompt stands before the turn that comes next.
        let (first, last) = match rule.texts {
            Texts::Any | Texts::Same => (self.turns - laps as u64, self.turns - 1),
            Texts::Inside => (self.turns - 1, self.turns - 1),
            Texts::Prompt => (self.turns, self.turns),
        };
        let (args, results) = match rule.texts {
            Texts::Any => (Args::Any, Results::Ignored),
            Texts::Same | Texts::Inside => (Args::Same, Results::Ignored),
            Texts::Prompt => (Args::Any, Results::Same),
        };
        let said = if rule.texts == Texts::Any { key(&[]) } else { key(&[text]) };
        let found = PlainFinding {
            rule: Err(place),
            kind: if rule.texts == Texts::Inside { Kind::Echo } else { Kind::Text },
            period: if rule.texts == Texts::Inside { ECHO_PERIOD.into() } else { 1 },
            laps,
            first,
            last,
            calls: Vec::new(),
            tool: 0,
            tag: Tag::Other,
            confidence: confidence(args, results, 0, laps - asked),
            most: Action::Stop,
            identity: Rc::new((Err(rule.texts), vec![(said, key(&[]))])),
        };
        let count = Count {
            laps: laps + usize::from(rule.times) - asked,
            most: Action::Stop,
            proof: Proof::GIVEN,
            blocker: None,
            now: self.next,
        };
        let said = self.climb(&rule.ladder, &count, found);
        if said.action >= Action::StartOver {
            self.clear();
        }
        said
    }
}

/// Returns how many repetitions the ladder counts, as if the rule's own number had been asked for.
fn counted(rule: &Rule<'_>, asked: Pattern, laps: usize) -> usize {
    (laps + least(rule.pattern)).saturating_sub(least(asked))
}

/// Returns the proof that making the calls of a pattern again does not help. If the rule asks for
/// one, the proof is the pattern itself, once it has settled, or the row of equal answers that it
/// ends.
fn proof(
    rule: &Rule<'_>,
    asked: Pattern,
    hit: &Hit,
    settled: bool,
    waits: bool,
    row: impl Fn() -> usize,
) -> Proof {
    if rule.force == Force::Always {
        return Proof::GIVEN;
    }
    let newest_first: Vec<&Record> = hit.shown.iter().rev().collect();
    let pairs = newest_first.iter().zip(newest_first.iter().skip(hit.period));
    // While something is under way, the answer to a call that works may change by itself.
    let may_change = |newer: &Record| {
        waits && matches!(newer.status, Status::Reported(OutcomeSpec { failed: false, .. }))
    };
    let proving = pairs.take_while(|(newer, older)| proves(newer, older) && !may_change(newer));
    let proving = proving.count();
    // A single lap proves nothing. A proof needs the lap before it, too.
    let laps = if settled && proving >= hit.period { proving / hit.period + 1 } else { 0 };
    let left = counted(rule, asked, hit.laps).saturating_sub(hit.laps.saturating_sub(laps));
    let by_pattern = match rule.ladder.basis {
        _ if laps == 0 => 0,
        Basis::Repetitions => left,
        Basis::LoopFindings | Basis::AllFindings if left >= least(rule.pattern) => usize::MAX,
        Basis::LoopFindings | Basis::AllFindings => 0,
    };
    let first = rule.ladder.rungs.iter().find(|rung| rung.action >= Action::Block);
    let beyond = row().checked_sub(RUNAWAY_MIN.into());
    let by_row = first.zip(beyond).map_or(0, |(rung, beyond)| usize::from(rung.count) + beyond);
    Proof { reach: by_pattern.max(by_row), grows: laps > 0 || beyond.is_some() }
}

/// Returns whether the newer of two records, beside the older one, proves that the call does not
/// help.
fn proves(newer: &Record, older: &Record) -> bool {
    if !comparable(newer, older) {
        return false;
    }
    match (newer.status, older.status) {
        (Status::Reported(new), Status::Reported(old)) if new.failed && old.failed => {
            new.result == old.result
        }
        (Status::Reported(new), Status::Reported(old)) => {
            !new.failed && !old.failed && newer.asked.idempotent && new.raw == old.raw
        }
        _ => true,
    }
}

/// Returns whether two records are of the same call, both were answered or vetoed, and neither is
/// a poll.
fn comparable(one: &Record, other: &Record) -> bool {
    same_call(one, other)
        && [one, other].iter().all(|record| {
            matches!(record.status, Status::Reported(_) | Status::Vetoed)
                && record.asked.tag != Tag::Poll
        })
}

/// Returns the strongest action from `Block` up to `most` that a ladder asks for at a count.
fn forced(ladder: &Ladder<'_>, count: usize, most: Action) -> Option<Action> {
    let reached = ladder.rungs.iter().filter(|rung| usize::from(rung.count) <= count);
    let actions = reached.map(|rung| rung.action);
    actions.filter(|action| (Action::Block..=most).contains(action)).max()
}

/// Returns how many reminders a ladder has up to a count. Each is five eighths above the one
/// before.
fn reminders(ladder: &Ladder<'_>, count: usize) -> usize {
    let last = ladder.rungs.last().map(|rung| usize::from(rung.count));
    let counts = successors(last, |at| Some(at + (at * 5 / 8).max(1)));
    counts.skip(1).take_while(|at| *at <= count).count()
}

/// Returns whether a call failed, or was blocked.
fn has_failed(record: &Record) -> bool {
    matches!(record.status, Status::Reported(OutcomeSpec { failed: true, .. }) | Status::Vetoed)
}

/// The period of every echo in the tests.
pub(crate) const ECHO_PERIOD: u8 = 3;

/// Returns the repetitions that a pattern asks for.
fn least(pattern: Pattern) -> usize {
    match pattern {
        Pattern::Streak { times } => usize::from(times),
        Pattern::Recurrence { times: n, .. } | Pattern::Cycle { laps: n, .. } => usize::from(n),
    }
}

/// Returns the pattern with this number of additional repetitions: 2 at least, and no more than
/// can be counted.
fn patient(pattern: Pattern, more: i64) -> Pattern {
    let asked = i64::try_from(least(pattern)).unwrap() + more;
    match pattern {
        Pattern::Streak { .. } => {
            Pattern::Streak { times: u16::try_from(asked.clamp(2, 65_535)).unwrap() }
        }
        Pattern::Recurrence { within, novel, .. } => {
            let times = u8::try_from(asked.clamp(2, within.into())).unwrap();
            Pattern::Recurrence { times, within, novel }
        }
        Pattern::Cycle { period_min, period_max, .. } => {
            Pattern::cycle(period_min, period_max, u8::try_from(asked.clamp(2, 255)).unwrap())
        }
    }
}

/// Returns the confidence of a finding: the value of what the rule compares, less the novel calls
/// between, with half the doubt left for each repetition beyond those asked for.
fn confidence(args: Args, results: Results, novel: usize, beyond: usize) -> usize {
    let args = match args {
        Args::Same => 100,
        Args::Similar => 85,
        Args::SameTool => 70,
        Args::Any => 60,
    };
    let results = match results {
        Results::Same => 100,
        Results::Near => 80,
        Results::Ignored => 75,
    };
    let sure = (args * results / 100_usize).saturating_sub(5 * novel);
    100 - (0..beyond).fold(100 - sure, |doubt, _| doubt / 2)
}

/// Returns the record of a call as it was announced. A cancelled call stays cancelled.
fn unanswered(record: Record) -> Record {
    let cancelled = record.status == Status::Cancelled;
    Record { status: if cancelled { Status::Cancelled } else { Status::Open }, ..record }
}

fn is_early(rule: &Rule<'_>) -> bool {
    rule.results == Results::Ignored
        && rule.outcomes == Outcomes::Any
        && rule.select != Select::Unreported
}

fn failed(record: &Record) -> bool {
    record.answer().is_some_and(|answer| answer.failed)
}

fn same_call(a: &Record, b: &Record) -> bool {
    a.asked.tool == b.asked.tool && a.asked.args == b.asked.args
}

/// Returns whether both are calls of one tool with similar arguments.
fn similar_call(old: &Record, new: &Record) -> bool {
    old.asked.tool == new.asked.tool && old.asked.similar == new.asked.similar
}

/// Returns whether two records were answered, and their answers agree.
fn agree(a: &Record, b: &Record, results: Results) -> bool {
    let (Some(x), Some(y)) = (a.answer(), b.answer()) else { return false };
    let same = x.result == y.result;
    let alike = match (results, x.near, y.near) {
        (Results::Same | Results::Ignored, ..) => same,
        // If the host gives no near digest, only the same answer to the same call is near.
        (Results::Near, None, None) => same && same_call(a, b),
        (Results::Near, x, y) => x == y,
    };
    x.failed == y.failed && alike
}

/// Returns the identity of the loop of `round`'s last `period` records. A vetoed record takes the
/// result of the nearest earlier lap in which it has one.
fn identity(rule: &Rule<'_>, round: &[Record], period: usize) -> Identity {
    let pair = |back: usize| {
        let asked = round[round.len() - 1 - back].asked;
        let args = match rule.args {
            Args::Same => key(&[asked.tool, asked.args]),
            Args::Similar => key(&[asked.tool, asked.similar]),
            Args::SameTool => key(&[asked.tool]),
            Args::Any => key(&[]),
        };
        let laps = (back..round.len()).step_by(period).map(|n| &round[round.len() - 1 - n]);
        let answered = laps.take(64).find(|record| record.status != Status::Vetoed);
        let result = match (answered.map(|record| record.status), rule.results) {
            (Some(Status::Reported(answer)), Results::Near) => {
                let failed = u8::from(answer.failed);
                let alone = || key(&[asked.tool, asked.args, answer.result, failed]);
                answer.near.map_or_else(alone, |near| key(&[near, failed]))
            }
            (Some(Status::Reported(answer)), Results::Same) => {
                key(&[answer.result, u8::from(answer.failed)])
            }
            _ => key(&[]),
        };
        (args, result)
    };
    let keys: Vec<_> = (0..period).rev().map(pair).collect();
    let rotations = (0..period).map(|n| [&keys[n..], &keys[..n]].concat());
    let compared = (rule.select, rule.args, rule.results);
    Rc::new((Ok(compared), rotations.min().unwrap_or_default()))
}

fn key(numbers: &[u8]) -> Key {
    from_fn(|n| numbers.get(n).copied())
}
