//! The words by which answers are read: a module for each idea, whose lists stand in a file of TOML.
//!
//! To add a word, put it into the list of its idea in `words/`: in lower case, with a space where a word has to begin or
//! to end. A filter is made from its list, or checked against it, so a word that
//! its filter would miss does not compile.

use crate::grams::{FewGrams, Grams};
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

/// Declares the lists of a file by their names: slices, lists for look-ups, and phrases.
macro_rules! lists {
    ($file:literal: $($kind:ident [$($name:ident)+])+) => {
        const FILE: &str = include_str!($file);
        $($($crate::words::declared!($kind $name);)+)+
    };
}
pub(crate) use lists;

/// Declares a list in the `FILE` of the module.
macro_rules! declared {
    (Texts $name:ident) => {
        pub(crate) const $name: &[&str] = {
            // Texts of the file would keep all of the file.
            const TEXTS: &[&str] = $crate::words::words!($name);
            &$crate::list::packed!(TEXTS).texts::<{ TEXTS.len() }>()
        };
    };
    (List $name:ident) => {
        pub(crate) static $name: List =
            List::new($crate::list::packed!($crate::words::words!($name)));
    };
    (Phrases $name:ident) => {
        pub(crate) static $name: Phrases = {
            const TEXTS: &[&str] = $crate::words::words!($name);
            const RAREST: &[u8] = &$crate::phrases::rarest::<{ TEXTS.len() }>(TEXTS);
            Phrases::new($crate::list::packed!(TEXTS), RAREST)
        };
    };
}
pub(crate) use declared;

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
        assert!(bytes[at] != b'#', "a comment inside of a list");
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
    use super::{FewGrams, List, Phrases};

    lists! { "words/complaint.toml":
        Texts [LABELS AGENTS SHELLS REASONS MESSAGES MISSING]
        List [UNKNOWN GENERIC CONTENTLESS]
        Phrases [GOOD_ENDS OPENINGS ADJECTIVES ENDINGS INSIDE SAME HTTP_REASONS HTTP_LABELS CODE
            QUESTIONS SUMMARIES ABSENT EXISTING REPEATING REPEATED]
    }

    /// Letters of which each phrase has some that may stand anywhere in a sentence.
    pub(crate) static TRIGGERS: FewGrams = FewGrams::of(
        &[
            b"foun", b"does", b"reco", b"appe", b"vali", b"requ", b"repo", b"iden", b"exac",
            b"tatu", b"ttp ",
        ],
        &[INSIDE.all(), SAME.all(), HTTP_LABELS.all()],
    );

    /// Letters of which each of these phrases has some.
    pub(crate) static SUMS: FewGrams = FewGrams::of(
        &[b"reco", b"comp", b"abor", b"non-", b"more", b"exit", b"d wi"],
        &[SUMMARIES.all()],
    );

    /// Letters of which each of these phrases has some.
    pub(crate) static REPEATS: FewGrams = FewGrams::of(
        &[b"unkn", b"reco", b"inva", b"such", b"see ", b"t kn", b"ders", b"vali", b"t a "],
        &[REPEATING.all(), REPEATED.all()],
    );
}

pub(crate) mod refusal {
    use super::{FewGrams, Phrases};

    lists! { "words/refusal.toml":
        Phrases [OPENINGS PHRASES UNPERMITTED BY_USER SUBJECTS]
    }

    /// Letters of which each phrase has some.
    pub(crate) static TRIGGERS: FewGrams = FewGrams::of(
        &[b"ecte", b"deni", b"bloc", b"requ", b"t gr", b"s ap"],
        &[PHRASES.all(), UNPERMITTED.all()],
    );
}

pub(crate) mod timeout {
    use super::{FewGrams, List, Phrases};

    lists! { "words/timeout.toml":
        List [SUBJECTS FOLLOWERS]
        Phrases [OVER TIMEOUT GOES_ON]
    }

    /// Letters of which each word for a time-out has some.
    pub(crate) static TRIGGERS: FewGrams =
        FewGrams::of(&[b"time", b"dead"], &[OVER.all(), TIMEOUT.all()]);
}

pub(crate) mod transient {
    use super::{Grams, Phrases};

    lists! { "words/transient.toml":
        Phrases [PHRASES]
    }

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
    use super::{FewGrams, List, Phrases};

    lists! { "words/waiting.toml":
        List [NAMES ENDS STATES FILLERS GOALS DENIALS FAILURES COLUMNS]
        Phrases [PHRASES TO_COME PROGRESS WAITS OF ETA OVER DOUBTS]
    }

    /// Letters of which each sentence about a running job has some.
    pub(crate) static TRIGGERS: FewGrams = FewGrams::of(
        &[b"stil", b"wait", b"prog", b"not ", b"asn'", b"back"],
        &[PHRASES.all(), TO_COME.all(), WAITS.all()],
    );

    /// Letters of which each name of a state and each state in a column has some.
    pub(crate) static TRIGGERS_OF_STATES: FewGrams = FewGrams::of(
        &[
            b"stat", b"phas", b"stag", b"conc", b"rogr", b"pend", b"queu", b"prov", b"aiti",
            b"ercr", b"podi",
        ],
        &[COLUMNS.all(), NAMES.all()],
    );
}

pub(crate) mod nothing {
    use super::{List, Phrases};

    lists! { "words/nothing.toml":
        Texts [CONFIRMATIONS]
        List [LISTS COUNTS THINGS FLAWS]
        Phrases [SENTENCES PHRASES]
    }
}

pub(crate) mod silence {
    use super::List;

    lists! { "words/silence.toml":
        Texts [SILENT EXIT_CODES HEADINGS]
        List [PHRASE GONE HISTORY]
    }
}

pub(crate) mod status {
    use super::List;

    lists! { "words/status.toml":
        Texts [NAMES MESSAGES DEEDS]
        List [ERRORS SUCCESSES FAILURES STATUSES EXITS]
    }
}

pub(crate) mod cause {
    use super::{List, Phrases};

    lists! { "words/cause.toml":
        Texts [KINDS]
        List [UNITS]
        Phrases [TEXT_REPEATED TEXT_MISSING FILE_CHANGED FILE_UNREAD EDIT_EMPTY FOLDER_WRONG
            NAME_FOLLOWS NAME_OPENS SYNTAX_WRONG TIMED_OUT PACKAGE_MISSING PROGRAM_FOLLOWS
            PROGRAM_PRECEDES PORT_HELD PERMISSION_FOLLOWS PERMISSION_PRECEDES LOGIN_REFUSED
            RATE_LIMIT WAITS HOST_FOLLOWS HOST_UNTOLD ARGUMENT_FOLLOWS ARGUMENT_PRECEDES
            OPTION_PRECEDES PATH_FOLLOWS PATH_UNTOLD PATH_PRECEDES]
    }
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
            include_str!("command/effect.rs"),
            include_str!("mask/kind.rs"),
            include_str!("likeness.rs"),
        );
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/words");
        for file in fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file")) {
            let text = fs::read_to_string(file.path()).expect("a text");
            let name = format!("words/{}\"", file.file_name().display());
            let (_, rest) = source.split_once(&name).expect("a reader");
            let reader = rest.split("words/").next().expect("a part");
            for (list, _) in text.lines().filter_map(|line| line.split_once(" = [")) {
                let mut names = reader.split(|c: char| !c.is_ascii_uppercase() && c != '_');
                let is_read = names.any(|name| name == list);
                assert!(is_read, "{list} of {name}");
            }
        }
    }
}
