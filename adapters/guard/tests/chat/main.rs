//! The chat loop, against models that are scripts.

#![expect(clippy::unnecessary_wraps, reason = "in a host, the model and the tools may fail")]

use std::cell::RefCell;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use unstuck::{
    Action, CALLS_MAX, Chat, ChatError, Entry, Guard, LoopDetected, Next, RecoveryError, Reply,
    Ruling, START_OVERS_MAX, ToolCall, ToolOutput, Undone,
};

/// A model that always asks for the same call.
fn stubborn(said: &[Entry]) -> Result<Reply, Infallible> {
    Ok(Reply::call(said.len().to_string(), "bash", r#"{"command":"make"}"#))
}

/// A tool that always fails.
fn broken(_: &ToolCall) -> Result<ToolOutput, Infallible> {
    Ok(ToolOutput::failed("no such target"))
}

fn stuck<T>(outcome: Result<T, ChatError<Infallible>>) -> LoopDetected {
    match outcome {
        Err(ChatError::Loop(stuck)) => *stuck,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it got out"),
    }
}

/// The texts of the results in a conversation.
fn results(transcript: &[Entry]) -> Vec<&str> {
    let texts = transcript.iter().filter_map(|entry| match entry {
        Entry::Tool { output, .. } => Some(output.text.as_str()),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_model_that_does_not_listen_is_nudged_blocked_and_stopped() {
    let mut guard = Guard::new();
    let ran = RefCell::new(0);
    let tool = |call: &ToolCall| {
        *ran.borrow_mut() += 1;
        broken(call)
    };
    let stuck = stuck(Chat::new(&mut guard).run("Build it.", stubborn, tool));
    assert_eq!(*ran.borrow(), 5, "what is blocked does not run");
    assert_eq!((stuck.evidence.action, stuck.evidence.finding.laps), (Action::Stop, 8));
    insta::assert_snapshot!(results(&stuck.transcript).join("\n---\n"));
}

#[test]
fn the_guard_begins_afresh_with_each_run() {
    let mut guard = Guard::new();
    for _ in 0..2 {
        assert_eq!(
            stuck(Chat::new(&mut guard).run("Go.", stubborn, broken)).evidence.finding.laps,
            8
        );
    }
}

#[test]
fn a_model_that_listens_is_freed() {
    let mut guard = Guard::new();
    let model = |said: &[Entry]| match said.last() {
        Some(Entry::Tool { output, .. }) if output.text.contains("[unstuck]") => {
            Ok(Reply::text("I need the target's name."))
        }
        _ => stubborn(said),
    };
    let transcript = Chat::new(&mut guard).run("Build it.", model, broken).expect("it gets out");
    assert_eq!(results(&transcript).len(), 3);
    assert_eq!(
        transcript.last(),
        Some(&Entry::Assistant(Reply::text("I need the target's name.")))
    );
}

#[test]
fn calls_that_are_asked_for_at_once_are_each_answered_in_order() {
    let mut guard = Guard::new();
    let both = |said: &[Entry]| {
        let mut reply = stubborn(said)?;
        reply.calls.push(ToolCall { id: "b".into(), ..reply.calls[0].clone() });
        Ok::<_, Infallible>(reply)
    };
    let stuck = stuck(Chat::new(&mut guard).run("Build it.", both, broken));
    let is_second = |entry: &Entry| match entry {
        Entry::Tool { id, .. } => Some(id == "b"),
        _ => None,
    };
    let ids: Vec<_> = stuck.transcript.iter().filter_map(is_second).collect();
    let expected = (0..ids.len()).map(|n| n % 2 == 1);
    assert!(ids.iter().copied().eq(expected), "{ids:?}");
    let results = results(&stuck.transcript);
    assert_eq!(results.iter().filter(|text| text.contains("was not run")).count(), 5);
}

#[test]
fn calls_beyond_what_may_be_asked_for_at_once_are_not_run() {
    let mut guard = Guard::new();
    let call =
        |n: usize| ToolCall { id: n.to_string(), tool: "read_file".into(), args: n.to_string() };
    let model = |said: &[Entry]| match said.len() {
        1 => Ok(Reply { text: String::new(), calls: (0..CALLS_MAX + 2).map(call).collect() }),
        _ => Ok::<_, Infallible>(Reply::text("done")),
    };
    let fine = |_: &ToolCall| Ok(ToolOutput::ok("fine"));
    let transcript = Chat::new(&mut guard).run("Go.", model, fine).expect("it is done");
    let results = results(&transcript);
    assert_eq!(results.iter().filter(|text| **text == "fine").count(), CALLS_MAX);
    assert_eq!(results.iter().filter(|text| text.contains("too many at once")).count(), 2);
}

#[test]
fn talk_is_answered_until_it_is_too_much() {
    let mut guard = Guard::new();
    let model = |said: &[Entry]| {
        Ok::<_, Infallible>(Reply::text(if said.len() > 14 { "done" } else { "Let me see." }))
    };
    let chat = Chat::new(&mut guard).until(|reply| reply.text == "done");
    let transcript = chat.run("Build it.", model, broken).expect("it is done");
    let told = transcript.iter().filter_map(|entry| match entry {
        Entry::User(text) => Some(text.as_str()),
        _ => None,
    });
    insta::assert_snapshot!(told.collect::<Vec<_>>().join("\n"));
}

/// A guard that starts over rather than stops.
fn restless() -> Guard {
    let guard = Guard::builder().on_finding(|found| match found.action {
        Action::Stop => Ruling::Instead(Action::StartOver),
        _ => Ruling::Agree,
    });
    guard.build().expect("a guard")
}

#[test]
fn starting_over_takes_back_what_was_done_and_says_so() {
    let mut guard = restless();
    let mut undone = 0;
    let mut recovery = || {
        undone += 1;
        Ok(Undone::new("The tree is as it was."))
    };
    let seen = RefCell::new(Vec::new());
    let model = |said: &[Entry]| {
        if said.len() == 2 {
            seen.borrow_mut().push(said.to_vec());
        }
        stubborn(said)
    };
    let chat = Chat::new(&mut guard).recovery(&mut recovery);
    let stuck = stuck(chat.run("Build it.", model, broken));
    assert_eq!(stuck.evidence.action, Action::Stop);
    let seen = seen.into_inner();
    assert_eq!((seen.len(), undone), (3, START_OVERS_MAX));
    assert_eq!(seen[0][0], Entry::User("Build it.".into()));
    let Entry::User(told) = &seen[0][1] else { panic!("{:?}", seen[0]) };
    let call = "[unstuck] You have made the same `bash` call 8 times in a row, ";
    assert!(told.starts_with(call) && told.contains(" The tree is as it was. "), "{told}");
}

#[test]
fn a_run_that_cannot_start_over_is_stopped() {
    assert_eq!(
        stuck(Chat::new(&mut restless()).run("", stubborn, broken)).evidence.finding.laps,
        8
    );
    let mut guard = restless();
    let mut recovery = || Err(RecoveryError::new("the disk is full"));
    let outcome = Chat::new(&mut guard).recovery(&mut recovery).run("", stubborn, broken);
    let error = outcome.expect_err("it cannot");
    assert_eq!(error.to_string(), "cannot start over: the disk is full");
    let ChatError::Recovery { stuck, .. } = error else { panic!("{error:?}") };
    assert_eq!((stuck.evidence.finding.laps, stuck.transcript.len()), (8, 17), "the evidence");
}

#[test]
fn an_endless_run_and_an_error_of_the_host_end_it() {
    let mut guard = Guard::new();
    let restless = |said: &[Entry]| {
        Ok::<_, String>(Reply::call("1", "read_file", format!("[{}]", said.len())))
    };
    let fine = |_: &ToolCall| Ok(ToolOutput::ok("fine"));
    let outcome = Chat::new(&mut guard).turns_max(7).run("Go.", restless, fine);
    let Err(ChatError::Turns { max: 7, transcript }) = &outcome else { panic!("{outcome:?}") };
    assert_eq!(transcript.len(), 15);
    assert_eq!(outcome.unwrap_err().to_string(), "the model was asked 7 times and is not done");
    let unreachable = |_: &[Entry]| Err(String::from("no route to the model"));
    let outcome = Chat::new(&mut guard).run("Go.", unreachable, fine);
    assert_eq!(outcome.unwrap_err().to_string(), "no route to the model");
    let closed = |_: &ToolCall| Err(String::from("the door is closed"));
    let outcome = Chat::new(&mut guard).run("Go.", restless, closed);
    assert_eq!(outcome.unwrap_err().to_string(), "the door is closed");
}

/// Returns the result of a future that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits for somebody"),
    }
}

#[test]
fn what_is_awaited_goes_the_same_way() {
    let (mut awaited, mut waited) = (Guard::new(), Guard::new());
    let model = async |said: &[Entry]| stubborn(said);
    let tool = async |call: &ToolCall| broken(call);
    let awaited = stuck(now(Chat::new(&mut awaited).run_async("Build it.", model, tool)));
    let waited = stuck(Chat::new(&mut waited).run("Build it.", stubborn, broken));
    assert_eq!(awaited, waited);
}

#[test]
fn someone_else_takes_the_turn_after_an_escalation() -> Result<(), ChatError> {
    let mut guard = Guard::builder().escalate(2).build().expect("a guard");
    let mut run = Chat::new(&mut guard).begin("Build it.");
    let mut asked = Vec::new();
    loop {
        match run.advance()? {
            Next::Ask => {
                asked.push(run.question().map(str::to_owned));
                let reply = match run.question() {
                    Some(_) => Reply::call("other", "bash", r#"{"command":"ls"}"#),
                    None if asked.len() > 7 => Reply::text("There is no such target."),
                    None => stubborn(run.transcript()).expect("a reply"),
                };
                run.replied(reply)?;
            }
            Next::Call(call) if call.id == "other" => run.returned(&ToolOutput::ok("src"))?,
            Next::Call(call) => run.returned(&broken(&call).expect("an output"))?,
            Next::Done => break,
        }
    }
    let questions: Vec<_> = asked.iter().flatten().collect();
    assert_eq!((questions.len(), asked.iter().position(Option::is_some)), (1, Some(5)));
    assert!(questions[0].contains("the same `bash` call 5 times in a row"));
    let is_kept = |entry: &Entry| matches!(entry, Entry::User(text) if text == questions[0]);
    assert!(!run.transcript().iter().any(is_kept));
    Ok(())
}
