//! The link between a client and a server: passes their messages on, and asks the guard about the calls.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{process, thread};

use serde_json::value::RawValue;
use unstuck::{Action, Decision, Guard, Ticket};
use unstuck_report::redact::masked;

use super::answer::{CallResult, Results, refusal, spliced};
use super::message::{Call, Cancelled, Greeting, Id, Line, Message};
use super::tools::Listing;
use crate::agents::Ends;
use crate::agents::notify::Notify;
use crate::agents::state::Told;
use crate::agents::state::{Entry, FindingRecord, Said};
use crate::output::remark;
use crate::time::now;

/// The largest number of calls that wait for an answer. A client that waits for more has lost some; the
/// oldest call is given up.
const WAITING_MAX: usize = 256;

/// The longest pause within a run. After a longer one the user was at work, and earlier calls say nothing
/// about later ones. Models and their tools take minutes at most.
const PAUSE: Duration = Duration::from_secs(10 * 60);

/// The name of this program in its messages on standard error.
pub(crate) const NAME: &str = "unstuck mcp";

/// The way of a line of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// The line goes to the server unchanged.
    AsIs,
    /// The line has refused calls.
    Refused {
        /// The bytes for the server: a batch without those calls, or no bytes.
        server: Vec<u8>,
        /// The bytes for the client: the answers to those calls, a line each.
        client: Vec<u8>,
    },
}

/// The guard of a connection, and the calls that wait for their answers.
pub(crate) struct Link {
    guard: Guard,
    waiting: Vec<Waiting>,
    /// The lists of tools, from which the guard learns.
    listing: Listing,
    /// The time of the latest call or answer.
    latest: Option<Instant>,
    /// The client's `initialize`, until the server answers it.
    greeting: Option<Id>,
    /// The form of results in this version of the protocol. Without an `initialize` it is the latest.
    results: Results,
    /// Whether nothing is ever said, so that the lists of tools stay as they are.
    pub(crate) says_nothing: bool,
    /// The number of calls.
    calls: u64,
    /// The places at which a person is told of findings.
    pub(crate) notify: Notify,
    /// The loops of which a person was told.
    told: Told,
    /// The threads that start the processes that tell it. They wait for nothing.
    starting: Vec<JoinHandle<()>>,
}

/// A call that was passed to the server.
struct Waiting {
    id: Id,
    ticket: Ticket,
    /// Whether a structured answer has room for a note.
    has_room: bool,
    /// The note to add to the answer.
    note: Option<Note>,
}

/// A note for the model.
struct Note {
    action: Action,
    text: String,
}

impl Link {
    /// The link of a new connection, which speaks and tells no person.
    pub(crate) fn new(guard: Guard) -> Self {
        Self {
            guard,
            waiting: Vec::new(),
            listing: Listing::default(),
            latest: None,
            greeting: None,
            results: Results::Typed,
            says_nothing: false,
            calls: 0,
            notify: Notify::default(),
            told: Told::default(),
            starting: Vec::new(),
        }
    }

    /// Takes a line of the client.
    pub(crate) fn pass_to_server(&mut self, line: &[u8]) -> Passage {
        match Line::read(line) {
            None => Passage::AsIs,
            Some(Line::One(message)) => self
                .asked(&message)
                .map_or(Passage::AsIs, |client| Passage::Refused { server: Vec::new(), client }),
            Some(Line::Batch(messages)) => self.batch(&messages),
        }
    }

    /// Takes a line of the server. Returns the line that replaces it for the client, if one does.
    pub(crate) fn pass_to_client(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if !self.listens() {
            return None;
        }
        let messages = match Line::read(line)? {
            Line::One(message) => vec![message],
            Line::Batch(messages) => messages.into_iter().filter_map(read).collect(),
        };
        let answered = |message| self.answered(line, message);
        let insertions: Vec<_> = messages.iter().flat_map(answered).collect();
        (!insertions.is_empty()).then(|| spliced(line, insertions))
    }

    /// Returns whether the server's lines have to be read: an answer is awaited, or the list from which the
    /// guard learned may change.
    fn listens(&self) -> bool {
        let awaits = !self.waiting.is_empty() || self.greeting.is_some() || self.listing.awaits();
        awaits || self.guard.declared() > 0
    }

    /// Takes a batch, whose calls are issued together. Refused calls are removed from it.
    fn batch(&mut self, messages: &[&RawValue]) -> Passage {
        let (mut kept, mut client) = (Vec::new(), Vec::new());
        for &member in messages {
            match read(member).and_then(|message| self.asked(&message)) {
                None => kept.push(member.get()),
                Some(answer) => client.extend(answer),
            }
        }
        if client.is_empty() {
            return Passage::AsIs;
        }
        let server =
            if kept.is_empty() { String::new() } else { format!("[{}]\n", kept.join(",")) };
        Passage::Refused { server: server.into_bytes(), client }
    }

    /// Takes a message of the client. Returns the answer if it is a refused call.
    fn asked(&mut self, message: &Message<'_>) -> Option<Vec<u8>> {
        match message.method.as_deref()? {
            "tools/call" => return self.called(message),
            "tools/list" => self.listing.asked(message),
            "notifications/cancelled" => self.cancelled(message),
            // The client begins anew on the same pipes.
            "initialize" => {
                self.guard.clear();
                self.guard.forget_declared();
                self.waiting.clear();
                self.listing.clear();
                self.greeting = message.id.and_then(Id::of);
                self.agreed(message.params);
            }
            _ => {}
        }
        None
    }

    /// Takes the version of the protocol that one end names. The other end may name an earlier one.
    fn agreed(&mut self, greeting: Option<&RawValue>) {
        let greeting =
            greeting.and_then(|raw| serde_json::from_str::<Greeting<'_>>(raw.get()).ok());
        self.results = greeting.map_or(Results::Untyped, |it| Results::of(&it.version));
    }

    fn called(&mut self, message: &Message<'_>) -> Option<Vec<u8>> {
        let raw = message.id?;
        let id = Id::of(raw)?;
        let call: Call<'_> = serde_json::from_str(message.params?.get()).ok()?;
        self.give_up(&id);
        self.called_at(Instant::now());
        self.calls += 1;
        let decision = self.guard.before(&call.name, call.arguments());
        self.report(&decision, Said::before);
        if decision.is_blocked() {
            return Some(refusal(raw, &refused(&decision), self.results));
        }
        let ticket = decision.ticket()?;
        let (has_room, note) = (self.listing.has_room(&call.name), Note::of(&decision));
        self.waiting.push(Waiting { id, ticket, has_room, note });
        None
    }

    /// Records that a call came at `now`. After a pause it is the first of a new run.
    fn called_at(&mut self, now: Instant) {
        let latest = self.latest.replace(now).unwrap_or(now);
        if self.waiting.is_empty() && now.saturating_duration_since(latest) > PAUSE {
            self.guard.clear();
        }
    }

    /// Makes room for a call with this id: an older call with the same id will get no answer.
    fn give_up(&mut self, id: &Id) {
        self.greeting.take_if(|greeting| greeting == id);
        self.listing.give_up(id);
        let same = self.waiting.iter().position(|call| call.id == *id);
        let oldest = (self.waiting.len() >= WAITING_MAX).then_some(0);
        if let Some(index) = same.or(oldest) {
            let call = self.waiting.remove(index);
            self.broken_off(&call);
        }
    }

    fn cancelled(&mut self, message: &Message<'_>) {
        let params = message.params.map(RawValue::get).unwrap_or_default();
        let request = serde_json::from_str::<Cancelled<'_>>(params).ok().and_then(|it| it.request);
        if let Some(call) = request.and_then(|id| self.taken(id)) {
            self.broken_off(&call);
        }
    }

    /// Takes back a call that will get no result. Notes about calls that settle with it come too late: the
    /// model has their answers.
    fn broken_off(&mut self, call: &Waiting) {
        let decision = self.guard.cancelled(call.ticket);
        self.report(&decision, Said::after);
    }

    /// Removes and returns the call that waits for an answer with this id.
    fn taken(&mut self, id: &RawValue) -> Option<Waiting> {
        let id = Id::of(id)?;
        let index = self.waiting.iter().position(|call| call.id == id)?;
        Some(self.waiting.remove(index))
    }

    /// Takes a message of the server. Returns the texts to insert into `line` and their positions.
    fn answered(&mut self, line: &[u8], message: &Message<'_>) -> Vec<(usize, String)> {
        if let Some(method) = message.method.as_deref() {
            // A request of the server has an id of its own. Its list of tools is out of date from here on.
            // Until the client asks again, the guard goes by the names of the tools.
            if method == "notifications/tools/list_changed" {
                self.guard.forget_declared();
            }
            return Vec::new();
        }
        if self.greeting.is_some() && self.greeting == message.id.and_then(Id::of) {
            self.greeting = None;
            self.agreed(message.result);
            return Vec::new();
        }
        if let Some(insertions) = self.listing.answered(line, message, &mut self.guard) {
            return if self.says_nothing { Vec::new() } else { insertions };
        }
        self.ended(line, message).unwrap_or_default()
    }

    /// Takes the answer to a call. Returns the insertions with which the model reads a note.
    fn ended(&mut self, line: &[u8], message: &Message<'_>) -> Option<Vec<(usize, String)>> {
        let call = self.taken(message.id?)?;
        self.latest = Some(Instant::now());
        let Some(answer) = CallResult::of(message) else {
            self.broken_off(&call);
            return None;
        };
        let decision = self.guard.after(call.ticket, &*answer.text, answer.failed);
        self.report(&decision, Said::after);
        let note = Note::stronger(call.note, Note::of(&decision))?;
        Some(answer.room(line, &note.text, call.has_room))
    }

    /// Logs a new finding or a blocked call, and tells a person of it. The proxy refuses calls, and ends no run.
    fn report(&mut self, decision: &Decision, said: fn(Action, Ends) -> Said) {
        let said = said(decision.judged(), Ends::Nothing);
        let Some(finding) = FindingRecord::news(decision, said, self.calls, now()) else { return };
        let FindingRecord { action, what, rule, loop_id: id, .. } = &finding;
        let would = if finding.observed { "would " } else { "" };
        remark(NAME, &format!("{would}{action}: {what}; loop {id}; rule {rule}"));
        self.tell(finding);
    }

    /// Tells a person of `finding`, in a process of its own.
    fn tell(&mut self, finding: FindingRecord) {
        if !self.notify.wants(&finding) || !self.told.add(finding.loop_id) {
            return;
        }
        let (notify, proxy) = (self.notify.clone(), process::id().to_string());
        let start = move || match notify.hand_over(&Entry::of_proxy(proxy, finding)) {
            Ok(mut child) => drop(thread::spawn(move || child.wait())),
            Err(error) => remark(NAME, &format!("a notification cannot be sent: {error}")),
        };
        self.starting.retain(|thread| !thread.is_finished());
        self.starting.push(thread::spawn(start));
    }

    /// Waits until each process that tells a person was started and has its finding. It does not wait for its end.
    pub(crate) fn finish(&mut self) {
        for thread in self.starting.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl Note {
    fn of(decision: &Decision) -> Option<Self> {
        let text = masked(&decision.message()?.note()).into_owned() + plea(decision);
        Some(Self { action: decision.action(), text })
    }

    /// Returns the stronger note. If both are equally strong, it returns the later: mostly both are about
    /// one loop.
    fn stronger(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        match (before, after) {
            (Some(before), Some(after)) if before.action > after.action => Some(before),
            (before, after) => after.or(before),
        }
    }
}

/// Returns the text of a refusal.
fn refused(decision: &Decision) -> String {
    masked(&decision.refusal()).into_owned() + plea(decision)
}

/// Returns the request to the model at the end of a run, because a proxy cannot end the run itself.
fn plea(decision: &Decision) -> &'static str {
    if decision.ends_the_run() {
        " Call no more tools: tell the user how far you came and what blocks you."
    } else {
        ""
    }
}

fn read(member: &RawValue) -> Option<Message<'_>> {
    serde_json::from_str(member.get()).ok()
}

#[cfg(test)]
mod tests {
    use unstuck::DECLARED_MAX;

    use super::*;

    fn call(id: &str) -> String {
        format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#)
    }

    #[test]
    fn calls_without_an_answer_are_given_up() {
        let mut proxy = Link::new(Guard::new());
        for id in 0..2 * WAITING_MAX {
            let line = call(&id.to_string());
            assert_eq!(proxy.pass_to_server(line.as_bytes()), Passage::AsIs);
            assert!(proxy.waiting.len() <= WAITING_MAX);
        }
        let ids = (WAITING_MAX..2 * WAITING_MAX).map(|id| Id::Number(id.to_string().into()));
        assert!(proxy.waiting.iter().map(|call| call.id.clone()).eq(ids));
    }

    #[test]
    fn a_conversation_leaves_the_calls_that_wait_and_the_tools_that_are_known() {
        let mut checks = 0;
        for conversation in include_str!("watch.txt").split("\n\n") {
            let mut proxy = Link::new(Guard::new());
            for line in conversation.lines().filter(|line| !line.starts_with('#')) {
                let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
                match what {
                    ">" => assert_eq!(proxy.pass_to_server(rest.as_bytes()), Passage::AsIs),
                    "<" => assert_eq!(proxy.pass_to_client(rest.as_bytes()), None, "{line}"),
                    "waiting" => {
                        let ids = rest.split_whitespace().map(|id| Id::Number(id.into()));
                        let waiting = proxy.waiting.iter().map(|call| call.id.clone());
                        assert!(waiting.eq(ids), "{conversation}");
                        checks += 1;
                    }
                    _ => {
                        let declared = format!("declared {}", proxy.guard.declared());
                        assert_eq!(declared, line, "{conversation}");
                        checks += 1;
                    }
                }
            }
        }
        assert_eq!(checks, 36);
    }

    const READS: &str = r#"{"name":"u","annotations":{"readOnlyHint":true}}"#;

    #[test]
    fn a_long_list_takes_bounded_memory() {
        let mut proxy = Link::new(Guard::new());
        let tools: Vec<String> =
            (0..10_000).map(|n| READS.replace("\"u\"", &format!("\"u{n}\""))).collect();
        assert_eq!(proxy.pass_to_server(br#"{"id":-1,"method":"tools/list"}"#), Passage::AsIs);
        let list = format!(r#"{{"id":-1,"result":{{"tools":[{}]}}}}"#, tools.join(","));
        assert_eq!(proxy.pass_to_client(list.as_bytes()), None);
        assert_eq!(proxy.guard.declared(), DECLARED_MAX);
        for id in 0..100 {
            let asked = format!(r#"{{"id":{id},"method":"tools/list"}}"#);
            assert_eq!(proxy.pass_to_server(asked.as_bytes()), Passage::AsIs);
        }
        // Only the latest of those that wait are answered.
        for (id, declared) in [(0, DECLARED_MAX), (91, DECLARED_MAX), (92, 1)] {
            let answer = format!(r#"{{"id":{id},"result":{{"tools":[{READS}]}}}}"#);
            assert_eq!(proxy.pass_to_client(answer.as_bytes()), None);
            assert_eq!(proxy.guard.declared(), declared, "{id}");
        }
    }

    #[test]
    fn after_a_pause_a_run_begins() {
        for (seconds, refused) in [(60, true), (3600, false)] {
            let mut proxy = Link::new(Guard::new());
            for id in 0..5 {
                assert_eq!(proxy.pass_to_server(call(&id.to_string()).as_bytes()), Passage::AsIs);
                let answer = format!(r#"{{"id":{id},"error":{{"code":1,"message":"down"}}}}"#);
                let _ = proxy.pass_to_client(answer.as_bytes());
            }
            let latest = proxy.latest.expect("an answer");
            proxy.called_at(latest + Duration::from_secs(seconds));
            let passage = proxy.pass_to_server(call("5").as_bytes());
            assert_eq!(passage != Passage::AsIs, refused, "{seconds} s");
        }
    }
}
