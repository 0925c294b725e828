//! Tells the names of secrets from other names, and finds members whose secret is named by a member beside them.

use std::borrow::Cow;
use std::ops::Range;

use super::pattern::Part::{self, Ahead, Lines, Not, Run, Secret, Spaces, Text, Value};
use super::pattern::{AHEAD, Class, DOTTED, MARKS, Place, SIGN, WORD};
use super::symbol::{Symbol, next};
use super::values::Form;

/// The kind of secret that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A password or the like. Every value is a secret.
    Strong,
    /// A token. Programs also have tokens that are words, and count them.
    Token,
    /// A word with other meanings, for example `pass`. Short and common values are none.
    Weak,
    /// A key, which is a secret if it looks random.
    Key,
    /// A header with credentials. Its value goes on to the end of the line.
    Header,
}

/// A name: letters, digits, and what joins them.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) span: Range<usize>,
    /// The words of the name in lower case, with a space after each.
    words: String,
    /// The symbol before the name.
    pub(super) previous: Option<Symbol>,
    /// The name is a command-line option.
    pub(super) is_option: bool,
    /// A quotation mark is after the name.
    pub(super) is_quoted: bool,
    /// The columns before the name, if it is the first one on its line.
    pub(super) indent: Option<usize>,
}

/// The most words of a name that matter.
const WORDS_MAX: usize = 8;

/// The longest indentation, in bytes.
const INDENT_MAX: usize = 200;

/// Words for a password. A word that ends with one of them is also one.
const STRONG: &[&str] = &texts![
    "password" "passwords" "passwd" "passphrase" "passcode" "passwort" "kennwort" "contraseña"
    "contrasena" "senha" "secret" "secrets" "apikey" "apikeys" "secretkey" "accesskey" "privatekey"
    "pswd" "credential"
];

/// The length of the shortest word for a password.
const SHORTEST: usize = 3;

/// Words for a password that must stand alone.
const STRONG_ALONE: &[&str] = &texts![
    "credentials" "creds" "userpwd" "dbpwd" "mnemonic" "motdepasse" "пароль" "密码" "密碼" "口令" "パスワード"
    "비밀번호" "psk" "totp" "cvv" "cvc"
];

/// Last words for a password or a key, with the words before them.
const PAIRS: &[(&str, &[&str])] = &[
    (
        "key",
        &texts![
            "api" "access" "secret" "private" "encryption" "signing" "master" "account" "auth"
            "session" "shared" "storage" "service" "subscription" "functions" "host" "app"
            "application" "consumer" "deploy" "license" "recovery"
        ],
    ),
    ("keys", &["api"]),
    ("code", &["recovery", "verification", "otp", "mfa", "2fa"]),
    ("codes", &["recovery", "backup"]),
    ("phrase", &["seed", "recovery", "pass"]),
    ("word", &["pass"]),
    ("wd", &["pass"]),
    ("passe", &["de"]),
    ("id", &["secret", "session"]),
    ("lines", &["private"]),
];

/// Words with other meanings, too.
const WEAK: &[&str] = &texts![
    "pass" "pwd" "pw" "psw" "passw" "auth" "sig" "signature" "sessionid" "sid" "pin" "otp" "oldpwd"
    "jwt" "sas" "passin" "passout" "bearer" "tok" "tkn" "sshpass" "storepass" "keypass" "dbpass"
    "bindpw" "rootpw" "requirepass" "masterauth"
];

/// Words of names of keys that are no secrets.
const OPEN_KEYS: &[&str] = &texts![
    "public" "cache" "sort" "primary" "foreign" "partition" "row" "index" "object" "unique" "lookup"
    "translation" "i18n" "idempotency" "hot" "map" "pub"
];

/// Last words of names that are about a secret and do not hold it.
const ABOUT: &[&str] = &texts![
    "count" "counts" "counter" "type" "types" "url" "uri" "endpoint" "file" "filename" "path" "dir"
    "name" "names" "id" "ids" "length" "len" "size" "limit" "limits" "policy" "policies" "expiry"
    "expires" "expiration" "expired" "ttl" "age" "field" "fields" "input" "label" "hint" "prompt"
    "reset" "manager" "store" "provider" "helper" "strength" "min" "max" "required" "enabled"
    "disabled" "format" "regex" "pattern" "rule" "rules" "error" "errors" "message" "status" "index"
    "kind" "usage" "budget" "rate" "ratio" "cost" "ref" "arn" "version" "rotation" "stdin" "env"
    "command" "cmd" "docs" "tests" "spec" "schema" "model" "class" "service" "controller"
    "generator" "validator" "parser" "scanner" "at" "issuer" "audience" "scope" "scopes" "algorithm"
    "alg" "method" "mode" "exists" "valid" "invalid" "missing" "set" "changed" "updated" "created"
    "form" "page" "link" "button" "column"
];

/// The ends of the names of files.
const FILES: &[&str] = &[
    "txt", "rs", "py", "js", "mjs", "ts", "tsx", "jsx", "vue", "go", "java", "kt", "swift", "json",
    "jsonl", "yaml", "yml", "toml", "md", "rst", "html", "css", "c", "h", "cc", "cpp", "hpp", "cs",
    "rb", "php", "sh", "conf", "ini", "lock", "xml", "sql", "csv", "log",
];

/// Last words that say which secret it is.
const QUALIFIERS: &[&str] = &texts![
    "old" "new" "current" "confirm" "confirmation" "again" "repeat" "value" "val" "string" "str"
    "text" "raw" "plain" "plaintext" "prod" "production" "dev" "staging" "test" "live" "base64"
    "b64" "encoded" "default" "backup" "primary" "secondary" "ro" "rw" "read" "write" "admin" "root"
    "main" "data" "pem"
];

/// First words of the names of tokens of a language model or a parser.
const MODEL: &[&str] = &texts![
    "eos" "bos" "pad" "unk" "sep" "cls" "mask" "special" "stop" "start" "end" "lex" "peek" "max"
    "min" "num" "prompt" "completion"
];

impl Name {
    /// Reads a name at `at`, on the line that begins at `line`.
    pub(super) fn at(text: &str, at: usize, line: usize, previous: Option<Symbol>) -> Option<Self> {
        let begins = |symbol: &Symbol| symbol.c.is_alphanumeric() || symbol.c == '_';
        next(text, at).filter(begins)?;
        let (mut words, mut end, mut place) = (Words::default(), at, at);
        while let Some(symbol) = next(text, place) {
            match symbol.c {
                c if c.is_alphanumeric() => words.letter(c),
                '_' | '-' | '.' => words.end(),
                // It would hide the word from a reader of names, and not from a person.
                '\u{200B}'..='\u{200D}' | '\u{AD}' | '\u{FEFF}' | '\u{2060}' => {}
                _ => break,
            }
            place += symbol.len;
            if begins(&symbol) {
                end = place;
            }
        }
        words.end();
        let is_quoted = next(text, end).is_some_and(Symbol::quotes);
        let ahead = &text[..at];
        let bare = ahead.trim_end_matches('-');
        let is_option = bare.len() < at
            && at - bare.len() <= 2
            && !bare.chars().next_back().is_some_and(char::is_alphanumeric);
        let before = text.get(line..at).filter(|before| before.len() <= INDENT_MAX);
        let is_first = |before: &&str| before.chars().all(|c| " \t-\"'`{[(,\\*".contains(c));
        let begins_string = previous.filter(|symbol| symbol.quotes()).map(|_| 0);
        let indent = before.filter(is_first).map(str::len).or(begins_string);
        Some(Self { span: at..end, words: words.text, previous, is_option, is_quoted, indent })
    }

    /// Returns whether this name and `next` are two words of one phrase, for example "API key".
    pub(super) fn is_before(&self, next: &Self, text: &str) -> bool {
        text.get(self.span.end..next.span.start) == Some(" ")
    }

    /// Returns the words, the last one first.
    fn reversed(&self) -> impl Iterator<Item = &str> {
        self.words.trim_end().rsplit(' ').take(WORDS_MAX)
    }

    /// Returns the last word.
    fn last(&self) -> &str {
        self.reversed().next().unwrap_or_default()
    }

    /// Returns the words of the command or, after a sign, of the option of this name.
    pub(super) fn command(&self) -> Cow<'_, str> {
        let words = self.words.trim_end();
        if self.is_option { Cow::Owned(format!("-{words}")) } else { Cow::Borrowed(words) }
    }

    /// Returns whether this is a single word, and this one.
    pub(super) fn is(&self, word: &str) -> bool {
        self.words.strip_suffix(' ') == Some(word)
    }

    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }

    /// Returns whether a function with this name takes the secret, for example `setPassword`.
    pub(super) fn sets(&self) -> bool {
        self.is(self.last()) || self.reversed().any(|word| matches!(word, "set" | "with"))
    }

    /// Returns the kind of secret that the name stands for. The word `before` may be a part of it.
    pub(super) fn kind(&self, before: Option<&Self>) -> Option<Kind> {
        let is_phrase = |before: &Self| {
            self.is("by") && before.is("identified")
                || !self.is_option && is_pair(before.last(), self.words.trim_end())
        };
        if before.is_some_and(is_phrase) {
            return Some(Kind::Strong);
        }
        let (mut words, mut count) = ([""; WORDS_MAX], 0);
        for (place, word) in words.iter_mut().rev().zip(self.reversed()) {
            *place = word;
            count += 1;
        }
        kind_of(&words[WORDS_MAX - count..])
    }
}

pub(super) fn kind_of(words: &[&str]) -> Option<Kind> {
    let mut words = words;
    while let [rest @ .., last] = words
        && !rest.is_empty()
        && (QUALIFIERS.contains(last) || last.bytes().all(|byte| byte.is_ascii_digit()))
    {
        words = rest;
    }
    let [.., last] = words else { return None };
    if let [.., first, last] = words
        && is_pair(first, last)
    {
        return Some(Kind::Strong);
    }
    let is_alone = words.len() == 1;
    let bare = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let kind = match bare {
        _ if words.iter().any(|word| is_strong(word)) => Kind::Strong,
        "authorization" | "cookie" | "cookies" | "cookie2" => Kind::Header,
        "token" | "tokens" if MODEL.contains(&words[0]) => return None,
        bare if bare.ends_with("token") || bare == "tokens" => Kind::Token,
        bare if WEAK.contains(&bare) || bare.ends_with("pwd") && bare.len() > 3 => Kind::Weak,
        "key" | "keys" if is_any(OPEN_KEYS) => return None,
        "key" | "keys" | "sk" | "pat" | "salt" | "seed" | "license" => Kind::Key,
        _ => return None,
    };
    let is_about = !is_alone && (ABOUT.contains(last) || FILES.contains(last));
    (!is_about).then_some(kind)
}

fn is_pair(first: &str, last: &str) -> bool {
    PAIRS.iter().any(|(word, firsts)| *word == last && firsts.contains(&first))
}

pub(super) fn is_strong(word: &str) -> bool {
    if word.len() < SHORTEST {
        return false;
    }
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if matches!(word, "nopassword" | "nopasswd") {
        return false;
    }
    STRONG.iter().any(|strong| word.len() >= strong.len() && word.ends_with(strong))
        || STRONG_ALONE.contains(&word)
}

/// Splits a name into words.
#[derive(Default)]
pub(super) struct Words {
    /// The words, with a space after each.
    text: String,
    /// The characters of the last word.
    long: usize,
    /// The last letter was a small one or a digit, so that a capital one begins a word.
    was_small: bool,
}

impl Words {
    pub(super) fn of(text: &str) -> String {
        let mut words = Self::default();
        for c in text.chars() {
            if c.is_alphanumeric() {
                words.letter(c);
            } else {
                words.end();
            }
        }
        words.end();
        words.text
    }

    fn letter(&mut self, c: char) {
        let (is_small, is_large) = match c {
            '0'..='9' | 'a'..='z' => (c.is_ascii_lowercase(), false),
            c => (c.is_lowercase(), c.is_uppercase()),
        };
        if is_large && self.was_small {
            self.end();
        } else if is_small && !self.was_small && self.long > 1 {
            // The last of several capital letters begins a word: `APIKey`.
            if let Some(first) = self.text.pop() {
                self.end();
                self.text.push(first);
            }
        }
        self.was_small = !is_large;
        self.long += 1;
        if c.is_ascii() {
            self.text.push(c.to_ascii_lowercase());
        } else {
            self.text.extend(c.to_lowercase());
        }
    }

    fn end(&mut self) {
        self.was_small = false;
        self.long = 0;
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

/// Names of members whose value names the secret that a member beside it holds.
const LABELS: &[&str] = &texts![
    "name" "key" "field" "label" "id" "element" "selector" "placeholder" "target" "locator"
    "variable" "header" "param" "option" "env" "type"
];

/// Names of members that hold the secret.
const CONTENTS: &[&str] = &["value", "text", "content", "val", "input", "keys", "data"];

const QUOTED: Class = |byte| !MARKS(byte) && byte != b'\n';

/// The value of a member, in quotation marks or not.
const LABEL: [&[Part]; 2] = [
    &[
        Spaces(0),
        Run(SIGN, 1, 1),
        Spaces(0),
        Run(MARKS, 1, AHEAD),
        Secret,
        Run(QUOTED, 1, AHEAD),
        Ahead(Symbol::quotes),
    ],
    &[
        Spaces(0),
        Run(SIGN, 1, 1),
        Spaces(0),
        Secret,
        Run(DOTTED, 1, AHEAD),
        Not(MARKS),
        Ahead(Symbol::is_space),
    ],
];

/// The name of the next member, as a secret.
const OTHER: &[Part] = &[
    Spaces(0),
    Run(SIGN, 1, 1),
    Spaces(0),
    Run(MARKS, 1, AHEAD),
    Run(QUOTED, 0, AHEAD),
    Run(MARKS, 1, AHEAD),
    Text(","),
    Lines,
    Run(MARKS, 1, AHEAD),
    Secret,
    Run(WORD, 1, AHEAD),
];

/// The rest of an element behind its attribute: a quotation mark, `>`, and the secret.
const AFTER_TAG: &[Part] = &[Run(MARKS, 1, 1), Text(">"), Value(Form::Content)];

/// Returns whether a member of this name holds the secret.
pub(super) fn is_content(name: &Name) -> bool {
    name.is_any(CONTENTS)
}

/// Returns the place of the value of `name` if it says that a member beside it holds a secret.
pub(super) fn label(text: &str, name: &Name) -> Option<Range<usize>> {
    if !name.is_any(LABELS) {
        return None;
    }
    let place = Place::after(text, name, Kind::Strong);
    let label = place.first(LABEL)?;
    labels_secret(name, &text[label.clone()]).then_some(label)
}

/// Returns whether the member after `name` says that `name` holds a secret.
pub(super) fn is_labelled_later(text: &str, name: &Name) -> bool {
    let other = Place::after(text, name, Kind::Strong).first([OTHER]);
    let other = other.and_then(|other| Name::at(text, other.start, usize::MAX, None));
    other.is_some_and(|other| label(text, &other).is_some())
}

/// Returns the contents of the element whose tag ends after the attribute `label`.
pub(super) fn element(text: &str, label: &Range<usize>) -> Option<Range<usize>> {
    Place::at(text, label.end, None).first([AFTER_TAG])
}

/// Returns whether the value `label` of the member `name` says that a member beside it holds a secret.
fn labels_secret(name: &Name, label: &str) -> bool {
    let words = Words::of(label);
    let words: Vec<&str> = words.trim_end().split(' ').collect();
    if name.is_any(&["element", "selector", "label", "placeholder", "target", "locator", "field"]) {
        return words.iter().any(|word| is_strong(word));
    }
    if name.is("type") {
        return matches!(words[..], ["password"]);
    }
    let is_name = label.chars().all(|c| c.is_alphanumeric() || "_-. ".contains(c));
    let kind = if is_name { kind_of(&words) } else { None };
    // A verb begins the name of a tool, for example `get_token`.
    let is_tool = matches!(
        words[..],
        ["get" | "read" | "create" | "list" | "fetch" | "refresh" | "rotate", ..]
    );
    matches!(kind, Some(Kind::Strong | Kind::Token | Kind::Header)) && !is_tool
}
