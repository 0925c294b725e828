//! Tasks of Cline, Roo Code and their forks: `api_conversation_history.json`, the messages of the model. What the
//! [editor shows](ui) stands in another file.
//!
//! - **Calls** stand in the words of the agent, as the name of a tool in brackets, with its arguments in it. Newer
//!   versions have `tool_use` blocks in their place, as in [Anthropic](super::anthropic)'s messages.
//! - **Results** are texts of the user behind a line such as `[read_file for 'a'] Result:`. They answer the calls
//!   of the message before, by the name of the tool or else in order. Blocks have results by id as well.
//! - **Turns.** The calls of one message share a step.
//! - **Tokens** are the `metrics` of a message. What a cache had is no part of the prompt.
//! - **Failures** are known by the first words of a result, and so are calls that the user refused.
//! - What the program adds for the model (`<environment_details>`, `# task_progress`) is skipped. The first task
//!   and later feedback are the person's messages.

pub(super) mod ui;

use super::prelude::*;

/// The tools that are calls, as the agent writes them.
const TOOLS: [&str; 19] = [
    "access_mcp_resource",
    "apply_diff",
    "browser_action",
    "codebase_search",
    "edit_file",
    "execute_command",
    "fetch_instructions",
    "insert_content",
    "list_code_definition_names",
    "list_files",
    "read_file",
    "replace_in_file",
    "run_slash_command",
    "search_and_replace",
    "search_files",
    "use_mcp_tool",
    "web_fetch",
    "web_search",
    "write_to_file",
];

/// The tools that are words to the person, and no calls.
const WORDS: [&str; 5] = [
    "act_mode_respond",
    "ask_followup_question",
    "attempt_completion",
    "new_task",
    "plan_mode_respond",
];

/// The end of the line before a result.
const RESULT: &str = "] Result:";

/// The beginning of what the program tells of its window.
const ENVIRONMENT: &str = "<environment_details>";

/// The beginnings of a result that is a failure.
const FAILURES: [&str; 4] = [
    "The tool execution failed",
    "Command execution was not successful",
    "Error executing",
    "Error reading",
];

/// The beginnings of a result of a call that the user refused.
const REFUSALS: [&str; 2] = ["The user denied this operation", "User rejected"];

/// Returns whether only this program writes such a block: a task, what it tells of its window, or a result.
pub(super) fn is_own(block: &Fields) -> bool {
    let text = fields::text(block, "text").trim_start();
    text.starts_with("<task>") || text.starts_with(ENVIRONMENT) || split_head(text).is_some()
}

pub(super) fn read(source: Source<'_>, recorder: &mut Recorder<'_>) {
    let mut open = OpenCalls::default();
    source.replay(recorder, &mut |message, recorder| replay(message, &mut open, recorder));
}

fn replay(message: &Object<'_>, open: &mut OpenCalls, recorder: &mut Recorder<'_>) -> Done {
    let role = message.required("role", "a message")?;
    recorder.recognise();
    recorder.time(time(message.get("ts")));
    if role != "assistant" {
        hear(message, open, recorder);
        return Ok(());
    }
    recorder.begin_turn(MAIN);
    recorder.usage(MAIN, tokens(member(message.get("metrics"), "tokens")));
    say(&message.text("content").unwrap_or_default(), open, recorder);
    let mut outcome = Ok(());
    for block in records(message.get("content")) {
        match block.text("type").as_deref() {
            Some("text") => say(&block.text("text").unwrap_or_default(), open, recorder),
            Some("tool_use") => outcome = outcome.and(call_of(&block, open, recorder)),
            _ => {}
        }
    }
    outcome
}

/// Delivers what the model was told: results, and the words of a person.
fn hear(message: &Object<'_>, open: &mut OpenCalls, recorder: &mut Recorder<'_>) {
    let mut told = message.text("content").unwrap_or_default().into_owned();
    for block in records(message.get("content")) {
        match block.text("type").as_deref() {
            Some("text") => {
                told.push('\n');
                told.push_str(&block.text("text").unwrap_or_default());
            }
            Some("tool_result") => {
                let id = block.text("tool_use_id").unwrap_or_default();
                let text = flat_text(block.get("content"));
                if let Some(call) = recorder.pairing.answer(MAIN, &id) {
                    open.answer(call, &text, recorder);
                }
            }
            _ => {}
        }
    }
    let told = without_environment(&told);
    open.end_turn(told, recorder);
    for name in ["task", "feedback", "user_message"] {
        if let Some((_, inner)) = told.split_once(&*format!("<{name}>")) {
            recorder.hear(MAIN, Role::User, split_at_end(inner, name).0.trim());
        }
    }
}

/// Reads the tokens of an answer. Its parts do not overlap.
fn tokens(metrics: Raw<'_>) -> Option<Tokens> {
    let [input, cached, output] = members(metrics, ["prompt", "cached", "completion"])?.map(count);
    Some(Tokens { input: input?, cached: cached?, output: output? })
}

/// The calls of the latest message that have no result so far, with their tools.
#[derive(Default)]
struct OpenCalls(Vec<(usize, String)>);

impl OpenCalls {
    /// Delivers a call of the turn, and returns its index.
    fn issue(&mut self, tool: &str, args: Args<'_>, recorder: &mut Recorder<'_>) -> usize {
        let call = recorder.call_in_turn(MAIN, tool, args);
        self.0.push((call, tool.to_owned()));
        call
    }

    /// Delivers the result of a call.
    fn answer(&mut self, call: usize, text: &str, recorder: &mut Recorder<'_>) {
        self.0.retain(|(open, _)| *open != call);
        let begins = |word: &&str| text.starts_with(word);
        let refused = REFUSALS.iter().any(begins);
        let failed = FAILURES.iter().any(begins);
        recorder.outcome(Outcome { failed, refused, ..Outcome::new(call, MAIN, text) });
    }

    /// Delivers the results in what the model was told. The other calls have none.
    fn end_turn(&mut self, told: &str, recorder: &mut Recorder<'_>) {
        for (tool, text) in results(told) {
            let is_named = |(_, open): &&(usize, String)| open == tool;
            let named = self.0.iter().find(is_named);
            let next = || self.0.first().filter(|_| !WORDS.contains(&tool));
            if let Some((call, _)) = named.or_else(next) {
                self.answer(*call, text, recorder);
            }
        }
        self.0.clear();
    }
}

/// Delivers the call in a block.
fn call_of(block: &Object<'_>, open: &mut OpenCalls, recorder: &mut Recorder<'_>) -> Done {
    let tool = block.required("name", "a tool_use block")?;
    let call = open.issue(&tool, json_args(block.get("input")), recorder);
    recorder.await_answer(MAIN, block.text("id"), call);
    Ok(())
}

/// Delivers words of the agent, and the calls in them.
fn say(mut text: &str, open: &mut OpenCalls, recorder: &mut Recorder<'_>) {
    while let Some((before, call, behind)) = next_call(text) {
        recorder.speak(MAIN, &without_thoughts(before));
        open.issue(call.tool, Args::Json(&call.args), recorder);
        text = behind;
    }
    recorder.speak(MAIN, &without_thoughts(text));
}

/// A call in the words of the agent.
struct Call<'t> {
    tool: &'t str,
    /// The arguments as a JSON object of texts.
    args: String,
}

/// Returns the first call in a text, with the text before and behind it. A call that breaks off goes to the end.
fn next_call(text: &str) -> Option<(&str, Call<'_>, &str)> {
    let (before, tool, inner) = tags(text).find(|(_, tag, _)| TOOLS.contains(tag))?;
    let (inner, behind) = split_at_end(inner, tool);
    Some((before, Call { tool, args: arguments(inner) }, behind))
}

/// Returns each `<name>` of a text, with the text before and behind it.
fn tags(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.match_indices('<').filter_map(move |(at, _)| {
        let (tag, behind) = text.get(at + 1..)?.split_once('>')?;
        let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
        (!tag.is_empty() && tag.chars().all(is_name)).then(|| (&text[..at], tag, behind))
    })
}

/// Splits a text at the closing tag of a name, the last one if the text may hold others.
fn split_at_end<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let end = format!("</{name}>");
    let holds_text = matches!(name, "content" | "diff");
    let found = if holds_text { text.rsplit_once(&*end) } else { text.split_once(&*end) };
    found.unwrap_or((text, ""))
}

/// Returns the arguments in a call as JSON.
fn arguments(mut inner: &str) -> String {
    let mut args = Fields::new();
    while let Some((_, name, behind)) = tags(inner).next() {
        let (value, rest) = split_at_end(behind, name);
        args.insert(name.to_owned(), value.trim().into());
        inner = rest;
    }
    serde_json::Value::Object(args).to_string()
}

/// Returns the agent's words without its thoughts, which some models write out.
fn without_thoughts(text: &str) -> Cow<'_, str> {
    match text.split_once("<thinking>") {
        None => Cow::Borrowed(text.trim()),
        Some((before, thought)) => {
            let behind = thought.split_once("</thinking>").map_or("", |(_, behind)| behind);
            Cow::Owned(format!("{before}{behind}").trim().to_owned())
        }
    }
}

/// Returns what the model was told, without what the program added of its window at the end.
fn without_environment(text: &str) -> &str {
    let mut places = text.rmatch_indices(ENVIRONMENT).map(|(at, _)| &text[..at]);
    places.find(|before| before.is_empty() || before.ends_with('\n')).unwrap_or(text)
}

/// Returns the results in a text, with the names of their tools.
fn results(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = find_head(text);
    core::iter::from_fn(move || {
        let (tool, behind) = rest.take()?;
        let end =
            behind.match_indices("\n[").find(|(at, _)| split_head(&behind[at + 1..]).is_some());
        let end = end.map_or(behind.len(), |(at, _)| at);
        rest = find_head(&behind[end..]);
        Some((tool, behind[..end].trim()))
    })
}

/// Returns the first head of a result in a text, as its tool and the text behind it.
fn find_head(text: &str) -> Option<(&str, &str)> {
    split_head(text.trim_start())
        .or_else(|| text.match_indices("\n[").find_map(|(at, _)| split_head(&text[at + 1..])))
}

/// Returns the tool of a line such as `[read_file for 'a'] Result:`, and the text behind it.
fn split_head(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let name = inner.find(|c| !is_name(c)).filter(|end| *end > 0)?;
    let (tool, rest) = inner.split_at(name);
    let is_head = rest.starts_with(RESULT) || rest.starts_with(" for '");
    let (_, behind) = rest.split_once(RESULT).filter(|_| is_head)?;
    Some((tool, behind))
}
