//! The plainest possible detector, written from the definitions in DESIGN.md alone: it keeps
//! every record, compares pair by pair, and counts by walking back. It shares no code with the
//! engine but the public words for rules.

use unstuck_core::{
    Action, Args, Basis, Kind, LOOPS_MAX, Ladder, MESSAGES_MAX, OPEN_MAX, Outcomes, Pattern,
    Policy, Progress, Results, Rule, Select, Tag, Texts,
};

/// What a test does to both detectors. Calls are named by their place among all announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Announce(Asked),
    Outcome(usize, Answer),
    Veto(usize),
    Finish,
    Text(u8),
    UserMessage(u8),
    Clear,
}

/// A call, as small numbers: equal numbers are equal things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) tool: u8,
    pub(crate) args: u8,
    pub(crate) similar: u8,
    pub(crate) tag: Tag,
    pub(crate) step: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) result: u8,
    pub(crate) near: u8,
    pub(crate) failed: bool,
    pub(crate) silent: bool,
}

/// What both must agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) action: Action,
    pub(crate) rung: usize,
    pub(crate) fresh: bool,
    pub(crate) finding: Option<Found>,
}

impl Said {
    pub(crate) const NOTHING: Self =
        Self { action: Action::Proceed, rung: 0, fresh: false, finding: None };

    fn or_stronger(self, other: Self) -> Self {
        let rank = |said: &Self| (said.action, said.fresh, said.finding.is_some());
        if rank(&other) > rank(&self) { other } else { self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The place of the rule; `None` for the rule about text.
    pub(crate) rule: Option<usize>,
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
    pub(crate) identity: Identity,
}

/// What a loop is known by: what its rule looks at, and each record's arguments and result as
/// far as the rule does, in the rotation that sorts first.
pub(crate) type Identity = (String, Vec<(Vec<u8>, Vec<u8>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Open,
    Reported(Answer),
    Unreported,
    Dropped,
    Vetoed,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    seq: u64,
    asked: Asked,
    /// Equal numbers were issued together.
    step: usize,
    status: Status,
    novel: bool,
}

#[derive(Clone, Debug)]
struct Remembered {
    identity: Identity,
    last: u64,
    findings: usize,
    rung: usize,
    blocked_by: Option<usize>,
}

/// A pattern that holds, by the records that make it, oldest first.
struct Hit {
    kind: Kind,
    period: usize,
    laps: usize,
    first: u64,
    calls: Vec<u64>,
    confidence: usize,
    identity: Identity,
}

impl Hit {
    fn found(self, place: usize, record: &Record) -> Found {
        Found {
            rule: Some(place),
            kind: self.kind,
            period: self.period,
            laps: self.laps,
            first: self.first,
            last: record.seq,
            calls: self.calls,
            tool: record.asked.tool,
            tag: record.asked.tag,
            confidence: self.confidence,
            identity: self.identity,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Model<'p> {
    policy: &'p Policy<'p>,
    settled: Vec<Record>,
    open: Vec<Record>,
    /// What each rule may still use: the records that it saw, oldest first.
    visible: Vec<Vec<Record>>,
    loops: Vec<Remembered>,
    findings: usize,
    rung: usize,
    next: u64,
    steps: usize,
    step: Option<u8>,
    turns: u64,
    row: usize,
    latest: Option<u8>,
    messages: Vec<u8>,
    /// The sequence number of each call announced; none for an exempt one.
    calls: Vec<Option<u64>>,
}

impl<'p> Model<'p> {
    pub(crate) fn new(policy: &'p Policy<'p>) -> Self {
        Self {
            policy,
            settled: Vec::new(),
            open: Vec::new(),
            visible: vec![Vec::new(); policy.rules().len()],
            loops: Vec::new(),
            findings: 0,
            rung: 0,
            next: 0,
            steps: 0,
            step: None,
            turns: 0,
            row: 0,
            latest: None,
            messages: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The verdict on the event, and on the calls that an announcement settled in passing.
    pub(crate) fn take(&mut self, event: Event) -> (Said, Said) {
        match event {
            Event::Announce(asked) => return self.announce(asked),
            Event::Outcome(n, answer) => {
                self.close(n, Status::Reported(answer));
                return (self.settle(), Said::NOTHING);
            }
            Event::Veto(n) => {
                self.close(n, Status::Vetoed);
                return (self.settle(), Said::NOTHING);
            }
            Event::Finish => {
                self.give_up(usize::MAX, Status::Unreported);
                return (self.settle(), Said::NOTHING);
            }
            Event::Text(text) => return (self.text(text), Said::NOTHING),
            Event::UserMessage(message) => {
                if !self.messages.contains(&message) {
                    self.messages.push(message);
                    if self.messages.len() > MESSAGES_MAX {
                        self.messages.remove(0);
                    }
                    self.clear();
                }
            }
            Event::Clear => self.clear(),
        }
        (Said::NOTHING, Said::NOTHING)
    }

    fn clear(&mut self) {
        self.settled.clear();
        self.open.clear();
        self.visible.iter_mut().for_each(Vec::clear);
        self.loops.clear();
        self.findings = 0;
        self.rung = 0;
        self.step = None;
        self.row = 0;
    }

    fn announce(&mut self, asked: Asked) -> (Said, Said) {
        if self.policy.exempt().contains(asked.tag) {
            self.calls.push(None);
            return (Said::NOTHING, Said::NOTHING);
        }
        let later = asked.step.is_none() || self.step != asked.step;
        if later {
            self.give_up(usize::MAX, Status::Unreported);
            self.steps += 1;
        } else if self.open.len() == OPEN_MAX {
            self.give_up(1, Status::Dropped);
        }
        let settled = self.settle();
        self.step = asked.step;
        self.row = 0;
        let seq = self.next;
        self.next += 1;
        self.calls.push(Some(seq));
        let mut record =
            Record { seq, asked, step: self.steps, status: Status::Open, novel: false };
        record.novel = !self
            .settled
            .iter()
            .chain(&self.open)
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
        (said, settled)
    }

    /// Gives up waiting for the `n` oldest calls that have not settled.
    fn give_up(&mut self, n: usize, status: Status) {
        for record in self.open.iter_mut().take(n) {
            if record.status == Status::Open {
                record.status = status;
            }
        }
    }

    fn close(&mut self, call: usize, status: Status) {
        let seq = self.calls[call];
        let waiting = self.open.iter_mut().find(|record| Some(record.seq) == seq);
        if let Some(record) = waiting
            && record.status == Status::Open
        {
            record.status = status;
        }
    }

    fn settle(&mut self) -> Said {
        let mut said = Said::NOTHING;
        while self.open.first().is_some_and(|record| record.status != Status::Open) {
            let record = self.open.remove(0);
            for (place, rule) in self.policy.rules().iter().enumerate() {
                if rule.progress == Progress::Respect && self.progressed(&record, rule.results) {
                    self.visible[place].retain(|old| old.seq >= record.seq);
                }
            }
            let one = self.judge(&record, false);
            if one.action >= Action::StartOver {
                self.clear();
            } else {
                self.settled.push(record);
            }
            let stronger = said.clone().or_stronger(one.clone());
            let weaker = if stronger == said { one } else { said };
            said = stronger;
            let loop_of = |said: &Said| said.finding.as_ref().map(|found| found.identity.clone());
            let other_loop = loop_of(&said) != loop_of(&weaker);
            if weaker.fresh && other_loop && said.action < Action::StartOver {
                self.tell_again(&weaker);
            }
        }
        said
    }

    /// A fresh verdict that gives way to one about another loop is fresh the next time, too.
    fn tell_again(&mut self, said: &Said) {
        let Some(found) = &said.finding else { return };
        let ladder = found.rule.map(|place| self.policy.rules()[place].ladder);
        if ladder.is_some_and(|ladder| ladder.basis != Basis::AllFindings) {
            let same = |known: &&mut Remembered| known.identity == found.identity;
            if let Some(known) = self.loops.iter_mut().find(same) {
                known.rung = said.rung - 1;
            }
        }
    }

    fn in_window(&self, old: &Record, new: &Record) -> bool {
        new.seq - old.seq <= u64::from(self.policy.window())
    }

    /// Whether the same call was answered before, in an earlier step, and the latest of those
    /// answers was another.
    fn progressed(&self, record: &Record, results: Results) -> bool {
        let Status::Reported(answer) = record.status else { return false };
        let earlier = self.settled.iter().rev().filter(|old| {
            self.in_window(old, record) && old.step != record.step && same_call(old, record)
        });
        let mut answers = earlier.filter_map(|old| match old.status {
            Status::Reported(answer) => Some(answer),
            _ => None,
        });
        answers.next().is_some_and(|old| !same_answer(old, answer, results))
    }

    fn judge(&mut self, record: &Record, early: bool) -> Said {
        let mut found = None;
        for (place, rule) in self.policy.rules().iter().enumerate() {
            if is_early(rule) == early
                && self.sees(place, rule, record)
                && let Some(hit) = self.pattern(rule, &self.visible[place])
            {
                found = found.or(Some((place, rule, hit)));
            }
        }
        let Some((place, rule, hit)) = found else { return Said::NOTHING };
        let found = hit.found(place, record);
        let blocks = !early && matches!(rule.args, Args::Same | Args::Similar);
        let silent = matches!(record.status, Status::Reported(Answer { silent: true, .. }));
        let most = if silent { rule.silent_max } else { Action::Stop };
        self.climb(&rule.ladder, most, found, blocks.then_some(place), record.seq)
    }

    /// Shows a record to a rule: whether the rule counts it as one of its own.
    fn sees(&mut self, place: usize, rule: &Rule<'_>, record: &Record) -> bool {
        let selected = match rule.select {
            Select::Every => true,
            Select::Tag(tag) => record.asked.tag == tag,
            Select::Except(tag) => record.asked.tag != tag,
            Select::Unreported => record.status == Status::Unreported,
        };
        let failed = match record.status {
            Status::Reported(answer) => answer.failed,
            Status::Vetoed => true,
            Status::Open | Status::Unreported | Status::Dropped => false,
        };
        if !selected {
            return false;
        }
        if rule.outcomes == Outcomes::Failed && !failed {
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

    /// Whether two records match by a rule, `old` being in the window of `new`.
    fn matches(&self, rule: &Rule<'_>, old: &Record, new: &Record) -> bool {
        let args = match rule.args {
            Args::Same => same_call(old, new),
            Args::Similar => {
                old.asked.tool == new.asked.tool && old.asked.similar == new.asked.similar
            }
            Args::SameTool => old.asked.tool == new.asked.tool,
            Args::Any => true,
        };
        if !args || !self.in_window(old, new) {
            return false;
        }
        if rule.results == Results::Ignored {
            return true;
        }
        let named = same_call(old, new) || rule.args == Args::Similar;
        match (old.status, new.status) {
            (Status::Reported(a), Status::Reported(b)) => {
                same_answer(a, b, rule.results) && (same_call(old, new) || !a.silent && !b.silent)
            }
            (Status::Vetoed, Status::Reported(_) | Status::Vetoed)
            | (Status::Reported(_), Status::Vetoed) => named,
            _ => false,
        }
    }

    /// Whether the rule's pattern holds at the last of the records that it saw.
    fn pattern(&self, rule: &Rule<'_>, visible: &[Record]) -> Option<Hit> {
        let last = visible.last()?;
        let hit = |kind, period, laps, novel, members: Vec<Record>, round: &[Record]| {
            let asked = match rule.pattern {
                Pattern::Streak { times } => usize::from(times),
                Pattern::Recurrence { times: n, .. } | Pattern::Cycle { laps: n, .. } => {
                    usize::from(n)
                }
            };
            let shown = members.iter().filter(|old| self.in_window(old, last));
            Hit {
                kind,
                period,
                laps,
                first: members[0].seq,
                calls: shown.map(|old| old.seq).collect(),
                confidence: confidence(rule.args, rule.results, novel, laps - asked),
                identity: identity(rule, round, period),
            }
        };
        match rule.pattern {
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
                let members: Vec<Record> = recent
                    .iter()
                    .filter(|old| old.seq == last.seq || self.matches(rule, old, last))
                    .copied()
                    .collect();
                let oldest = members.len().checked_sub(usize::from(times)).map(|n| members[n])?;
                let novel_between =
                    recent.iter().filter(|old| old.seq > oldest.seq && old.novel).count();
                let moved = rule.progress == Progress::Respect && self.moved(oldest, last);
                (novel_between <= usize::from(novel) && !moved).then(|| {
                    let laps = members.len();
                    hit(Kind::Recurrence, 1, laps, novel_between, members.clone(), &members)
                })
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

    /// Whether work was done after `oldest` and before `last`, which was answered alike: something
    /// new was written and `last` is no failure, or it is silent and any call was new.
    fn moved(&self, oldest: Record, last: &Record) -> bool {
        let Status::Reported(answer) = last.status else { return false };
        let between = self.settled.iter().filter(|old| old.seq > oldest.seq);
        between.filter(|old| old.novel).any(|old| {
            let worked = matches!(old.status, Status::Reported(Answer { failed: false, .. }));
            let written = worked && old.asked.tag == Tag::Write;
            answer.silent || !answer.failed && written
        })
    }

    /// How many records in a row match the last one; of a row that fills the window, how many
    /// did before count too.
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

    /// How many records up to the last match the one `period` before them, without a gap.
    fn run(&self, rule: &Rule<'_>, visible: &[Record], period: usize) -> usize {
        let pairs = visible.iter().rev().zip(visible.iter().rev().skip(period));
        pairs.take_while(|(new, old)| self.matches(rule, old, new)).count()
    }

    fn climb(
        &mut self,
        ladder: &Ladder<'_>,
        most: Action,
        found: Found,
        blocker: Option<usize>,
        now: u64,
    ) -> Said {
        self.findings += 1;
        let window = u64::from(self.policy.window());
        self.loops.retain(|known| now.saturating_sub(known.last) <= window);
        if !self.loops.iter().any(|known| known.identity == found.identity) {
            if self.loops.len() == LOOPS_MAX {
                let oldest = self.loops.iter().map(|known| known.last).min();
                let place = self.loops.iter().position(|known| Some(known.last) == oldest);
                self.loops.swap_remove(place.unwrap());
            }
            self.loops.push(Remembered {
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
        let (count, highest) = match ladder.basis {
            Basis::Repetitions => (found.laps, &mut known.rung),
            Basis::LoopFindings => (known.findings, &mut known.rung),
            Basis::AllFindings => (self.findings, &mut self.rung),
        };
        let reached = ladder.rungs.iter().filter(|rung| usize::from(rung.count) <= count);
        let rung = reached.filter(|rung| rung.action <= most).count();
        let action = rung.checked_sub(1).map_or(Action::Proceed, |n| ladder.rungs[n].action);
        let fresh = rung > *highest;
        *highest = rung.max(*highest);
        if action >= Action::Block {
            known.blocked_by = blocker;
        }
        Said { action, rung, fresh, finding: Some(found) }
    }

    /// The verdict on a call that continues a blocked loop: one with which its rule would fire
    /// again on the same loop, if the call were answered as before.
    fn blocked(&self, record: &Record) -> Option<Said> {
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
            let mut trial = self.clone();
            let hit = trial
                .sees(place, rule, &attempt)
                .then(|| trial.pattern(rule, &trial.visible[place]))??;
            (hit.identity == known.identity).then_some(Said {
                action: Action::Block,
                rung: known.rung,
                fresh: false,
                finding: Some(hit.found(place, record)),
            })
        })
    }

    fn text(&mut self, text: u8) -> Said {
        let Some(rule) = self.policy.text() else { return Said::NOTHING };
        let turn = self.turns;
        self.turns += 1;
        let goes_on = rule.texts == Texts::Any || self.latest == Some(text);
        self.row = if goes_on { self.row + 1 } else { 1 };
        self.latest = Some(text);
        if self.row < usize::from(rule.times) {
            return Said::NOTHING;
        }
        let said = if rule.texts == Texts::Any { vec![] } else { vec![text] };
        let found = Found {
            rule: None,
            kind: Kind::Text,
            period: 1,
            laps: self.row,
            first: turn + 1 - self.row as u64,
            last: turn,
            calls: Vec::new(),
            tool: 0,
            tag: Tag::Other,
            confidence: confidence(
                if rule.texts == Texts::Any { Args::Any } else { Args::Same },
                Results::Ignored,
                0,
                self.row - usize::from(rule.times),
            ),
            identity: (format!("text {:?}", rule.texts), vec![(said, vec![])]),
        };
        let ladder = rule.ladder;
        let said = self.climb(&ladder, Action::Stop, found, None, self.next);
        if said.action >= Action::StartOver {
            self.clear();
        }
        said
    }
}

/// How sure a finding is: what the rule compares, less what came between, and half the doubt for
/// each repetition beyond those asked for.
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

fn is_early(rule: &Rule<'_>) -> bool {
    rule.results == Results::Ignored
        && rule.outcomes == Outcomes::Any
        && rule.select != Select::Unreported
}

fn same_call(a: &Record, b: &Record) -> bool {
    a.asked.tool == b.asked.tool && a.asked.args == b.asked.args
}

fn same_answer(a: Answer, b: Answer, results: Results) -> bool {
    let (x, y) = match results {
        Results::Near => (a.near, b.near),
        Results::Same | Results::Ignored => (a.result, b.result),
    };
    a.failed == b.failed && x == y
}

/// What the loop of `round`'s last `period` records is known by. A vetoed record takes the
/// result of the nearest earlier lap in which it has one.
fn identity(rule: &Rule<'_>, round: &[Record], period: usize) -> Identity {
    let key = |back: usize| {
        let asked = round[round.len() - 1 - back].asked;
        let args = match rule.args {
            Args::Same => vec![asked.tool, asked.args],
            Args::Similar => vec![asked.tool, asked.similar],
            Args::SameTool => vec![asked.tool],
            Args::Any => vec![],
        };
        let laps = (back..round.len()).step_by(period).map(|n| &round[round.len() - 1 - n]);
        let answered = laps.take(64).find(|record| record.status != Status::Vetoed);
        let result = match (answered.map(|record| record.status), rule.results) {
            (Some(Status::Reported(answer)), Results::Near) => {
                vec![answer.near, u8::from(answer.failed)]
            }
            (Some(Status::Reported(answer)), Results::Same) => {
                vec![answer.result, u8::from(answer.failed)]
            }
            _ => vec![],
        };
        (args, result)
    };
    let keys: Vec<_> = (0..period).rev().map(key).collect();
    let rotations = (0..period).map(|n| [&keys[n..], &keys[..n]].concat());
    let looks_at = format!("{:?} {:?} {:?}", rule.select, rule.args, rule.results);
    (looks_at, rotations.min().unwrap_or_default())
}
