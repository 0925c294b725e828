//! The words by which answers are read: a module for each idea, whose lists stand in a file of TOML.
//!
//! To add a word, put it into the list of its idea in `words/`: in lower case, with a space where a word has to begin or
//! to end. The filters that most texts fail are made of the lists, so no list and its filter can disagree.

use crate::grams::Grams;
use crate::list::List;
use crate::phrases::Phrases;

/// The list of this name in the `FILE` of the module.
macro_rules! words {
    ($name:ident) => {{
        const COUNT: usize = $crate::words::count(FILE, stringify!($name));
        const WORDS: &[&str] = &$crate::words::read::<COUNT>(FILE, stringify!($name));
        WORDS
    }};
}
pub(crate) use words;

/// The list of this name in the `FILE` of the module, as [`Phrases`].
macro_rules! phrases {
    ($name:ident) => {{
        const TEXTS: &[&str] = words!($name);
        const RAREST: &[u8] = &crate::phrases::rarest::<{ TEXTS.len() }>(TEXTS);
        Phrases::new(TEXTS, RAREST)
    }};
}

/// Returns the text behind the bracket that opens the list `name` in `file`.
const fn list<'f>(file: &'f str, name: &str) -> &'f str {
    let mut rest = file;
    loop {
        let (mut end, bytes) = (0, rest.as_bytes());
        while end < name.len() && bytes[end] == name.as_bytes()[end] {
            end += 1;
        }
        if end == name.len() && bytes[end] == b' ' {
            return rest.split_at(end + " = [".len()).1;
        }
        while bytes[end] != b'\n' {
            end += 1;
        }
        rest = rest.split_at(end + 1).1;
    }
}

/// Splits the words that are left of a list behind its next one. Words stand in quotes, and have no escapes.
const fn next(list: &str) -> Option<(&str, &str)> {
    let (bytes, mut at) = (list.as_bytes(), 0);
    while !matches!(bytes[at], b'"' | b'\'') {
        if bytes[at] == b']' {
            return None;
        }
        at += 1;
    }
    let (quote, mut end) = (bytes[at], at + 1);
    while bytes[end] != quote {
        assert!(bytes[end] != b'\\', "a word with an escape");
        end += 1;
    }
    let (quoted, rest) = list.split_at(end);
    Some((quoted.split_at(at + 1).1, rest.split_at(1).1))
}

/// Returns the number of words in the list `name` of `file`.
pub(crate) const fn count(file: &str, name: &str) -> usize {
    let (mut list, mut count) = (list(file, name), 0);
    while let Some((_, rest)) = next(list) {
        (list, count) = (rest, count + 1);
    }
    count
}

/// Returns the `N` words in the list `name` of `file`.
pub(crate) const fn read<const N: usize>(file: &'static str, name: &str) -> [&'static str; N] {
    let (mut list, mut words, mut n) = (list(file, name), [""; N], 0);
    while let Some((word, rest)) = next(list) {
        words[n] = word;
        (list, n) = (rest, n + 1);
    }
    assert!(n == N, "another number of words");
    words
}

pub(crate) mod complaint {
    use super::{Grams, List, Phrases};

    const FILE: &str = include_str!("words/complaint.toml");

    pub(crate) const LABELS: &[&str] = words!(LABELS);
    pub(crate) const AGENTS: &[&str] = words!(AGENTS);
    pub(crate) static GOOD_ENDS: Phrases = phrases!(GOOD_ENDS);
    pub(crate) const SHELLS: &[&str] = words!(SHELLS);
    pub(crate) const REASONS: &[&str] = words!(REASONS);
    pub(crate) const MESSAGES: &[&str] = words!(MESSAGES);
    pub(crate) static OPENINGS: Phrases = phrases!(OPENINGS);
    pub(crate) static ADJECTIVES: Phrases = phrases!(ADJECTIVES);
    pub(crate) static UNKNOWN: List = List::new(words!(UNKNOWN));
    pub(crate) static ENDINGS: Phrases = phrases!(ENDINGS);
    pub(crate) static INSIDE: Phrases = phrases!(INSIDE);
    pub(crate) static SAME: Phrases = phrases!(SAME);
    pub(crate) static HTTP_REASONS: Phrases = phrases!(HTTP_REASONS);
    pub(crate) static HTTP_LABELS: Phrases = phrases!(HTTP_LABELS);

    /// Letters of which each phrase has some that may stand anywhere in a sentence.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[
            b"foun", b"does", b"reco", b"appe", b"vali", b"requ", b"repo", b"iden", b"exac",
            b"tatu", b"ttp ",
        ],
        &[INSIDE.all(), SAME.all(), HTTP_LABELS.all()],
    );

    pub(crate) static CODE: Phrases = phrases!(CODE);
    pub(crate) static QUESTIONS: Phrases = phrases!(QUESTIONS);
    pub(crate) static GENERIC: List = List::new(words!(GENERIC));
    pub(crate) static SUMMARIES: Phrases = phrases!(SUMMARIES);

    /// Letters of which each of these phrases has some.
    pub(crate) static SUMS: Grams = Grams::of(
        &[b"reco", b"comp", b"abor", b"non-", b"more", b"exit", b"d wi"],
        &[SUMMARIES.all()],
    );

    pub(crate) static CONTENTLESS: List = List::new(words!(CONTENTLESS));
    pub(crate) static ABSENT: Phrases = phrases!(ABSENT);
    pub(crate) static EXISTING: Phrases = phrases!(EXISTING);
    pub(crate) static REPEATING: Phrases = phrases!(REPEATING);
    pub(crate) static REPEATED: Phrases = phrases!(REPEATED);

    /// Letters of which each of these phrases has some.
    pub(crate) static REPEATS: Grams = Grams::of(
        &[b"unkn", b"reco", b"inva", b"such", b"see ", b"t kn", b"ders", b"vali", b"t a "],
        &[REPEATING.all(), REPEATED.all()],
    );

    pub(crate) const MISSING: &[&str] = words!(MISSING);
}

pub(crate) mod refusal {
    use super::{Grams, Phrases};

    const FILE: &str = include_str!("words/refusal.toml");

    pub(crate) static OPENINGS: Phrases = phrases!(OPENINGS);
    pub(crate) static PHRASES: Phrases = phrases!(PHRASES);
    pub(crate) static UNPERMITTED: Phrases = phrases!(UNPERMITTED);

    /// Letters of which each phrase has some.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[b"ecte", b"deni", b"bloc", b"requ", b"t gr", b"s ap"],
        &[PHRASES.all(), UNPERMITTED.all()],
    );

    pub(crate) static BY_USER: Phrases = phrases!(BY_USER);
    pub(crate) static SUBJECTS: Phrases = phrases!(SUBJECTS);
}

pub(crate) mod timeout {
    use super::{Grams, List, Phrases};

    const FILE: &str = include_str!("words/timeout.toml");

    pub(crate) static OVER: Phrases = phrases!(OVER);
    pub(crate) static SUBJECTS: List = List::new(words!(SUBJECTS));
    pub(crate) static TIMEOUT: Phrases = phrases!(TIMEOUT);
    pub(crate) static FOLLOWERS: List = List::new(words!(FOLLOWERS));

    /// Letters of which each word for a time-out has some.
    pub(crate) static TRIGGERS: Grams =
        Grams::of(&[b"time", b"dead"], &[OVER.all(), TIMEOUT.all()]);

    pub(crate) static GOES_ON: Phrases = phrases!(GOES_ON);
}

pub(crate) mod transient {
    use super::{Grams, Phrases};

    const FILE: &str = include_str!("words/transient.toml");

    pub(crate) static PHRASES: Phrases = phrases!(PHRASES);

    /// Four letters of each of [`PHRASES`].
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[
            b" 429", b" 503", b"rate", b"many", b"over", b"avai", b"agai", b"etry", b"gate",
            b"conn", b"temp", b"busy", b"lock", b"acqu", b"anot", b"netw",
        ],
        &[PHRASES.all()],
    );
}

pub(crate) mod waiting {
    use super::{Grams, List, Phrases};

    const FILE: &str = include_str!("words/waiting.toml");

    pub(crate) static NAMES: List = List::new(words!(NAMES));
    pub(crate) static ENDS: List = List::new(words!(ENDS));
    pub(crate) static STATES: List = List::new(words!(STATES));
    pub(crate) static FILLERS: List = List::new(words!(FILLERS));
    pub(crate) static GOALS: List = List::new(words!(GOALS));
    pub(crate) static DENIALS: List = List::new(words!(DENIALS));
    pub(crate) static PHRASES: Phrases = phrases!(PHRASES);
    pub(crate) static TO_COME: Phrases = phrases!(TO_COME);
    pub(crate) static PROGRESS: Phrases = phrases!(PROGRESS);
    pub(crate) static WAITS: Phrases = phrases!(WAITS);

    /// Letters of which each sentence about a running job has some.
    pub(crate) static TRIGGERS: Grams = Grams::of(
        &[b"stil", b"wait", b"prog", b"not ", b"asn'", b"back"],
        &[PHRASES.all(), TO_COME.all(), WAITS.all()],
    );

    pub(crate) static OF: Phrases = phrases!(OF);
    pub(crate) static ETA: Phrases = phrases!(ETA);
    pub(crate) static OVER: Phrases = phrases!(OVER);
    pub(crate) static DOUBTS: Phrases = phrases!(DOUBTS);
    pub(crate) static FAILURES: List = List::new(words!(FAILURES));
    pub(crate) static COLUMNS: List = List::new(words!(COLUMNS));

    /// Letters of which each name of a state and each state in a column has some.
    pub(crate) static TRIGGERS_OF_STATES: Grams = Grams::of(
        &[
            b"stat", b"phas", b"stag", b"conc", b"rogr", b"pend", b"queu", b"prov", b"aiti",
            b"ercr", b"podi",
        ],
        &[COLUMNS.all(), NAMES.all()],
    );
}

pub(crate) mod nothing {
    use super::{List, Phrases};

    const FILE: &str = include_str!("words/nothing.toml");

    pub(crate) const CONFIRMATIONS: &[&str] = words!(CONFIRMATIONS);
    pub(crate) static LISTS: List = List::new(words!(LISTS));
    pub(crate) static COUNTS: List = List::new(words!(COUNTS));
    pub(crate) static THINGS: List = List::new(words!(THINGS));
    pub(crate) static FLAWS: List = List::new(words!(FLAWS));
    pub(crate) static SENTENCES: Phrases = phrases!(SENTENCES);
    pub(crate) static PHRASES: Phrases = phrases!(PHRASES);
}

pub(crate) mod silence {
    use super::List;

    const FILE: &str = include_str!("words/silence.toml");

    pub(crate) const SILENT: &[&str] = words!(SILENT);
    pub(crate) const EXIT_CODES: &[&str] = words!(EXIT_CODES);
    pub(crate) const HEADINGS: &[&str] = words!(HEADINGS);
    pub(crate) static PHRASE: List = List::new(words!(PHRASE));
    pub(crate) static GONE: List = List::new(words!(GONE));
    pub(crate) static HISTORY: List = List::new(words!(HISTORY));
}

pub(crate) mod status {
    use super::List;

    const FILE: &str = include_str!("words/status.toml");

    pub(crate) const NAMES: &[&str] = words!(NAMES);
    pub(crate) const DEEDS: [&str; 7] = super::read(FILE, "DEEDS");
    pub(crate) static ERRORS: List = List::new(words!(ERRORS));
    pub(crate) static SUCCESSES: List = List::new(words!(SUCCESSES));
    pub(crate) static FAILURES: List = List::new(words!(FAILURES));
    pub(crate) static STATUSES: List = List::new(words!(STATUSES));
    pub(crate) static EXITS: List = List::new(words!(EXITS));
    pub(crate) const MESSAGES: &[&str] = words!(MESSAGES);
}

pub(crate) mod cause {
    use super::{List, Phrases};

    const FILE: &str = include_str!("words/cause.toml");

    pub(crate) const KINDS: &[&str] = words!(KINDS);
    pub(crate) static TEXT_REPEATED: Phrases = phrases!(TEXT_REPEATED);
    pub(crate) static TEXT_MISSING: Phrases = phrases!(TEXT_MISSING);
    pub(crate) static FILE_CHANGED: Phrases = phrases!(FILE_CHANGED);
    pub(crate) static FILE_UNREAD: Phrases = phrases!(FILE_UNREAD);
    pub(crate) static EDIT_EMPTY: Phrases = phrases!(EDIT_EMPTY);
    pub(crate) static FOLDER_WRONG: Phrases = phrases!(FOLDER_WRONG);
    pub(crate) static NAME_FOLLOWS: Phrases = phrases!(NAME_FOLLOWS);
    pub(crate) static NAME_OPENS: Phrases = phrases!(NAME_OPENS);
    pub(crate) static SYNTAX_WRONG: Phrases = phrases!(SYNTAX_WRONG);
    pub(crate) static TIMED_OUT: Phrases = phrases!(TIMED_OUT);
    pub(crate) static PACKAGE_MISSING: Phrases = phrases!(PACKAGE_MISSING);
    pub(crate) static PROGRAM_FOLLOWS: Phrases = phrases!(PROGRAM_FOLLOWS);
    pub(crate) static PROGRAM_PRECEDES: Phrases = phrases!(PROGRAM_PRECEDES);
    pub(crate) static PORT_HELD: Phrases = phrases!(PORT_HELD);
    pub(crate) static PERMISSION_FOLLOWS: Phrases = phrases!(PERMISSION_FOLLOWS);
    pub(crate) static PERMISSION_PRECEDES: Phrases = phrases!(PERMISSION_PRECEDES);
    pub(crate) static LOGIN_REFUSED: Phrases = phrases!(LOGIN_REFUSED);
    pub(crate) static RATE_LIMIT: Phrases = phrases!(RATE_LIMIT);
    pub(crate) static WAITS: Phrases = phrases!(WAITS);
    pub(crate) static UNITS: List = List::new(words!(UNITS));
    pub(crate) static HOST_FOLLOWS: Phrases = phrases!(HOST_FOLLOWS);
    pub(crate) static HOST_UNTOLD: Phrases = phrases!(HOST_UNTOLD);
    pub(crate) static ARGUMENT_FOLLOWS: Phrases = phrases!(ARGUMENT_FOLLOWS);
    pub(crate) static ARGUMENT_PRECEDES: Phrases = phrases!(ARGUMENT_PRECEDES);
    pub(crate) static OPTION_PRECEDES: Phrases = phrases!(OPTION_PRECEDES);
    pub(crate) static PATH_FOLLOWS: Phrases = phrases!(PATH_FOLLOWS);
    pub(crate) static PATH_UNTOLD: Phrases = phrases!(PATH_UNTOLD);
    pub(crate) static PATH_PRECEDES: Phrases = phrases!(PATH_PRECEDES);
}

pub(crate) mod report {
    use super::Grams;

    /// Keywords that occur in every result with a report in its middle. The few reports without a
    /// keyword show in their first line.
    pub(crate) static ANY: Grams = Grams::new(&[
        b"pass", b"fail", b"erro", b"skip", b"test", b"dese", b"warn", b"reru", b"exit", b"pani",
        b"bail", b"trac", b"code", b"stat", b"*ok ", b"dint", b"t ok",
    ]);

    /// Keywords that occur in every line that a reader knows. A few lines are known by their first
    /// letters instead.
    pub(crate) static LINES: Grams = Grams::new(&[
        b"pass", b"fail", b"erro", b"skip", b"test", b"dese", b"warn", b"reru", b"exit", b"pani",
        b"bail", b"trac",
    ]);
}

#[cfg(test)]
mod tests {
    use std::fs;

    /// A list that nothing reads has no effect, whatever is added to it.
    #[test]
    fn every_list_of_a_file_is_read() {
        let source = concat!(
            include_str!("words.rs"),
            include_str!("names.rs"),
            include_str!("command.rs"),
            include_str!("command/effect.rs"),
            include_str!("mask.rs"),
            include_str!("mask/word_end.rs"),
            include_str!("mask/elapsed.rs"),
            include_str!("mask/cost.rs"),
            include_str!("mask/id.rs"),
            include_str!("mask/trim.rs"),
        );
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/words");
        for file in fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file")) {
            let text = fs::read_to_string(file.path()).expect("a text");
            let name = format!("words/{}\")", file.file_name().display());
            let (_, rest) = source.split_once(&name).expect("a reader");
            let reader = rest.split("include_str!(\"words/").next().expect("a part");
            for (list, _) in text.lines().filter_map(|line| line.split_once(" = [")) {
                let is_read = [
                    format!("words!({list})"),
                    format!("phrases!({list})"),
                    format!("FILE, \"{list}\""),
                ]
                .iter()
                .any(|reads| reader.contains(reads));
                assert!(is_read, "{list} of {name}");
            }
        }
    }
}
