//! Recipes, which make digests from calls and results, and presets, which pair a recipe with a policy.
//!
//! A result is masked at once, although most results are never equal to another. A hook stores its state after each
//! event, and needs every digest; and rules such as `same-answer` compare a result with those of all calls of its tool, so
//! that hardly any digest could wait for a call with the same arguments.

use unstuck_core::{Call, Digest, Outcome, Policy, Tag, Tool, Turn, presets};
use unstuck_json::{Exact, Fingerprinter};

use crate::body::Body;
use crate::command::{Nature, with_command};
use crate::declaration::ToolDeclaration;
use crate::echo::echo;
use crate::envelope::{Envelope, Unescaped};
use crate::find;
use crate::likeness::{PRIMARY_KEYS, compared, file, notes};
use crate::lines::{self, Lines};
use crate::mask::{Counter, Masked, Masker, Masks, Trimmed, raw};
use crate::nothing::{finds_no_line, found_none};
use crate::pending::waits;
use crate::phrases::{Phrases, phrases};
use crate::report::{
    self, Report, asks_for_another, complaint_of, is_complaint, may_pass, opens, report_of,
};
use crate::signature::{is_generic, signature};
use crate::silence::says_nothing;
use crate::similar_calls::SimilarCalls;
use crate::tags::{nature, of_kind, plain_tag};
use crate::tokens::Tokens;
use crate::words::complaint::{ABSENT, EXISTING};

/// The rules by which calls and results become digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// When two calls are similar.
    pub likeness: Likeness,
    /// The part of a result that is compared.
    pub result: ResultPart,
    /// The volatile text that is masked in results.
    pub masks: Masks,
    /// The source of failures and scores.
    pub failures: Failures,
    /// When two answers are near each other.
    pub near: Near,
    /// Further volatile numbers, which only the host knows.
    pub counters: &'static [Counter<'static>],
    /// Declarations of single tools. Of several declarations for one tool, earlier ones win.
    pub tools: &'static [ToolDeclaration<'static>],
}

/// The source of failures and scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// Only failures that the host reports. Results are not inspected, and have no score.
    Told,
    /// Also failures that the text of a result shows. The score is the number of failing tests or of
    /// errors. Of tools that read, search or write, only the first line is inspected. See
    /// [`report`](crate::report()).
    Read,
}

impl Failures {
    /// All sources.
    pub const ALL: [Self; 2] = [Self::Told, Self::Read];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Read => "read",
        }
    }
}

/// When two answers are near each other, by the digest of [`Outcome::near`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Near {
    /// If they are equal except for their numbers.
    Numbers,
    /// If they belong to one class: failures with the same complaint, whatever names it contains;
    /// searches that found nothing; or reads with hardly a new line. Answers of no class are near only if
    /// they are equal.
    Class,
}

impl Near {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Numbers, Self::Class];

    /// Returns the name that configurations use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Class => "class",
        }
    }
}

/// When two calls are similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// If they are equal.
    Equal,
    /// If their [primary keys](crate::PRIMARY_KEYS) are equal, or if both read the same file.
    PrimaryKeys,
    /// If they call the same tool, and at least this percentage of the words in their arguments is
    /// equal. See [`SimilarCalls`].
    Words(u8),
}

/// The part of a result that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// The whole result.
    Whole,
    /// This many characters from the start.
    Head(usize),
}

/// The answer to a call, before it becomes an [`Outcome`].
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The text of the result, or the part of it that was kept.
    pub text: &'a str,
    /// A digest of the part that was not kept, or `None` if the text is complete. Equal digests mean that
    /// the missing parts are equal.
    pub cut: Option<&'a str>,
    /// Whether the host reports a failure.
    pub failed: bool,
    /// The kind of the [call](Call::kind).
    pub kind: Tag,
    /// The tool's declaration at run time. The recipe's own declaration wins over it.
    pub said: Option<ToolDeclaration<'a>>,
}

impl<'a> Answer<'a> {
    /// Creates the answer `text` to a call of `tool`.
    pub const fn new(tool: &'a str, text: &'a str, failed: bool) -> Self {
        Self { tool, text, cut: None, failed, kind: Tag::Other, said: None }
    }

    /// Returns whether the outcome may depend on earlier answers. The lines of an answer are compared with theirs if the
    /// call is a read or a search that succeeded, and the answer is not short.
    pub const fn compares_lines(&self) -> bool {
        !self.failed && self.text.len() >= TELLING_MIN && compares_lines(self.kind)
    }
}

/// Returns whether the lines of answers to calls of this kind are compared.
const fn compares_lines(kind: Tag) -> bool {
    matches!(kind, Tag::Read | Tag::Search)
}

/// A call whose text was read, before it is compared with earlier calls.
#[derive(Clone, Debug)]
pub struct ReadCall {
    call: Call,
    words: Option<CallWords>,
}

/// The words of a call, if calls are compared by them.
#[derive(Clone, Debug)]
struct CallWords {
    tool: Digest,
    tokens: Tokens,
    /// The digest of the arguments.
    digest: Digest,
    /// The share of equal words that makes two calls similar.
    percent: u8,
}

impl ReadCall {
    /// Returns the call, as if there were no earlier ones.
    pub const fn alone(&self) -> Call {
        self.call
    }

    /// Returns the call after comparing it with those in `groups`.
    pub(crate) fn among(&self, groups: &mut SimilarCalls) -> Call {
        let Some(CallWords { tool, tokens, digest, percent }) = &self.words else {
            return self.call;
        };
        self.call.similar(groups.join(*tool, tokens.clone(), *digest, *percent))
    }
}

/// An answer whose text was read, before its lines are compared with those of earlier answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAnswer {
    pub(crate) fresh: Outcome,
    /// The outcome if hardly a line is new.
    pub(crate) stale: Outcome,
}

/// The fingerprinter of arguments. Its seed is fixed, so loop ids are the same in every run.
static PRINT: Fingerprinter<Exact> = Fingerprinter::new(0);

/// Returns the digest of the raw `text`. O(n).
fn digest(text: &str) -> Digest {
    raw(text.as_bytes())
}

impl Recipe {
    /// Compares arguments by the meaning of their JSON, and whole results. Only equal calls are similar.
    pub const EXACT: Self = Self {
        likeness: Likeness::Equal,
        result: ResultPart::Whole,
        masks: Masks::NONE,
        failures: Failures::Told,
        near: Near::Numbers,
        counters: &[],
        tools: &[],
    };

    /// The recipe of the preset `BALANCED`. It masks volatile text in results and reads failures from
    /// them. Calls are similar if half of their words are equal.
    pub const BALANCED: Self = Self {
        likeness: Likeness::Words(50),
        masks: Masks::ALL,
        failures: Failures::Read,
        near: Near::Class,
        ..Self::EXACT
    };

    /// Makes a call of `tool` with `args`, a JSON text. Arguments that are not JSON are compared as raw
    /// text. The call is a step of its own unless [`Call::step`] is set. O(length of `args`).
    ///
    /// To find calls with similar words, use [`Recipe::call_among`], which remembers earlier calls.
    pub fn call(&self, tool: &str, args: &str) -> Call {
        self.made(self.own(tool), tool, args, |_, _| None)
    }

    /// Like [`Recipe::call`], but also compares the words of the call with those of earlier calls in
    /// `groups`. O(length of `args`).
    pub fn call_among(&self, groups: &mut SimilarCalls, tool: &str, args: &str) -> Call {
        self.grouped(groups, self.own(tool), tool, args)
    }

    /// Like [`Recipe::call_among`], for a tool that is declared at run time as `said`. The recipe's own
    /// declaration wins over it.
    pub fn call_among_as(
        &self,
        groups: &mut SimilarCalls,
        said: ToolDeclaration<'_>,
        tool: &str,
        args: &str,
    ) -> Call {
        self.grouped(groups, Some(self.completed(tool, said)), tool, args)
    }

    /// Like [`Recipe::call`], for a caller that compares the words of the call later, by [`Digester::join`].
    ///
    /// [`Digester::join`]: crate::Digester::join
    pub fn read_call(&self, tool: &str, args: &str) -> ReadCall {
        let mut words = None;
        let call = self.made(self.own(tool), tool, args, |tag, digest| {
            if let Likeness::Words(percent) = self.likeness {
                let (tokens, percent) = compared(tag, args, percent);
                words =
                    Some(CallWords { tool: Digest::of(tool.as_bytes()), tokens, digest, percent });
            }
            None
        });
        ReadCall { call, words }
    }

    fn grouped(
        &self,
        groups: &mut SimilarCalls,
        own: Option<ToolDeclaration<'_>>,
        tool: &str,
        args: &str,
    ) -> Call {
        self.made(own, tool, args, |tag, call| match self.likeness {
            Likeness::Words(percent) => {
                let (tokens, percent) = compared(tag, args, percent);
                Some(groups.join(Digest::of(tool.as_bytes()), tokens, call, percent))
            }
            Likeness::Equal | Likeness::PrimaryKeys => None,
        })
    }

    /// Makes a call. `group` returns the digest of its group, given the kind and the digest of the call, if it belongs to
    /// one.
    fn made(
        &self,
        own: Option<ToolDeclaration<'_>>,
        tool: &str,
        args: &str,
        group: impl FnOnce(Tag, Digest) -> Option<Digest>,
    ) -> Call {
        let Nature { tag, idempotent, edits } = self.nature(own, tool, args);
        let call = |args| {
            let call = Call::new(Tool::named(tool), args).tag(tag);
            if idempotent { call.idempotent() } else { call }
        };
        let key = own.and_then(|own| own.key_names());
        let by_keys = self.likeness == Likeness::PrimaryKeys;
        let [notes, dropped] = notes(tag, edits);
        let names: &[&str] = match self.likeness {
            Likeness::PrimaryKeys => &PRIMARY_KEYS,
            Likeness::Words(_) => notes,
            Likeness::Equal if self.failures == Failures::Read => dropped,
            Likeness::Equal => &[],
        };
        let raw = || digest(args).mix(Digest::of(b"not JSON"));
        let (canonical, primary, others) = PRINT
            .shape(args.as_bytes(), key.unwrap_or(names))
            .map_or_else(|_| (raw(), None, None), |it| (it.whole, it.primary, it.others));
        if key.is_some() {
            return call(primary.unwrap_or(canonical));
        }
        // Few calls have any note.
        let shortened = || PRINT.shape(args.as_bytes(), dropped).ok().and_then(|it| it.others);
        let without = match self.likeness {
            Likeness::PrimaryKeys => None,
            Likeness::Words(_) => others.and_then(|_| shortened()),
            Likeness::Equal => others,
        };
        let canonical = without.unwrap_or(canonical);
        let keys = || if by_keys { file(tag, args).or(primary) } else { None };
        // Two edits that are alike are two pieces of work.
        let lasting = others.unwrap_or(canonical);
        // Two files are two items, however alike their names are.
        let is_file = || tag == Tag::Read && with_command(args, |_| Some(())).is_none();
        let is_apart = edits || is_file();
        let alike = if is_apart { Some(lasting).filter(|_| !by_keys) } else { group(tag, lasting) };
        call(canonical).similar(alike.or_else(keys).unwrap_or(canonical))
    }

    /// Makes the outcome of a call of `tool` that returned `result`. O(length of `result`).
    pub fn outcome(&self, tool: &str, result: &str, failed: bool) -> Outcome {
        self.outcome_of(&Answer::new(tool, result, failed))
    }

    /// Makes the outcome of `answer`. O(length of the answer).
    ///
    /// To find reads that show hardly a new line, use [`Recipe::outcome_among`], which remembers the lines
    /// of earlier answers.
    pub fn outcome_of(&self, answer: &Answer<'_>) -> Outcome {
        self.read(answer, |_| false)
    }

    /// Like [`Recipe::outcome_of`], but also compares the lines of a read with the lines of earlier answers.
    /// O(length of the answer).
    pub fn outcome_among<const WORDS: usize>(
        &self,
        lines: &mut Lines<WORDS>,
        answer: &Answer<'_>,
    ) -> Outcome {
        self.read(answer, |shown| lines.show_all(shown))
    }

    /// Like [`Recipe::outcome_of`], for a caller that compares the lines of a read later, by
    /// [`Digester::compare`]. Passes their hashes to `line`.
    ///
    /// [`Digester::compare`]: crate::Digester::compare
    pub fn read_answer(&self, answer: &Answer<'_>, mut line: impl FnMut(u64)) -> ReadAnswer {
        let mut may_be_stale = false;
        let fresh = self.read(answer, |shown| {
            may_be_stale = true;
            shown(&mut line);
            false
        });
        ReadAnswer { fresh, stale: if may_be_stale { fresh.near(nothing_new()) } else { fresh } }
    }

    /// Makes the outcome of `answer`. `is_stale` returns whether a read shows hardly a new line, given a function that
    /// passes on the hash of each of its lines.
    fn read(
        &self,
        answer: &Answer<'_>,
        is_stale: impl FnOnce(&mut dyn FnMut(&mut dyn FnMut(u64))) -> bool,
    ) -> Outcome {
        let &Answer { tool, text: whole, cut, said, .. } = answer;
        let own = said.map_or_else(|| self.own(tool), |said| Some(self.completed(tool, said)));
        let mut memory = Unescaped::default();
        let opened = self.opened(whole, &mut memory);
        // The lines that a host adds to each answer are not part of the result.
        let trimmed = self.masker(own).trimmed(opened.body);
        let body = Body::of(trimmed.text);
        let reading = self.reading(own, answer, &opened, &body);
        let signature = reading.complaint.map(signature);
        let mut digests = None;
        let mut shown = |each: &mut dyn FnMut(u64)| {
            digests = Some(self.masked(own, &opened, trimmed, cut, Some(each)));
        };
        // An answer of no class is near only equal answers.
        let class = match self.near {
            Near::Numbers => None,
            Near::Class => {
                reading.class(signature.and_then(|it| it.class), || is_stale(&mut shown))
            }
        };
        let (masked, document) =
            digests.unwrap_or_else(|| self.masked(own, &opened, trimmed, cut, None));
        let near = if self.near == Near::Numbers { Some(masked.near) } else { class };
        // What a host writes around an answer differs each time: an id, a clock, a budget. The clock of an entry is part
        // of the entry. JSON is compared by its meaning.
        let raw = || {
            let text = if opened.is_entry { whole } else { opened.body };
            let raw = document.unwrap_or_else(|| digest(text));
            let raw = facts(&opened).map_or(raw, |facts| raw.mix(facts));
            raw.mix(cut.map_or(Digest::new(0), digest))
        };
        let result = match reading.job {
            Some(Job::Named | Job::Started) => Digest::of(b"a job"),
            // With fewer steps left, another failure proves less than one that is equal.
            _ if reading.failed && opened.counts_down => masked.result.mix(digest(whole)),
            _ => masked.result,
        };
        let outcome = if reading.failed { Outcome::failed(result) } else { Outcome::ok(result) };
        let outcome = outcome.raw(signature.map_or_else(raw, |it| it.cause));
        let outcome = near.map_or(outcome, |near| outcome.near(near));
        let score = reading.report.score();
        let outcome = score.map_or(outcome, |score| outcome.score(score));
        let outcome = if reading.is_transient { outcome.transient() } else { outcome };
        let outcome = self.weighed(outcome, &reading, near, trimmed.is_volatile);
        match reading.job {
            Some(Job::Started) => return outcome.started(),
            // An empty list says much where something was searched.
            _ if cut.is_some() || reading.finds_nothing(near) => {}
            _ if self.is_silent(&body, reading.failed) => return outcome.silent(),
            _ => {}
        }
        outcome
    }

    /// Reads the `body` of `answer`, which was `opened`.
    fn reading<'b>(
        &self,
        own: Option<ToolDeclaration<'_>>,
        answer: &Answer<'_>,
        opened: &Envelope<'_>,
        body: &'b Body<'b>,
    ) -> Reading<'b> {
        let &Answer { tool, cut, kind, failed, .. } = answer;
        let is_told = failed || opened.has_failed();
        let report = self.report(own, (tool, kind), body, opened, is_told);
        let reads = self.failures == Failures::Read;
        // `grep` and `rg` say by their status that nothing was found.
        let is_search = kind == Tag::Search && reads && cut.is_none();
        let is_empty_search = is_search && finds_no_line(body, opened.exit);
        let failed = (is_told || report.failed == Some(true)) && !is_empty_search;
        let is_pending = !failed && reads && (opened.is_running || waits(body));
        let job = match is_pending && is_one_line(body) && JOBS.are_in(body.text) {
            // Whoever starts a job again does not wait for it.
            true if kind != Tag::Poll => Some(Job::Started),
            true => Some(Job::Named),
            false => is_pending.then_some(Job::Pending),
        };
        let is_read = failed && self.near == Near::Class;
        let complaint = if is_read { complaint_of(body) } else { None };
        let is_transient = report.timed_out || is_read && may_pass(complaint.unwrap_or(body.first));
        // Of a command, something else may be missing than what was looked up.
        let is_one_of_many = complaint.is_some_and(|complaint| {
            let is_absent = matches!(kind, Tag::Read | Tag::Search) && ABSENT.are_in(complaint);
            let exists = kind == Tag::Write && EXISTING.are_in(complaint);
            (is_absent || exists) && self.nature(own, tool, "").tag != Tag::Shell
        });
        // A program complains beside its work.
        let did_its_work = !is_told && shows_output(body, complaint);
        Reading {
            kind,
            body,
            report,
            failed,
            job,
            complaint,
            is_transient,
            is_empty_search,
            is_one_of_many,
            did_its_work,
        }
    }

    /// Returns `outcome` with its weight as evidence: little, or much. `near` is its class.
    fn weighed(
        &self,
        outcome: Outcome,
        reading: &Reading<'_>,
        near: Option<Digest>,
        is_volatile: bool,
    ) -> Outcome {
        let &Reading { kind, body, failed, is_one_of_many, did_its_work, job, .. } = reading;
        let answers = matches!(kind, Tag::Other | Tag::Shell | Tag::Read | Tag::Search);
        let is_count = !failed && self.near == Near::Class && is_number(body.text);
        let outcome = if is_one_of_many || did_its_work || is_count {
            outcome.weak()
        } else if answers
            && !is_volatile
            && near != Some(nothing_found())
            && body.text.len() >= TELLING_MIN
        {
            outcome.telling()
        } else {
            outcome
        };
        if matches!(job, Some(Job::Named | Job::Pending)) { outcome.pending() } else { outcome }
    }

    /// Reads from the `body` of an answer whether the call of `tool` failed. `failed` is the host's report.
    fn report(
        &self,
        own: Option<ToolDeclaration<'_>>,
        (tool, kind): (&str, Tag),
        body: &Body<'_>,
        opened: &Envelope<'_>,
        failed: bool,
    ) -> Report {
        let &Envelope { exit, is_entry, .. } = opened;
        let opens = || Report {
            failed: (exit.is_none() && opens(body)).then_some(true),
            ..Report::default()
        };
        if self.failures == Failures::Told {
            return Report::default();
        }
        if failed {
            return report_of(body, exit);
        }
        if is_entry {
            return report::told(exit);
        }
        let by_name = match kind {
            // A tool that reads or writes by its name makes no such calls.
            Tag::Shell | Tag::Test | Tag::Act => kind,
            _ => self.nature(own, tool, "").tag,
        };
        match by_name {
            // A file may quote failures, but no file is a single complaint.
            Tag::Read if is_one_line(body) => opens(),
            Tag::Read | Tag::Think => Report::default(),
            // Below its first line, a search quotes what it found, and a write what it wrote.
            Tag::Search | Tag::Write => opens(),
            _ => report_of(body, exit),
        }
    }

    /// Returns whether `body` carries no information, or is a failure that names no cause.
    fn is_silent(&self, body: &Body<'_>, failed: bool) -> bool {
        let is_bare = || is_one_line(body) && is_generic(body.text);
        says_nothing(body) || self.near == Near::Class && failed && is_bare()
    }

    /// Returns the digests of a masked result. O(length of `result`).
    pub fn result(&self, tool: &str, result: &str, cut: Option<&str>) -> Masked {
        let mut memory = Unescaped::default();
        let (own, opened) = (self.own(tool), self.opened(result, &mut memory));
        self.masked(own, &opened, self.masker(own).trimmed(opened.body), cut, None).0
    }

    /// Takes the host's wrappers off `result`. A recipe that does not inspect results takes them as they are.
    fn opened<'t>(&self, result: &'t str, memory: &'t mut Unescaped) -> Envelope<'t> {
        match self.failures {
            Failures::Read => Envelope::open(result, memory),
            Failures::Told => Envelope::bare(result),
        }
    }

    fn masker(&self, own: Option<ToolDeclaration<'_>>) -> Masker<'static> {
        own.and_then(|own| own.masks).unwrap_or(self.masks).and(self.counters)
    }

    /// Returns the digests of a masked result, and the digest of what was not masked if it is JSON. Passes on the hash of
    /// each line to `each`.
    fn masked(
        &self,
        own: Option<ToolDeclaration<'_>>,
        opened: &Envelope<'_>,
        trimmed: Trimmed<'_>,
        cut: Option<&str>,
        each: Option<&mut dyn FnMut(u64)>,
    ) -> (Masked, Option<Digest>) {
        let masker = self.masker(own);
        let lines = each.map(|each| lines::digests(trimmed.text, masker, each));
        let is_whole = self.failures == Failures::Read && self.result == ResultPart::Whole;
        let lines = lines.filter(|_| is_whole && trimmed.text.len() == opened.body.len());
        let json = || if is_whole { lines::document(opened.body, masker) } else { None };
        // A time or a hash that is the answer is no answer beside words.
        let body = if trimmed.is_volatile { trimmed.text } else { opened.body };
        let text = || match self.result {
            ResultPart::Head(characters) => masker.digest(head(body, characters).as_bytes()),
            ResultPart::Whole => masker.digest(body.as_bytes()),
        };
        let (Masked { mut result, mut near }, document) =
            lines.or_else(json).unwrap_or_else(|| (text(), None));
        if let (ResultPart::Whole, Some(cut)) = (self.result, cut) {
            (result, near) = (result.mix(digest(cut)), near.mix(digest(cut)));
        }
        if let Some(facts) = facts(opened) {
            result = result.mix(facts);
        }
        (Masked { result, near }, document)
    }

    /// Returns the declaration of `tool`. Later declarations complete earlier ones.
    fn own(&self, tool: &str) -> Option<ToolDeclaration<'static>> {
        // Names are only hashed where something is declared at all.
        if self.tools.is_empty() { None } else { self.declared(Tool::named(tool)) }
    }

    /// Returns the recipe's declaration of `tool`. O(declarations).
    pub fn declared(&self, tool: Tool) -> Option<ToolDeclaration<'static>> {
        let own = self.tools.iter().filter(|own| own.tool == tool).copied();
        own.reduce(ToolDeclaration::or)
    }

    /// Returns the declaration of `tool`, completed by its declaration at run time.
    fn completed<'t>(&self, tool: &str, said: ToolDeclaration<'t>) -> ToolDeclaration<'t> {
        self.own(tool).map_or(said, |own| own.or(said))
    }

    /// Returns what a call of `tool` with `args` does. A recipe that does not inspect results does not
    /// inspect commands, either.
    fn nature(&self, own: Option<ToolDeclaration<'_>>, tool: &str, args: &str) -> Nature {
        let Some(own) = own.filter(ToolDeclaration::has_nature) else {
            return match self.failures {
                Failures::Read => nature(tool, args),
                Failures::Told => Nature::acting(plain_tag(tool, args)),
            };
        };
        // Without arguments, a name stands for its kind alone.
        let nature = of_kind(own.kind(nature(tool, "").tag), args);
        Nature { idempotent: own.is_idempotent().unwrap_or(nature.idempotent), ..nature }
    }

    /// Returns the digest of a user message. O(length of `text`).
    pub fn message(&self, text: &str) -> Digest {
        digest(text.trim())
    }

    /// Makes a text-only turn, including repetitions inside of `text`. O(length of `text`).
    pub fn turn(&self, text: &str) -> Turn {
        let turn = Turn::new(self.message(text));
        if text.trim().is_empty() { turn.silent() } else { turn.repeated(echo(text)) }
    }
}

/// Returns the digest of what the wrappers of an answer say, or `None` if they say what an answer without wrappers does.
fn facts(opened: &Envelope<'_>) -> Option<Digest> {
    let code = opened.exit.filter(|code| *code != 0);
    let facts = u64::from(opened.is_running) << 32 | u64::from(code.unwrap_or(0).cast_unsigned());
    (facts != 0).then(|| Digest::new(facts))
}

/// Returns the class of reads with hardly a new line.
fn nothing_new() -> Digest {
    Digest::of(b"nothing new")
}

/// Returns the class of searches that found nothing.
fn nothing_found() -> Digest {
    Digest::of(b"nothing found")
}

/// The shortest answer that tells something, in bytes. A shorter one may be a confirmation: 40 accuse one of the 70
/// healthy labelled runs, and 50 depend on the name of a folder in a run that is stuck.
const TELLING_MIN: usize = 45;

/// Phrases in front of the id of a job that was started.
static JOBS: Phrases = phrases!["(session " "session id " "background with id"];

/// The longest text that counts as one line, in bytes.
const LINE_MAX: usize = 240;

/// The facts that were read from an answer.
#[expect(clippy::struct_excessive_bools, reason = "one for each thing that an answer says")]
struct Reading<'b> {
    kind: Tag,
    body: &'b Body<'b>,
    report: Report,
    failed: bool,
    job: Option<Job>,
    complaint: Option<&'b str>,
    /// Whether the failure may pass by itself.
    is_transient: bool,
    /// Whether a search says by its status that it found nothing.
    is_empty_search: bool,
    /// Whether one of many things was looked up, and is not there, or is there already.
    is_one_of_many: bool,
    /// Whether a program that complains did its work.
    did_its_work: bool,
}

/// A job that an answer is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Job {
    /// It goes on.
    Pending,
    /// It goes on, and has a name, which is another one after each start.
    Named,
    /// It was started, and has a name.
    Started,
}

impl Reading<'_> {
    /// Returns the class of the answer, or `None` if only equal answers are near. A failure has the class `complaint`,
    /// and `is_stale` returns whether a read shows hardly a new line.
    fn class(&self, complaint: Option<Digest>, is_stale: impl FnOnce() -> bool) -> Option<Digest> {
        match self.failed {
            // The score of a suite says how it fails.
            true if self.report.score().is_some() => None,
            true if self.did_its_work => None,
            // Each wish of the user is another reason.
            true if asks_for_another(self.body) => None,
            true => complaint,
            false if self.is_empty_search || found_none(self.body) => Some(nothing_found()),
            false if self.body.text.len() < TELLING_MIN => None,
            false => (compares_lines(self.kind) && is_stale()).then(nothing_new),
        }
    }

    /// Returns whether something was searched, and nothing found. `near` is the class of the answer.
    fn finds_nothing(&self, near: Option<Digest>) -> bool {
        self.kind == Tag::Search && near == Some(nothing_found())
    }
}

/// The shortest output beside a complaint that shows that a program did its work, in bytes.
const OUTPUT_MIN: usize = 150;

/// Returns whether `body` holds output beside its `complaint`, and the traceback that may lead to it.
fn shows_output(body: &Body<'_>, complaint: Option<&str>) -> bool {
    let Some((before, behind)) = complaint.and_then(|it| find::split_once(body.text, it)) else {
        return false;
    };
    let before = find::rsplit_once(before, "Traceback (").map_or(before, |(before, _)| before);
    let lines = find::lines(before).chain(find::lines(behind)).map(|line| body.clocks.off(line));
    let mut output = lines.filter(|line| !is_complaint(line)).map(str::len);
    output.try_fold(0, |sum, length| Some(sum + length).filter(|sum| *sum < OUTPUT_MIN)).is_none()
}

/// Returns whether `text` is a bare number, such as a count.
fn is_number(text: &str) -> bool {
    const LENGTH_MAX: usize = 12;
    let text = text.trim_ascii();
    (1..=LENGTH_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether `body` is one short line.
const fn is_one_line(body: &Body<'_>) -> bool {
    body.is_single() && body.text.len() <= LINE_MAX
}

/// Returns the first `characters` characters of `text`.
fn head(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// A policy, and the recipe that makes its digests.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The rules.
    pub policy: &'static Policy<'static>,
    /// The recipe for the digests that the rules compare.
    pub recipe: Recipe,
}

impl Preset {
    /// The default preset.
    pub const BALANCED: Self = Self { policy: &presets::BALANCED, recipe: Recipe::BALANCED };

    /// Returns the preset with this [name](Policy::name), or `None` if there is none.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.policy.name() == name)
    }
}

const fn exact(policy: &'static Policy<'static>) -> Preset {
    Preset { policy, recipe: Recipe::EXACT }
}

/// All presets, the default first.
pub static PRESETS: [Preset; 8] = [
    Preset::BALANCED,
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
    use unstuck_core::{Tag, Tool, presets};

    use super::{Answer, PRESETS, Preset, Recipe, ToolDeclaration, head};
    use crate::lines::Lines;
    use crate::mask::Masks;
    use crate::tables::check_pairs;

    #[test]
    fn every_policy_has_a_recipe() {
        let recipes = PRESETS.iter().map(|preset| preset.policy.name());
        assert!(recipes.eq(presets::ALL.iter().map(|policy| policy.name())));
        assert!(Preset::named("none such").is_none());
    }

    #[test]
    fn a_head_ends_between_characters() {
        check_pairs("the head of a text", |text, length| {
            head(text, length.parse().expect("a number")).to_owned()
        });
    }

    #[test]
    fn what_a_host_writes_around_an_answer_does_not_make_it_another() {
        let of = |answer: &str| Recipe::BALANCED.outcome("exec_command", answer, false);
        check_pairs("what a host writes around an answer", |one, other| of(one) == of(other));
    }

    #[test]
    fn only_an_answer_that_compares_lines_depends_on_earlier_ones() {
        let page = "a long enough line of a file\nand one more of the same file";
        let short = "a line of the file";
        for (kind, text, failed, expected) in [
            (Tag::Read, page, false, true),
            (Tag::Search, page, false, true),
            (Tag::Read, short, false, false),
            (Tag::Read, page, true, false),
            (Tag::Search, "", true, false),
            (Tag::Shell, page, false, false),
        ] {
            let answer = Answer { kind, ..Answer::new("t", text, failed) };
            let mut lines: Lines = Lines::new();
            lines.show(text);
            let (alone, again) = (
                Recipe::BALANCED.outcome_of(&answer),
                Recipe::BALANCED.outcome_among(&mut lines, &answer),
            );
            assert_eq!(answer.compares_lines(), expected, "{answer:?}");
            assert_eq!(alone != again, expected, "{answer:?}");
        }
    }

    #[test]
    fn a_description_is_no_part_of_a_call_where_answers_are_read() {
        let read = Recipe { failures: super::Failures::Read, ..Recipe::EXACT };
        let calls = |recipe: Recipe| {
            ["List", "Show"].map(|why| {
                let args = format!("{{\"command\":\"ls\",\"description\":{why:?}}}");
                recipe.call("bash", &args).digest()
            })
        };
        for (recipe, is_same) in [(Recipe::BALANCED, true), (read, true), (Recipe::EXACT, false)] {
            let [one, other] = calls(recipe);
            assert_eq!(one == other, is_same, "{recipe:?}");
        }
    }

    #[test]
    fn a_tool_may_be_of_another_kind_and_have_masks_of_its_own() {
        let own = |name, tag, masks| ToolDeclaration {
            tag,
            masks,
            ..ToolDeclaration::new(Tool::named(name))
        };
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
    fn only_a_recipe_with_classes_weighs_answers() {
        let is_plain = |recipe: Recipe| {
            recipe.outcome("t", "12", false) != recipe.outcome("t", "12", false).weak()
        };
        assert_eq!([Recipe::EXACT, Recipe::BALANCED].map(is_plain), [true, false]);
    }

    #[test]
    fn what_was_cut_off_tells_results_apart() {
        let outcome =
            |text, cut| Recipe::EXACT.outcome_of(&Answer { cut, ..Answer::new("t", text, false) });
        assert_ne!(outcome("head", None), outcome("head", Some("1")));
        assert_ne!(outcome("head", Some("2")), outcome("head", Some("1")));
        assert_ne!(outcome("", Some("1")), outcome("", None));
    }
}
