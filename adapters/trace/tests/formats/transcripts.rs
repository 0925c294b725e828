//! Transcripts of each format and what is read from them: one small case for each trap that real files set.
//!
//! A file begins with its title. A case has its name behind `====`, a transcript, a line `----`, and up to an empty
//! line what is read from it: the events, the problems behind `!`, and a summary behind `=`. `⏎` is a line break in a
//! text. Behind `---- or` stands a transcript that is read alike. More cases of the same name may follow. A format in
//! brackets behind the name is named by the caller, and otherwise the transcript is recognised. `⟪a№×9⟫` stands for nine
//! times `a`, each with its number from 0, and `⟪a№×2..9⟫` for those from 2 on.
//!
//! With `UNSTUCK_GOLDEN=write` in the environment, what is read is written anew; review the difference.

use std::borrow::Cow;
use std::path::Path;
use std::{env, fs};

use crate::reading::reading;
use unstuck_trace::Format;

/// One case of a file.
struct Case<'a> {
    /// The name with the transcripts, as in the file.
    text: &'a str,
    name: &'a str,
    transcripts: &'a str,
    expected: &'a str,
}

impl Case<'_> {
    /// Returns each transcript with what is read from it. One that is recognised is read again with its format's name.
    fn found(&self) -> Vec<(&str, String)> {
        let named = self.name.strip_suffix(']').and_then(|name| name.rsplit_once(" ["));
        let named: Option<Format> = named.map(|(_, format)| format.parse().expect("a format"));
        let mut found = Vec::new();
        for transcript in self.transcripts.split("\n---- or\n") {
            let whole = repeated(transcript);
            let first = reading(whole.as_bytes(), named);
            found.push((transcript, first.lines().join("\n")));
            if let (None, Ok(trace)) = (named, &first.end) {
                let again = reading(whole.as_bytes(), Some(trace.format));
                found.push((transcript, again.lines().join("\n")));
            }
        }
        found
    }
}

/// Returns a text with its repetitions written out.
fn repeated(text: &str) -> Cow<'_, str> {
    let mut parts = text.split('⟪');
    let mut whole = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        let (repetition, rest) = part.split_once('⟫').expect("an end");
        let (text, times) = repetition.rsplit_once('×').expect("a number of times");
        let (begin, end) = times.split_once("..").unwrap_or(("0", times));
        let [begin, end] = [begin, end].map(|number| number.parse::<usize>().expect("a number"));
        let whole = whole.to_mut();
        if text.contains('№') {
            whole.extend((begin..end).map(|at| text.replace('№', &at.to_string())));
        } else {
            whole.push_str(&text.repeat(end - begin));
        }
        whole.push_str(rest);
    }
    whole
}

/// Returns the cases of a file.
fn cases(text: &str) -> Vec<Case<'_>> {
    let mut name = "";
    let parts = text.trim_end().split("\n----\n");
    let ends = parts.clone().skip(1);
    let cases = parts.zip(ends).map(|(before, behind)| {
        let (_, text) = before.split_once("\n\n").expect("an empty line before a case");
        let titled = text.strip_prefix("==== ").and_then(|text| text.split_once('\n'));
        let transcripts = titled.map_or(text, |(title, transcripts)| {
            name = title;
            transcripts
        });
        let expected = behind.split_once("\n\n").map_or(behind, |(expected, _)| expected);
        Case { text, name, transcripts, expected }
    });
    cases.collect()
}

#[test]
fn transcripts_are_read_as_their_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/transcripts");
    let writes = env::var_os("UNSTUCK_GOLDEN").is_some_and(|word| word == "write");
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a file of cases");
        let mut written = vec![text.lines().next().expect("a title").to_owned()];
        for case in cases(&text) {
            let (found, expected) = (case.found(), repeated(case.expected));
            for (transcript, found) in &found {
                if *found != expected {
                    let (file, Case { name, expected, .. }) = (path.display(), &case);
                    wrong.push(format!(
                        "{file}: {name}\n{transcript}\n----\n{expected}\nbut found\n{found}\n"
                    ));
                }
            }
            let read = Some(&*found[0].1).filter(|found| **found != expected);
            written.push(format!("{}\n----\n{}", case.text, read.unwrap_or(case.expected)));
            count += found.len();
        }
        if writes {
            fs::write(&path, written.join("\n\n") + "\n").expect("a file that can be written");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 600, "only {count} readings");
}
