//! Watches the messages of client and server, and passes the calls in them to the guard.

use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use unstuck::{Action, Decision, Guard, SIGN, Ticket};

use super::answer::{Answer, Results, refusal, spliced};
use super::message::{Call, Cancelled, Greeting, Id, Line, Message};
use super::tools::Listing;
use crate::output::recurring::what_was_found;
use crate::output::remark;

/// The most calls that may await a response. A client that awaits more has lost some, so the oldest
/// is dropped.
const WAITING_MAX: usize = 256;

/// The pause in calls and responses after which a new run begins. After it somebody else was
/// active, usually the user, so earlier calls are irrelevant. Models and their tools take minutes
/// at most.
const PAUSE: Duration = Duration::from_secs(10 * 60);

/// The name of this program on standard error.
pub(crate) const NAME: &str = "unstuck mcp";

/// The treatment of a line of the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// The line is forwarded unchanged.
    AsIs,
    /// Calls in the line are refused.
    Refused {
        /// The rest for the server: a batch without those calls, or nothing.
        server: Vec<u8>,
        /// The responses for the client, one a line.
        client: Vec<u8>,
    },
}

/// The guard, and the calls that await responses.
pub(crate) struct Watch {
    guard: Guard,
    waiting: Vec<Waiting>,
    /// The tool lists from which the guard learns.
    listing: Listing,
    /// The time of the latest call or response.
    latest: Option<Instant>,
    /// The client's `initialize`, until the server responds.
    greeting: Option<Id>,
    /// The result format of the protocol version. Without `initialize`, the latest one.
    results: Results,
}

/// A call that was forwarded to the server.
struct Waiting {
    id: Id,
    ticket: Ticket,
    /// The note for the model, to be added to the response.
    note: Option<Note>,
}

/// A note for the model.
struct Note {
    action: Action,
    text: String,
}

impl Watch {
    pub(crate) fn new(guard: Guard) -> Self {
        let (greeting, results) = (None, Results::Typed);
        let (waiting, listing) = (Vec::new(), Listing::default());
        Self { guard, waiting, listing, latest: None, greeting, results }
    }

    /// Handles a line of the client.
    pub(crate) fn client_says(&mut self, line: &[u8]) -> Passage {
        match Line::read(line) {
            None => Passage::AsIs,
            Some(Line::One(message)) => self
                .asked(&message)
                .map_or(Passage::AsIs, |client| Passage::Refused { server: Vec::new(), client }),
            Some(Line::Batch(messages)) => self.batch(&messages),
        }
    }

    /// Handles a line of the server. Returns the line for the client if it changes.
    pub(crate) fn server_says(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if !self.listens() {
            return None;
        }
        let messages = match Line::read(line)? {
            Line::One(message) => vec![message],
            Line::Batch(messages) => messages.into_iter().filter_map(read).collect(),
        };
        let answered = |message| self.answered(line, message);
        let insertions: Vec<_> = messages.iter().filter_map(answered).collect();
        (!insertions.is_empty()).then(|| spliced(line, &insertions))
    }

    /// Returns whether the server's messages matter now: a response is awaited, or a notice that
    /// the list of tools changed.
    fn listens(&self) -> bool {
        let awaits = !self.waiting.is_empty() || self.greeting.is_some() || self.listing.awaits();
        awaits || self.guard.declared() > 0
    }

    /// Handles a batch. Its calls are open at the same time. Refused calls are removed.
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

    /// Handles a message of the client. Returns the response if it is refused.
    fn asked(&mut self, message: &Message<'_>) -> Option<Vec<u8>> {
        match message.method.as_deref()? {
            "tools/call" => return self.called(message),
            "tools/list" => self.listing.asked(message),
            "notifications/cancelled" => self.cancelled(message),
            // The client starts afresh on the same pipes.
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

    /// Notes the protocol version that one end names. The other end may name an earlier one.
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
        self.heard_at(Instant::now());
        let decision = self.guard.before(&call.name, call.arguments());
        report(&decision);
        if decision.is_blocked() {
            return Some(refusal(raw, &refused(&decision), self.results));
        }
        let ticket = decision.ticket()?;
        self.waiting.push(Waiting { id, ticket, note: Note::of(&decision) });
        None
    }

    /// Notes a call at `now`. After a pause it is the first call of a new run.
    fn heard_at(&mut self, now: Instant) {
        let latest = self.latest.replace(now).unwrap_or(now);
        if self.waiting.is_empty() && now.saturating_duration_since(latest) > PAUSE {
            self.guard.clear();
        }
    }

    /// Makes room for a call with this id. An older call with the same id gets no response any
    /// more.
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

    /// Notes that this call gets no result. Verdicts on earlier calls are dropped, because the
    /// model has their results already.
    fn broken_off(&mut self, call: &Waiting) {
        report(&self.guard.cancelled(call.ticket));
    }

    /// Removes and returns the call that awaits a response with this id.
    fn taken(&mut self, id: &RawValue) -> Option<Waiting> {
        let id = Id::of(id)?;
        let index = self.waiting.iter().position(|call| call.id == id)?;
        Some(self.waiting.remove(index))
    }

    /// Handles a message of the server. Returns the insertions into `line` for the model.
    fn answered(&mut self, line: &[u8], message: &Message<'_>) -> Option<(usize, String)> {
        if let Some(method) = message.method.as_deref() {
            // A request of the server has an id of its own. After a change of the tools, their
            // names must do until the client requests the list again.
            if method == "notifications/tools/list_changed" {
                self.guard.forget_declared();
            }
            return None;
        }
        if self.greeting.is_some() && self.greeting == message.id.and_then(Id::of) {
            self.greeting = None;
            self.agreed(message.result);
            return None;
        }
        if self.listing.answered(message, &mut self.guard) {
            return None;
        }
        let call = self.taken(message.id?)?;
        self.latest = Some(Instant::now());
        let Some(answer) = Answer::of(message) else {
            self.broken_off(&call);
            return None;
        };
        let decision = self.guard.after(call.ticket, &*answer.text, answer.failed);
        report(&decision);
        let note = Note::stronger(call.note, Note::of(&decision))?;
        Some(answer.room(line, &note.text))
    }
}

impl Note {
    fn of(decision: &Decision) -> Option<Self> {
        let text = decision.message()?.note() + plea(decision);
        Some(Self { action: decision.action(), text })
    }

    /// Returns the stronger of two notes, the later one if they are equal: usually both are about
    /// one loop.
    fn stronger(before: Option<Self>, after: Option<Self>) -> Option<Self> {
        match (before, after) {
            (Some(before), Some(after)) if before.action > after.action => Some(before),
            (before, after) => after.or(before),
        }
    }
}

/// The text of a refusal.
fn refused(decision: &Decision) -> String {
    let said = decision.message().map(unstuck::Message::tool_result);
    said.unwrap_or_else(|| format!("{SIGN} This call was not run.")) + plea(decision)
}

/// What the model is asked for at the end of a run, which a proxy cannot bring about.
fn plea(decision: &Decision) -> &'static str {
    if decision.ends_the_run() {
        " Call no more tools: tell the user how far you came and what blocks you."
    } else {
        ""
    }
}

/// Tells whoever reads the log of a finding that is new, or of a call that is blocked.
fn report(decision: &Decision) {
    let judged = decision.judged();
    let Some(found) = decision.found() else { return };
    if found.fresh || judged >= Action::Block {
        let would = if decision.action() < judged { "would " } else { "" };
        let what = what_was_found(found);
        let (id, rule) = (found.finding.loop_id, found.rule);
        remark(NAME, &format!("{would}{judged}: {what}; loop {id}; rule {rule}"));
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
    fn calls_that_nobody_answers_are_given_up() {
        let mut watch = Watch::new(Guard::new());
        for id in 0..2 * WAITING_MAX {
            let line = call(&id.to_string());
            assert_eq!(watch.client_says(line.as_bytes()), Passage::AsIs);
            assert!(watch.waiting.len() <= WAITING_MAX);
        }
        let ids = (WAITING_MAX..2 * WAITING_MAX).map(|id| Id::Number(id.to_string().into()));
        assert!(watch.waiting.iter().map(|call| call.id.clone()).eq(ids));
    }

    #[test]
    fn a_call_waits_until_its_end_and_no_longer() {
        for (ends, line) in [
            (true, r#"{"id":1,"result":{"content":[]}}"#),
            (true, r#"[{"id":1,"result":{}}]"#),
            (true, r#"{"id":1,"error":{"code":1,"message":""}}"#),
            (true, r#"{"id":1}"#),
            (false, r#"{"id":"1","result":{}}"#),
            (false, r#"{"id":1,"method":"ping"}"#),
            (false, r#"{"id":null,"result":{}}"#),
            (false, r#"{"id":1,"result":{"content":[]}"#),
        ] {
            let mut watch = Watch::new(Guard::new());
            assert_eq!(watch.client_says(call("1").as_bytes()), Passage::AsIs);
            assert_eq!(watch.server_says(line.as_bytes()), None);
            assert_eq!(watch.waiting.is_empty(), ends, "{line}");
        }
    }

    /// Requests a list and answers it with these tools. Neither message changes.
    fn listed(watch: &mut Watch, cursor: &str, tools: &str) {
        let asked = format!(r#"{{"id":"l","method":"tools/list","params":{{{cursor}}}}}"#);
        assert_eq!(watch.client_says(asked.as_bytes()), Passage::AsIs);
        let answer = format!(r#"{{"id":"l","result":{{"tools":[{tools}]}}}}"#);
        assert_eq!(watch.server_says(answer.as_bytes()), None);
    }

    const EXEMPT: &str = r#"{"name":"t","_meta":{"unstuck/key":false}}"#;
    const READS: &str = r#"{"name":"u","annotations":{"readOnlyHint":true}}"#;

    #[test]
    fn a_list_is_learned_page_by_page() {
        let mut watch = Watch::new(Guard::new());
        for (cursor, tools, declared) in [
            ("", EXEMPT, 1),
            (r#""cursor":"2""#, READS, 2),
            // A tool without hints, or an unreadable one, does not affect the others.
            (r#""cursor":"3""#, r#"{"name":"v"},{"name":1},7,{"name":"w","name":"x"}"#, 2),
            (r#""cursor":null"#, READS, 1),
            ("", "", 0),
        ] {
            listed(&mut watch, cursor, tools);
            assert_eq!(watch.guard.declared(), declared, "{cursor} {tools}");
        }
    }

    #[test]
    fn what_is_no_list_teaches_nothing() {
        let asked = r#"{"id":1,"method":"tools/list"}"#;
        let answer = |body: &str| format!(r#"{{"id":1,"result":{{"tools":[{EXEMPT}]}}{body}}}"#);
        for (asked, answer) in [
            (asked, answer(r#","method":"x""#)),
            (asked, answer("").replace("\"id\":1", "\"id\":2")),
            (asked, r#"{"id":1,"result":{"tools":{}}}"#.to_owned()),
            (asked, r#"{"id":1,"error":{"code":1,"message":"no"}}"#.to_owned()),
            (r#"{"id":1,"method":"prompts/list"}"#, answer("")),
            (r#"{"method":"tools/list"}"#, answer("")),
        ] {
            let mut watch = Watch::new(Guard::new());
            assert_eq!(watch.client_says(asked.as_bytes()), Passage::AsIs);
            assert_eq!(watch.server_says(answer.as_bytes()), None);
            assert_eq!(watch.guard.declared(), 0, "{asked} {answer}");
        }
    }

    #[test]
    fn a_list_that_is_out_of_date_is_forgotten() {
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let batch = format!("[{changed}]");
        for (by_server, line) in [
            (true, changed),
            (true, &batch),
            (false, r#"{"id":0,"method":"initialize","params":{}}"#),
        ] {
            let mut watch = Watch::new(Guard::new());
            listed(&mut watch, "", &format!("{EXEMPT},{READS}"));
            assert_eq!(watch.guard.declared(), 2);
            if by_server {
                assert_eq!(watch.server_says(line.as_bytes()), None);
            } else {
                assert_eq!(watch.client_says(line.as_bytes()), Passage::AsIs);
            }
            assert_eq!(watch.guard.declared(), 0, "{line}");
            listed(&mut watch, "", READS);
            assert_eq!(watch.guard.declared(), 1, "{line}");
        }
    }

    #[test]
    fn a_long_list_takes_bounded_memory() {
        let mut watch = Watch::new(Guard::new());
        let tools: Vec<String> =
            (0..10_000).map(|n| READS.replace("\"u\"", &format!("\"u{n}\""))).collect();
        listed(&mut watch, "", &tools.join(","));
        assert_eq!(watch.guard.declared(), DECLARED_MAX);
        for id in 0..100 {
            let asked = format!(r#"{{"id":{id},"method":"tools/list"}}"#);
            assert_eq!(watch.client_says(asked.as_bytes()), Passage::AsIs);
        }
        // Only the latest of the awaited calls are answered.
        for (id, declared) in [(0, DECLARED_MAX), (91, DECLARED_MAX), (92, 1)] {
            let answer = format!(r#"{{"id":{id},"result":{{"tools":[{READS}]}}}}"#);
            assert_eq!(watch.server_says(answer.as_bytes()), None);
            assert_eq!(watch.guard.declared(), declared, "{id}");
        }
    }

    #[test]
    fn the_client_may_give_a_call_up() {
        let (cancel, anew) = (
            r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
            r#"{"id":0,"method":"initialize"}"#,
        );
        for (line, left) in [(cancel, &["2"][..]), (anew, &[]), (&call("1"), &["2", "1"])] {
            let mut watch = Watch::new(Guard::new());
            for line in [&call("1"), &call("2"), line] {
                assert_eq!(watch.client_says(line.as_bytes()), Passage::AsIs);
            }
            let waiting = watch.waiting.iter().map(|call| call.id.clone());
            assert!(waiting.eq(left.iter().map(|id| Id::Number((*id).into()))), "{line}");
        }
    }

    #[test]
    fn after_a_pause_a_run_begins() {
        for (seconds, refused) in [(60, true), (3600, false)] {
            let mut watch = Watch::new(Guard::new());
            for id in 0..5 {
                assert_eq!(watch.client_says(call(&id.to_string()).as_bytes()), Passage::AsIs);
                let answer = format!(r#"{{"id":{id},"error":{{"code":1,"message":"down"}}}}"#);
                let _ = watch.server_says(answer.as_bytes());
            }
            let latest = watch.latest.expect("an answer");
            watch.heard_at(latest + Duration::from_secs(seconds));
            let passage = watch.client_says(call("5").as_bytes());
            assert_eq!(passage != Passage::AsIs, refused, "{seconds} s");
        }
    }

    #[test]
    fn what_is_no_whole_call_is_not_watched() {
        let mut watch = Watch::new(Guard::new());
        for line in [
            r#"{"method":"tools/call","params":{"name":"t"}}"#,
            r#"{"id":[1],"method":"tools/call","params":{"name":"t"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":1}}"#,
            r#"{"id":1,"method":"tools/call"}"#,
            r#"{"id":1,"method":"tools/list","params":{"name":"t"}}"#,
        ] {
            assert_eq!(watch.client_says(line.as_bytes()), Passage::AsIs);
            assert!(watch.waiting.is_empty(), "{line}");
        }
    }
}
