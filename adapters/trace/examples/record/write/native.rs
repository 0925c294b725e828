//! The project's own form: a header, then one line a message and one a call, all workers in one file.

use std::io;

use serde::Serialize;

use super::{File, push_line};
use crate::recording::{Called, Event, Thread};
use crate::script::{Action, Label, Scenario};

#[derive(Serialize)]
struct Header<'a> {
    source: &'a str,
    agent: &'a str,
    license: &'a str,
    session: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'a> {
    Message {
        role: &'a str,
        text: &'a str,
        worker: &'a str,
    },
    Call {
        tool: &'a str,
        args: &'a Action,
        result: &'a str,
        is_error: bool,
        worker: &'a str,
        step: usize,
    },
}

/// Writes all conversations of a scenario into one file, each errand behind the call that began it.
pub(super) fn write(scenario: &Scenario, main: &Thread<'_>) -> io::Result<Vec<File>> {
    let mut page = Page { text: String::new(), calls: 0, steps: 0, label: main.script.label };
    push_line(
        &mut page.text,
        &Header {
            source: "adapters/trace/examples/record",
            agent: "scripted agent",
            license: "MIT OR Apache-2.0",
            session: scenario.session(),
        },
    )?;
    page.thread(main)?;
    Ok(vec![File {
        path: format!("native/{}.jsonl", scenario.name),
        text: page.text,
        label: page.label,
        calls: page.calls,
    }])
}

/// A file in the making, with what it holds so far.
struct Page {
    text: String,
    calls: usize,
    steps: usize,
    label: Label,
}

impl Page {
    fn thread(&mut self, thread: &Thread<'_>) -> io::Result<()> {
        // One loop is enough for a file to be judged a loop.
        if let label @ Label::Stuck { .. } = thread.script.label {
            self.label = label.after(self.calls);
        }
        for event in &thread.events {
            match event {
                Event::User(text) => self.message(thread, "user", text)?,
                Event::Assistant { text, calls } => {
                    self.message(thread, "assistant", text)?;
                    self.step(thread, calls)?;
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, thread: &Thread<'_>, role: &str, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let worker = thread.script.worker;
        push_line(&mut self.text, &Line::Message { role, text, worker })
    }

    fn step(&mut self, thread: &Thread<'_>, calls: &[Called<'_>]) -> io::Result<()> {
        let step = self.steps;
        self.steps += usize::from(!calls.is_empty());
        for called in calls {
            self.calls += 1;
            push_line(
                &mut self.text,
                &Line::Call {
                    tool: called.action.tool(),
                    args: called.action,
                    result: &called.outcome.text,
                    is_error: called.outcome.failed,
                    worker: thread.script.worker,
                    step,
                },
            )?;
            if let Some(errand) = &called.errand {
                self.thread(errand)?;
            }
        }
        Ok(())
    }
}
