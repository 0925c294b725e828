//! Clues to the cause of a loop that the answer of the call does not hold. They come from the agent's transcript and from
//! the files that the call names. Both are read only if the model is told of a loop.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::{Map, Value};
use unstuck::{CauseKind, Evidence, Kind};
use unstuck_text::{LoopCause, PastCalls, Unescaped};
use unstuck_trace as trace;
use unstuck_trace::read;

use super::read::{End, ReadEvent};
use crate::agents::Agent;
use crate::agents::transcript::tail;

/// The largest file that is read, in bytes.
const FILE_MAX: u64 = 1024 * 1024;

/// The most lines of a file that are shown, and the most characters of one.
const LINES_MAX: usize = 8;
const LINE_MAX: usize = 160;

/// The most places of a text that are named.
const PLACES_MAX: usize = 5;

/// The most hunks of a patch that are looked up.
const HUNKS_MAX: usize = 32;

/// The share of equal text from which on lines are near, in thousandths.
const NEAR: usize = 700;

/// Names of arguments for a file, and for the text that an edit replaces.
const FILES: [&str; 5] = ["file_path", "filePath", "path", "filename", "target_file"];
const OLD_TEXTS: [&str; 6] =
    ["old_string", "oldString", "old_str", "oldText", "old_text", "search"];

/// The words before the name of a file in a patch.
const UPDATE: &str = "*** Update File: ";

/// Returns what else is known of the loop of `evidence`, in a sentence or more, if anything is.
pub(super) fn clue(agent: Agent, read: &ReadEvent<'_>, evidence: &Evidence) -> Option<String> {
    let known = evidence.cause.as_ref().map(|cause| cause.kind);
    match known {
        Some(CauseKind::TextMissing | CauseKind::TextRepeated) => in_file(read),
        _ => in_transcript(agent, read, evidence),
    }
}

/// Returns what the calls before this one tell.
fn in_transcript(agent: Agent, event: &ReadEvent<'_>, evidence: &Evidence) -> Option<String> {
    // The guard knows from the output, too, whether the call failed. In turns, one call that finds nothing is not what
    // recurs.
    let failed = evidence.finding.has_failed();
    if !failed && evidence.finding.kind == Kind::Cycle {
        return None;
    }
    let (call, End::Answered(answer, _)) = (event.call.as_ref()?, event.end.as_ref()?) else {
        return None;
    };
    let format = agent.host().transcripts?.format;
    let text = tail(Path::new(event.event.transcript.as_deref()?)).ok()?;
    let (mut calls, mut count) = (PastCalls::default(), 0);
    // The first line may be cut off. What can be read of the others is enough.
    let _ = read(text.as_bytes(), Some(format), &mut |event| match event {
        trace::Event::Call(call) => {
            count = call.index as u64 + 1;
            calls.announce(call.index as u64, call.tool, &call.compared_args());
        }
        trace::Event::Outcome(it) => calls.answer(it.call as u64, it.text, it.failed),
        _ => {}
    });
    // The call of this event may stand there already, without its answer.
    let (tool, args) = (&*call.call.tool, &*call.call.args);
    let is_there = calls.back_from(count.saturating_sub(1)).next();
    if is_there.is_none_or(|last| last.tool != tool || !last.answer.is_empty()) {
        calls.announce(count, tool, args);
        count += 1;
    }
    let latest = count.saturating_sub(1);
    calls.answer(latest, answer.as_str(), failed);
    let mut memory = Unescaped::default();
    let found = LoopCause::of(answer.as_str(), calls.back_from(latest), &mut memory)?;
    match &evidence.cause {
        None => Some(found.to_string()),
        Some(known) if found.cause.kind == known.kind => found.clue.map(|clue| clue.to_string()),
        Some(_) => None,
    }
}

/// Returns where in the file the text stands that an edit is to replace, or the lines that are nearest to it.
fn in_file(event: &ReadEvent<'_>) -> Option<String> {
    let folder = Path::new(event.event.cwd.as_deref()?);
    let args: Map<String, Value> = serde_json::from_str(&event.call.as_ref()?.call.args).ok()?;
    let argument = |names: &[&str]| names.iter().find_map(|name| args.get(*name)?.as_str());
    if let (Some(path), Some(wanted)) = (argument(&FILES), argument(&OLD_TEXTS)) {
        return whereabouts(&content(folder, Path::new(path))?, wanted);
    }
    let patch = args.values().filter_map(Value::as_str).find(|text| text.contains(UPDATE))?;
    // A patch takes the first place behind its header, so a hunk that stands anywhere is not what failed.
    let missing = hunks(patch).into_iter().find_map(|(path, lines)| {
        let (text, wanted) = (content(folder, Path::new(path))?, lines.join("\n"));
        places(&text, &wanted).is_empty().then_some((text, wanted))
    });
    missing.and_then(|(text, wanted)| nearest(&text, &wanted))
}

/// Returns the lines where `wanted` stands in `text`, or those that are nearest to it.
fn whereabouts(text: &str, wanted: &str) -> Option<String> {
    let places = places(text, wanted);
    match places[..] {
        [] => nearest(text, wanted),
        [line] => Some(format!("That text stands in line {line} now.")),
        _ => Some(format!("It stands in the lines {}.", listed(&places))),
    }
}

/// Returns the file of each hunk of a patch in the form of `apply_patch`, and the lines that the hunk is for.
fn hunks(patch: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut hunks, mut file) = (Vec::new(), None);
    for line in patch.lines() {
        if line.starts_with("*** ") && (line.contains(" File: ") || line == "*** End Patch") {
            file = line.strip_prefix(UPDATE);
        }
        let Some(name) = file else { continue };
        if line.starts_with("***") || line.starts_with("@@") {
            hunks.push((name, Vec::new()));
        } else if let (Some((_, lines)), false) = (hunks.last_mut(), line.starts_with('+')) {
            lines.push(line.strip_prefix([' ', '-']).unwrap_or(line));
        }
    }
    hunks.retain(|(_, lines)| lines.iter().any(|line| !line.trim().is_empty()));
    hunks.truncate(HUNKS_MAX);
    hunks
}

/// Returns the text of a file inside of `folder`, unless it is long, or may hold a secret.
fn content(folder: &Path, path: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let path = folder.join(path).canonicalize().ok()?;
    if !path.starts_with(&folder) || path.strip_prefix(&folder).ok()?.iter().any(is_secret) {
        return None;
    }
    // To open a pipe would wait for its writer.
    if !path.metadata().is_ok_and(|about| about.is_file() && about.len() <= FILE_MAX) {
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(FILE_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns whether files and folders of this name hold secrets.
fn is_secret(name: &OsStr) -> bool {
    const NAMES: &str =
        ".ssh .aws .gnupg .kube .netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials .git";
    const BEGINNINGS: [&str; 4] = [".env", "id_", "credentials", "secret"];
    const ENDINGS: [&str; 6] = [".pem", ".key", ".p12", ".pfx", ".kdbx", ".env"];
    let name = name.to_string_lossy().to_lowercase();
    NAMES.split(' ').any(|known| known == name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns the lines, from 1, in which `wanted` begins.
fn places(text: &str, wanted: &str) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let places = text.match_indices(wanted).map(|(at, _)| {
        line += text[from..at].matches('\n').count();
        from = at;
        line
    });
    if wanted.is_empty() { Vec::new() } else { places.take(PLACES_MAX + 1).collect() }
}

/// Returns `places` as words.
fn listed(places: &[usize]) -> String {
    let shown: Vec<_> = places.iter().take(PLACES_MAX).map(usize::to_string).collect();
    match (places.len() > PLACES_MAX, shown.split_last()) {
        (false, Some((last, others))) => format!("{} and {last}", others.join(", ")),
        _ => format!("{} and more", shown.join(", ")),
    }
}

/// Returns the lines of `text` that are nearest to `wanted`, if they are near. O(lines of both).
fn nearest(text: &str, wanted: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted.lines().skip_while(|line| line.trim().is_empty()).collect();
    let wanted = &wanted[..wanted.len().min(WANTED_MAX)];
    if wanted.is_empty() {
        return None;
    }
    let score = |at: usize| {
        let pairs = wanted.iter().zip(lines.iter().skip(at));
        pairs.map(|(one, other)| likeness(one.trim(), other.trim())).sum::<usize>()
    };
    let starts = 0..(lines.len() + 1).saturating_sub(wanted.len());
    let scores = starts.map(|at| (at, score(at)));
    let (at, score) = scores.max_by_key(|(at, score)| (*score, Reverse(*at)))?;
    let count = wanted.len();
    if score < NEAR * count {
        return None;
    }
    let (first, last) = (at + 1, at + count);
    let place =
        if count == 1 { format!("line {first}") } else { format!("lines {first} to {last}") };
    let mut told = format!("Nearest to it is {place}:\n");
    for line in lines.iter().skip(at).take(count.min(LINES_MAX)) {
        told.extend(line.chars().take(LINE_MAX).chain(['\n']));
    }
    Some(told.trim_end().to_owned())
}

/// The most lines of a text that are compared.
const WANTED_MAX: usize = 40;

/// Returns how much of two lines is equal at both ends, in thousandths. O(n).
fn likeness(one: &str, other: &str) -> usize {
    if one == other {
        return 1000;
    }
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let alike = |pair: &(&u8, &u8)| pair.0 == pair.1;
    let prefix = one.iter().zip(other).take_while(alike).count();
    let (one_left, other_left) = (&one[prefix..], &other[prefix..]);
    let suffix = one_left.iter().rev().zip(other_left.iter().rev()).take_while(alike).count();
    1000 * (prefix + suffix) / one.len().max(other.len())
}
