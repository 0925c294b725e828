//! Tables of secrets and of other text, and the laws that hold for all text.

use proptest::prelude::*;
use proptest::sample::select;

use super::rules::{CALLS, KEYS, NAMED, OPTIONS, SHAPES};
use super::symbol::steps;
use super::values::REFERENCES;
use super::{MASK, masked};

/// Returns the cases of `tests.txt`.
fn cases() -> impl Iterator<Item = String> {
    let lines = include_str!("tests.txt").lines();
    let cases = lines.filter(|line| !line.is_empty() && !line.starts_with("## "));
    cases.map(|line| line.replace('␤', "\n"))
}

/// Asserts that the secrets between `‹` and `›`, and nothing else, are masked in `case`. Returns the masked text.
fn check(case: &str, name: &str) -> String {
    let text = case.replace(['‹', '›'], "");
    let parts = case.split(['‹', '›']).enumerate();
    let expected: String = parts.map(|(n, part)| if n % 2 == 1 { MASK } else { part }).collect();
    assert_eq!(masked(&text), expected, "{name}: {text}");
    expected
}

#[test]
fn the_secrets_of_each_case_are_masked_and_nothing_else() {
    let (secrets, innocent): (Vec<_>, Vec<_>) = cases().partition(|case| case.contains('‹'));
    assert_eq!((secrets.len(), innocent.len()), (283, 108));
    for case in secrets.iter().chain(&innocent) {
        let shown = check(case, "tests.txt");
        assert_eq!(masked(&shown), shown, "masked again");
    }
    // Characters that no editor shows, and no text at all.
    check("pass\u{200B}word: ‹hunter2›", "an invisible space");
    check("", "nothing");
}

#[test]
fn every_rule_finds_the_secret_of_its_example() {
    let commands = CALLS.iter().chain(OPTIONS).flat_map(|(_, rules)| *rules);
    for (name, _, example) in SHAPES.iter().chain(NAMED).chain(commands) {
        check(example, name);
    }
}

#[test]
fn every_key_of_a_service_is_found() {
    for (service, prefixes, min, class) in KEYS {
        let filler = if class(b'z') {
            "z"
        } else if class(b'Q') {
            "Q"
        } else {
            "7"
        };
        for prefix in *prefixes {
            let key = format!(
                "{prefix}{}",
                filler.repeat((*min).max(13_usize.saturating_sub(prefix.len())))
            );
            assert_eq!(masked(&format!("see {key} here")), format!("see {MASK} here"), "{service}");
        }
    }
}

#[test]
fn no_reference_to_a_secret_is_masked() {
    for (open, close, is, example) in REFERENCES {
        let name = example.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        assert!(name.is_some_and(is), "{example}");
        let text = format!("password: \"{example}\"");
        assert_eq!(masked(&text), text);
    }
}

/// Places for a secret that may be any text in quotation marks. They are JSON strings at `@`.
const QUOTED: &[&str] = &[
    r#"{"password":@}"#,
    r#"{"a":1, "api_key" : @, "b":2}"#,
    r#"{"x":{"clientSecret":@}}"#,
    r#"{"headers":{"Authorization":@,"Accept":"*/*"}}"#,
    r#"{"Cookie":@}"#,
    r#"{"tokens":[@]}"#,
    r#"{"name":"DB_PASSWORD","value":@}"#,
    r#"["tool","--password",@]"#,
    "export PASSWORD=@ && run",
    "tool --token @ --verbose",
    "client(password=@, x=1)",
    r#"config["password"] = @"#,
    "password: @",
];

/// Places for a secret that is a word.
const WORDS: &[&str] = &texts![
    "PASSWORD=@" "export DB_PASS=@ && run" "tool --password @" "tool --token=@ x"
    "mysql -uroot -p@ db" "curl -u me:@ https://h" "redis://:@@h" "https://me:@@h/x"
    "https://h/?a=1&token=@&b=2" "password: @" "wrong password: @" "Authorization: ApiKey @"
    "Cookie: sid=@; a=b" "machine h login me password @" "<password>@</password>"
    "Server=h;Password=@;Port=1" "db.password = @"
];

/// A secret of two halves, neither of which may be seen.
fn halves(between: &'static str) -> impl Strategy<Value = (String, String, String)> {
    let half = || "[A-Z][0-9][A-Za-z0-9]{6,12}";
    (half(), between, half())
}

/// Returns `text` as a string of JSON, in as many strings of JSON as `depth` says.
fn quoted(text: &str, depth: usize) -> String {
    (0..depth).fold(text.to_owned(), |text, _| serde_json::to_string(&text).expect("a string"))
}

/// Pieces of text that begin a secret, or what only seems to be one.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "password", "token", "key", "auth", "pass", "=", ":", ": ", " ", "\"", "\\\"", "\\\\\\\"", "'", "`", "“", ",", ";", "&",
    "{", "}", "[", "]", "(", ")", "<", ">", "</", "\n", "\\n", "\n  ", "|", "|\n  ", "--", "-p ", "-u ", "curl ", "mysql ", "login ",
    "://", "@", "/", "a:b", "eyJ", "sk-", "ghp_", "bearer ", "basic ", "-----BEGIN PRIVATE KEY-----", "-----END ", "%22",
    "%3D", "&quot;", "\\u0022", "\\u003d", "\\", "x", "7", "A9", "name", "value", "echo ", "<<<", "is ", "for ", "$", "${",
    "Authorization", "Cookie", "!tag ", "é", "\u{200B}", "\"name\":\"password\"", "a(", "Option<String>",
    "password (", "<password> ", "api-token ", "password != \"", "self.token = token", "Bearer \" + \"", "auth: {", "send \"", "mkpasswd ", "curl -su ", "echo a ", "sk-", "is \"",
];

proptest! {
    #[test]
    fn a_quoted_secret_is_never_shown(
        place in select(QUOTED),
        (one, between, other) in halves(".{0,6}"),
        depth in 0..3_usize,
    ) {
        let secret = quoted(&format!("{one}{between}{other}"), 1);
        let text = quoted(&place.replace('@', &secret), depth);
        let shown = masked(&text);
        prop_assert!(!shown.contains(&one) && !shown.contains(&other), "{}\n{}", text, shown);
    }

    #[test]
    fn a_word_that_is_a_secret_is_never_shown(
        place in select(WORDS),
        (one, between, other) in halves("[.,;:!?*+^~_/-]{0,2}"),
        depth in 0..3_usize,
    ) {
        // A user and a password end at a bracket or a mark of the place.
        let secret = format!("{one}{between}{other}");
        let text = quoted(&place.replacen('@', &secret, 1), depth);
        let shown = masked(&text);
        prop_assert!(!shown.contains(&one) && !shown.contains(&other), "{}\n{}", text, shown);
    }

    #[test]
    fn any_text_is_scanned(text in "(?s).{0,200}", pieces in prop::collection::vec(select(PIECES), 0..30)) {
        for text in [text, pieces.concat()] {
            let shown = masked(&text);
            // The rest stays, in its order.
            let mut place = 0;
            for part in shown.split(MASK) {
                let found = text[place..].find(part);
                prop_assert!(found.is_some(), "{}\n{}", text, shown);
                place += found.unwrap_or(0) + part.len();
            }
        }
    }

    #[test]
    fn twice_the_text_takes_twice_the_steps(pieces in prop::collection::vec(select(PIECES), 1..6)) {
        let piece = pieces.concat();
        let times = 6000 / piece.len();
        let taken = |times: usize| {
            let text = piece.repeat(times);
            steps(|| drop(masked(&text).into_owned()))
        };
        let (once, twice) = (taken(times), taken(2 * times));
        prop_assert!(twice <= 3 * once + 10_000, "{}: {} and {}", piece, once, twice);
    }
}
