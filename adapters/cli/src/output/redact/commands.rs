//! Finds secrets after the short options of known commands.

use std::ops::Range;

use super::names::Name;
use super::symbol::{Symbol, after_spaces, quotation, symbol};
use super::values::word;

/// The way that an option takes a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In the same word only: `-phunter2`.
    Attached,
    /// In the next word, or in the same one.
    Either,
    /// In the next word.
    Next,
    /// A user and a password, joined by this character.
    Pair(char),
}

/// Commands with the letters of their options.
const OPTIONS: &[(&[&str], char, Form)] = &[
    (
        &["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"],
        'p',
        Form::Attached,
    ),
    (&["sshpass"], 'p', Form::Either),
    (&["mongo", "mongosh", "mongodump", "mongorestore", "rabbitmqadmin"], 'p', Form::Either),
    (&["redis-cli", "valkey-cli"], 'a', Form::Next),
    (&["curl"], 'u', Form::Pair(':')),
    (&["curl"], 'U', Form::Pair(':')),
    (&["curl"], 'b', Form::Pair('=')),
    (&["http", "https", "httpie", "xh"], 'a', Form::Pair(':')),
    (&["ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami"], 'w', Form::Either),
    (&["zip", "unzip", "sqlcmd", "bcp", "mosquitto_pub", "mosquitto_sub"], 'P', Form::Either),
    (&["7z", "7za", "7zz", "rar", "unrar"], 'p', Form::Attached),
    (&["smbclient", "rpcclient"], 'U', Form::Pair('%')),
    (&["openssl"], 'k', Form::Next),
    (&["ssh-keygen"], 'N', Form::Next),
    (&["ssh-keygen"], 'P', Form::Next),
    (&["useradd", "usermod"], 'p', Form::Next),
    (&["secret"], 'b', Form::Next),
    (&["login"], 'p', Form::Either),
];

/// Long options whose value is a user and a password.
const PAIRS: [(&str, char); 5] =
    [("--user", ':'), ("--proxy-user", ':'), ("--auth", ':'), ("--cert", ':'), ("--cookie", '=')];

/// The command of a line, as far as it matters for its options.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Command {
    /// The options of the command, as bits.
    options: u32,
    /// An option for the user was there, so that `-p` is the password.
    has_user: bool,
}

impl Command {
    /// Notes a word of the line.
    pub(super) fn word(&mut self, name: &Name) {
        if !name.is_option && name.span.len() <= 16 {
            for (n, (commands, ..)) in OPTIONS.iter().enumerate() {
                if commands.iter().any(|command| name.spells(command)) {
                    self.options |= 1 << n;
                }
            }
        }
        self.has_user |= name.is_option && name.is_any(&["u", "user", "username", "uroot"]);
    }

    /// Returns the place of the secret of an option at `at`.
    pub(super) fn flag(self, text: &str, at: usize) -> Option<Range<usize>> {
        let rest = text.get(at..)?.strip_prefix('-')?;
        if let Some((name, join)) = PAIRS.iter().find(|(name, _)| rest.starts_with(&name[1..])) {
            if self.options & PAIRED == 0 {
                return None;
            }
            let after = at + name.len();
            let value =
                if text[after..].starts_with('=') { after + 1 } else { argument(text, after)? };
            return pair(text, value, *join);
        }
        let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
        let after = at + 2;
        for (n, (_, option, form)) in OPTIONS.iter().enumerate() {
            if *option != letter || self.options & (1 << n) == 0 {
                continue;
            }
            let attached = Some(after).filter(|_| is_attached(text, after));
            let value = match form {
                Form::Attached => attached,
                Form::Next => argument(text, after),
                Form::Either | Form::Pair(_) => attached.or_else(|| argument(text, after)),
            };
            return match form {
                Form::Pair(join) => pair(text, value?, *join),
                _ => whole(text, value?),
            };
        }
        if letter == 'p' && self.has_user && self.options == 0 {
            let value = argument(text, after)?;
            return whole(text, value).filter(|value| !is_port(&text[value.clone()]));
        }
        None
    }
}

/// Commands that read a secret from their input, or decode one.
const READERS: [&str; 13] = [
    "--password-stdin",
    "sudo -S",
    "--stdin",
    "chpasswd",
    "--with-token",
    "--passphrase-fd",
    "htpasswd -i",
    "smbpasswd -s",
    "vault login -",
    "cryptsetup ",
    "base64 -d",
    "base64 -D",
    "base64 --decode",
];

/// Commands whose last argument is a secret, with the option that says so, if one does, and the fewest arguments.
const LAST: [(&[&str], Option<char>, usize); 6] = [
    (&["htpasswd"], Some('b'), 2),
    (&["mosquitto_passwd"], Some('b'), 3),
    (&["vault", "login"], None, 1),
    (&["oathtool"], None, 1),
    (&["wpa_passphrase"], None, 2),
    (&["mkpasswd"], None, 1),
];

/// The most words of a command that are looked at.
const WORDS_MAX: usize = 16;

/// Returns the place of the secret that the command `name` is given as an argument, or that a script of expect sends.
pub(super) fn passed(text: &str, name: &Name) -> Option<Range<usize>> {
    if name.is("send") {
        return sent(text, name.span.end);
    }
    let (words, option, least) = LAST.iter().find(|(words, ..)| name.spells(words[0]))?;
    let (mut at, mut value, mut count) = (name.span.end, None, 0);
    let mut is_meant = option.is_none();
    for n in 1..WORDS_MAX {
        let Some(begin) = next_argument(text, at) else { break };
        let is_listed = symbol(text, at).is_some_and(Symbol::quotes);
        let argument = match symbol(text, begin).filter(|_| is_listed) {
            Some(open) => begin + open.len..quotation(text, open, begin + open.len).0,
            None => whole(text, begin)?,
        };
        let word = &text[argument.clone()];
        at = if is_listed { argument.end } else { self::word(text, begin, None).end };
        match (words.get(n), word.strip_prefix('-')) {
            (Some(subcommand), _) if word == *subcommand => {}
            (Some(_), _) => return None,
            (None, Some(letters)) => {
                is_meant |=
                    !letters.starts_with('-') && option.is_some_and(|it| letters.contains(it));
            }
            (None, None) => (value, count) = (Some(argument), count + 1),
        }
    }
    let is_value = |range: &Range<usize>| !text[range.clone()].contains(['=', '$', '•']);
    value.filter(|range| is_meant && count >= *least && is_value(range))
}

/// Returns the place of what a script of expect types: one word and a return, or anything after a prompt for a password.
fn sent(text: &str, at: usize) -> Option<Range<usize>> {
    let mut begin = after_spaces(text, at, false);
    if text[begin..].starts_with("-- ") {
        begin = after_spaces(text, begin + 2, false);
    }
    let open = symbol(text, begin).filter(|symbol| symbol.quotes())?;
    let inside = begin + open.len;
    let typed = &text[inside..quotation(text, open, inside).0];
    // The return is written as an escape, in JSON with two backslashes.
    let line = match typed.strip_suffix(['r', 'n']) {
        Some(before) if before.ends_with('\\') => before.trim_end_matches('\\'),
        _ => typed.trim_end_matches(['\r', '\n']),
    };
    let from = (at.saturating_sub(PAIR_MAX)..at).find(|from| text.is_char_boundary(*from))?;
    let is_asked = ["assword", "assphrase", "PIN"].iter().any(|word| text[from..at].contains(word));
    let is_word = line.len() > 3 && !line.contains(char::is_whitespace);
    let is_typed = line.len() < typed.len() && !line.is_empty();
    let is_secret = is_typed && (is_word || is_asked) && !line.starts_with('$');
    is_secret.then_some(inside..inside + line.len())
}

/// Returns the place of the words that a command at `at` writes for another one that reads a password.
pub(super) fn piped(text: &str, at: usize) -> Option<Range<usize>> {
    let begin = after_spaces(text, at, false);
    let ahead = |at: usize| {
        let line = text[at..].lines().next().unwrap_or_default();
        line.char_indices().nth(PAIR_MAX).map_or(line, |(end, _)| &line[..end])
    };
    let bar = ahead(begin).find('|')?;
    let reader = ahead(begin + bar);
    READERS.iter().any(|name| reader.contains(name)).then_some(())?;
    let words = text[begin..begin + bar].trim_end();
    let bare = words.trim_matches(['"', '\'', '\\']);
    let start = begin + words.find(bare)?;
    Some(start..start + bare.len())
        .filter(|range| !range.is_empty() && bare != super::MASK && !bare.starts_with('$'))
}

/// Returns the place of the word after `<<<` at `at` if the command before it reads a password.
pub(super) fn here_string(text: &str, at: usize) -> Option<Range<usize>> {
    let after = at + text.get(at..)?.strip_prefix("<<<").map(|_| 3)?;
    let begin = at.saturating_sub(PAIR_MAX);
    let begin = (begin..at).find(|begin| text.is_char_boundary(*begin)).unwrap_or(at);
    let line = text[begin..at].to_ascii_lowercase();
    let is_read =
        READERS.iter().map(|name| name.to_ascii_lowercase()).any(|name| line.contains(&name))
            || ["passw", "secret", "token"].iter().any(|word| line.contains(word));
    let value = after_spaces(text, after, false);
    let is_known = text[value..].starts_with(['$', '•']);
    if is_read && !is_known { whole(text, value) } else { None }
}

/// The longest user name.
const PAIR_MAX: usize = 128;

/// The commands with options for a user and a password.
const PAIRED: u32 = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7;

/// Returns whether the value of an option is in the same word.
fn is_attached(text: &str, at: usize) -> bool {
    symbol(text, at).is_some_and(|symbol| !symbol.is_space() && !"\"',)]}".contains(symbol.c))
}

/// Returns the place of the value of an option that ends at `at`.
fn argument(text: &str, at: usize) -> Option<usize> {
    let first = symbol(text, at)?;
    if first.c == '=' {
        return Some(at + first.len);
    }
    next_argument(text, at).filter(|value| !first.is_space() || !text[*value..].starts_with('-'))
}

/// Returns the place of the next argument, also in a list of quoted words.
fn next_argument(text: &str, at: usize) -> Option<usize> {
    let first = symbol(text, at)?;
    if first.is_space() {
        let value = after_spaces(text, at, false);
        let is_value = symbol(text, value).is_some_and(|symbol| !"|><&;\n".contains(symbol.c));
        return is_value.then_some(value);
    }
    let comma = Some(at + first.len).filter(|_| first.quotes())?;
    let comma = after_spaces(text, comma, false);
    symbol(text, comma).filter(|symbol| symbol.c == ',')?;
    let value = after_spaces(text, comma + 1, true);
    symbol(text, value).filter(|symbol| symbol.quotes())?;
    Some(value)
}

/// Returns the place of the word at `at`, without quotation marks around it.
fn whole(text: &str, at: usize) -> Option<Range<usize>> {
    let range = word(text, at, None);
    let Some(open) = symbol(text, at).filter(|symbol| symbol.quotes() && symbol.c.is_ascii())
    else {
        return Some(range).filter(|range| !range.is_empty());
    };
    let start = at + open.len;
    let mut end = range.end;
    if text[start..end.max(start)].ends_with(open.c) {
        end -= open.len;
    }
    (end > start).then_some(start..end)
}

/// Returns the place of the second half of a pair.
fn pair(text: &str, at: usize, join: char) -> Option<Range<usize>> {
    let mut short = text[at..].chars().take(PAIR_MAX);
    short.find(|c| *c == join || c.is_whitespace()).filter(|c| *c == join)?;
    let range = whole(text, at)?;
    let half = text[range.clone()].find(join)? + join.len_utf8();
    Some(range.start + half..range.end).filter(|range| !range.is_empty())
}

/// Returns whether `value` is a port, or a pair of ports.
fn is_port(value: &str) -> bool {
    value.len() < PAIR_MAX
        && (value.bytes().all(|byte| byte.is_ascii_digit() || b":.-/,tcpud".contains(&byte))
            || value.contains('/'))
}
