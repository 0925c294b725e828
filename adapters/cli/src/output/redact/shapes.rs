//! Recognises secrets by their shape.

use std::ops::Range;

use super::symbol::{Symbol, symbol};

/// The characters after a prefix.
#[derive(Clone, Copy, Debug)]
enum Tail {
    /// Letters and digits.
    Letters,
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same, and `.`.
    Dotted,
    /// The same, and what base64 has.
    Base64,
    /// Capital letters and digits.
    Capitals,
    /// Hexadecimal digits.
    Hex,
}

/// Prefixes of the keys of services, with the fewest characters that follow.
#[rustfmt::skip]
const PREFIXES: &[(&str, usize, Tail)] = &[
    // Code hosts and registries of packages.
    ("ghp_", 16, Tail::Letters), ("gho_", 16, Tail::Letters), ("ghu_", 16, Tail::Letters), ("ghs_", 16, Tail::Letters),
    ("ghr_", 16, Tail::Letters), ("github_pat_", 16, Tail::Word), ("glpat-", 16, Tail::Dotted),
    ("gldt-", 16, Tail::Word), ("glrt-", 16, Tail::Dotted), ("glcbt-", 16, Tail::Word),
    ("glptt-", 16, Tail::Word), ("glft-", 16, Tail::Word), ("glsoat-", 16, Tail::Word),
    ("glagent-", 16, Tail::Word), ("gloas-", 16, Tail::Word), ("ATBB", 24, Tail::Word),
    ("ATATT3", 24, Tail::Base64), ("npm_", 20, Tail::Letters), ("pypi-", 20, Tail::Word),
    ("rubygems_", 20, Tail::Letters), ("dckr_pat_", 16, Tail::Word), ("cio", 32, Tail::Letters),
    ("CLOJARS_", 30, Tail::Word), ("oy2", 40, Tail::Letters), ("CCIPAT_", 16, Tail::Word),
    ("bkua_", 20, Tail::Word), ("sntrys_", 20, Tail::Base64), ("sntryu_", 20, Tail::Base64),
    // Clouds.
    ("AKIA", 12, Tail::Capitals), ("ASIA", 12, Tail::Capitals), ("ABIA", 12, Tail::Capitals),
    ("ACCA", 12, Tail::Capitals), ("ABSK", 40, Tail::Base64), ("AIza", 20, Tail::Word),
    ("ya29.", 16, Tail::Dotted), ("GOCSPX-", 16, Tail::Word), ("1//0", 20, Tail::Word),
    ("dop_v1_", 20, Tail::Letters), ("doo_v1_", 20, Tail::Letters), ("dor_v1_", 20, Tail::Letters),
    ("tskey-", 12, Tail::Word), ("hvs.", 16, Tail::Word), ("hvb.", 16, Tail::Word), ("hvr.", 16, Tail::Word),
    ("dp.pt.", 16, Tail::Word), ("dp.st.", 16, Tail::Dotted), ("pul-", 30, Tail::Hex), ("fo1_", 20, Tail::Letters),
    ("fm2_", 20, Tail::Base64), ("HRKU-", 16, Tail::Word), ("sbp_", 20, Tail::Letters),
    ("pscale_tkn_", 16, Tail::Dotted), ("pscale_pw_", 16, Tail::Dotted), ("pscale_oauth_", 16, Tail::Dotted),
    ("nfp_", 20, Tail::Letters), ("dapi", 32, Tail::Hex), ("v1.0-", 30, Tail::Word),
    // Language models.
    ("sk-ant-", 8, Tail::Word), ("sk-proj-", 8, Tail::Word), ("sk-or-", 12, Tail::Word),
    ("sk-svcacct-", 8, Tail::Word), ("sk-admin-", 8, Tail::Word), ("hf_", 20, Tail::Letters),
    ("gsk_", 20, Tail::Letters), ("xai-", 20, Tail::Letters), ("pplx-", 20, Tail::Letters), ("r8_", 20, Tail::Letters),
    ("lsv2_pt_", 16, Tail::Word), ("lsv2_sk_", 16, Tail::Word),
    // Messages, payments and other services.
    ("xoxb-", 10, Tail::Word), ("xoxp-", 10, Tail::Word), ("xoxa-", 10, Tail::Word), ("xoxr-", 10, Tail::Word),
    ("xoxs-", 10, Tail::Word), ("xoxc-", 10, Tail::Word), ("xoxd-", 10, Tail::Base64), ("xoxe-", 10, Tail::Word),
    ("xoxe.", 10, Tail::Dotted), ("xapp-", 10, Tail::Word), ("sk_live_", 10, Tail::Letters),
    ("sk_test_", 10, Tail::Letters), ("rk_live_", 10, Tail::Letters), ("rk_test_", 10, Tail::Letters),
    ("pk_live_", 10, Tail::Letters), ("pk_test_", 10, Tail::Letters), ("whsec_", 16, Tail::Base64),
    ("SG.", 20, Tail::Dotted), ("shpat_", 16, Tail::Letters), ("shpss_", 16, Tail::Letters),
    ("shpca_", 16, Tail::Letters), ("shppa_", 16, Tail::Letters), ("sq0atp-", 16, Tail::Word),
    ("sq0csp-", 16, Tail::Word), ("EAAA", 40, Tail::Word), ("EAACEdEose0cBA", 10, Tail::Word),
    ("xkeysib-", 20, Tail::Word), ("lin_api_", 16, Tail::Letters), ("ntn_", 20, Tail::Letters),
    ("secret_", 32, Tail::Letters), ("figd_", 16, Tail::Word), ("PMAK-", 16, Tail::Word),
    ("glsa_", 16, Tail::Word), ("glc_", 20, Tail::Base64), ("NRAK-", 16, Tail::Word), ("tfp_", 20, Tail::Dotted),
    ("aio_", 20, Tail::Letters), ("dt0c01.", 20, Tail::Dotted), ("CFPAT-", 20, Tail::Word), ("rdme_", 20, Tail::Letters),
    ("pnu_", 20, Tail::Letters), ("waka_", 20, Tail::Letters), ("FLWSECK", 16, Tail::Word), ("EZAK", 20, Tail::Letters),
    ("AGE-SECRET-KEY-1", 20, Tail::Capitals), ("ops_eyJ", 20, Tail::Word), ("key-", 32, Tail::Hex),
    ("SK", 32, Tail::Hex), ("patch_", 64, Tail::Letters),
    // Hashes of passwords.
    ("$2a$", 20, Tail::Base64), ("$2b$", 20, Tail::Base64), ("$2y$", 20, Tail::Base64), ("$1$", 20, Tail::Base64),
    ("$5$", 20, Tail::Base64), ("$6$", 20, Tail::Base64), ("$y$", 20, Tail::Base64), ("$argon2", 20, Tail::Base64),
];

/// The length of the shortest key with a prefix.
const SHORTEST: usize = 13;

/// The fewest characters of each part of a JSON Web Token.
const JWT_MIN: usize = 4;

/// The longest user name and password in a URL, and the farthest look ahead.
const AHEAD: usize = 1024;

/// Returns the place of a secret that begins at `at`, where a word begins. `previous` is the symbol before it.
pub(super) fn at(text: &str, at: usize, previous: Option<Symbol>) -> Option<Range<usize>> {
    let rest = &text[at..];
    let first = *rest.as_bytes().first()?;
    if first == b'-' {
        return pem(text, at);
    }
    // A name of a file may end with a key: `backup_AKIA…`.
    if previous.is_some_and(|symbol| symbol.c == '_') {
        return prefixed(rest).map(|range| at + range.start..at + range.end);
    }
    if !first.is_ascii_alphanumeric() && first != b'$' {
        return None;
    }
    let own = |range: Range<usize>| at + range.start..at + range.end;
    let is_long = || limited(rest, Tail::Base64, SHORTEST) == SHORTEST;
    let alone = || {
        prefixed(rest).or_else(|| generic(rest)).or_else(|| web_token(rest)).or_else(|| hook(rest))
    };
    Some(())
        .filter(|()| is_long())
        .and_then(|()| alone())
        .or_else(|| bot(rest))
        .or_else(|| bearer(rest))
        .or_else(|| basic(rest))
        .or_else(|| pair(rest, previous))
        .or_else(|| line_of_passwords(rest, previous))
        .map(own)
}

/// Returns the length of the characters of `kind` at the begin of `rest`.
fn length(rest: &str, kind: Tail) -> usize {
    limited(rest, kind, usize::MAX)
}

/// Returns the same up to `limit`, so that no text that is no secret is read often.
fn limited(rest: &str, kind: Tail, limit: usize) -> usize {
    let is_tail = |byte: &u8| match kind {
        Tail::Letters => byte.is_ascii_alphanumeric(),
        Tail::Word => byte.is_ascii_alphanumeric() || b"_-".contains(byte),
        Tail::Dotted => byte.is_ascii_alphanumeric() || b"_-.".contains(byte),
        Tail::Base64 => byte.is_ascii_alphanumeric() || b"_-.+/=$,".contains(byte),
        Tail::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        Tail::Hex => byte.is_ascii_hexdigit(),
    };
    rest.bytes().take(limit).take_while(is_tail).count()
}

fn prefixed(rest: &str) -> Option<Range<usize>> {
    let first = rest.bytes().next();
    let is_prefix = |prefix: &str| prefix.bytes().next() == first && rest.starts_with(prefix);
    let (prefix, min, tail) = PREFIXES.iter().find(|(prefix, ..)| is_prefix(prefix))?;
    if limited(&rest[prefix.len()..], *tail, *min) < *min {
        return None;
    }
    let long = length(&rest[prefix.len()..], *tail);
    let end: &[char] = if matches!(tail, Tail::Dotted) { &['.'] } else { &[','] };
    Some(0..prefix.len() + rest[prefix.len()..][..long].trim_end_matches(end).len())
}

/// A key with a common prefix. It has a long part, with a digit or a capital letter.
fn generic(rest: &str) -> Option<Range<usize>> {
    ["sk-", "sk_", "pk-", "pk_", "rk-", "rk_"].iter().find(|prefix| rest.starts_with(**prefix))?;
    let long = limited(rest, Tail::Word, AHEAD);
    let is_key = |part: &str| {
        part.len() >= 12
            && part.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    rest[3..long].split(['-', '_']).any(is_key).then(|| 0..length(rest, Tail::Word))
}

fn web_token(rest: &str) -> Option<Range<usize>> {
    if !rest.starts_with("eyJ") {
        return None;
    }
    let long = limited(rest, Tail::Dotted, AHEAD);
    let token = rest[..long].trim_end_matches('.');
    let mut parts = token.split('.');
    let head = parts.next().is_some_and(|head| head.len() >= 10);
    let body = parts.next().is_some_and(|body| body.len() >= JWT_MIN);
    (head && body).then(|| 0..rest[..length(rest, Tail::Dotted)].trim_end_matches('.').len())
}

/// The token of a bot: digits, a colon and 35 characters. In an address, `bot` stands before it.
fn bot(rest: &str) -> Option<Range<usize>> {
    let token = rest.strip_prefix("bot").unwrap_or(rest);
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    if !(8..=10).contains(&digits) || !token[digits..].starts_with(':') {
        return None;
    }
    let long = limited(&token[digits + 1..], Tail::Word, 41);
    let begin = rest.len() - token.len();
    (30..=40).contains(&long).then_some(begin..begin + digits + 1 + long)
}

/// Returns the place of what follows `scheme` and a space or a line break.
fn after_scheme(rest: &str, scheme: &str) -> Option<usize> {
    let (word, _) = rest.split_at_checked(scheme.len())?;
    let begin = super::symbol::after_spaces(rest, scheme.len(), true);
    (word.eq_ignore_ascii_case(scheme) && begin > scheme.len()).then_some(begin)
}

/// `Bearer` and a token outside of a header, or on its next line. A word of a sentence is no token.
fn bearer(rest: &str) -> Option<Range<usize>> {
    let begin = after_scheme(rest, "bearer")?;
    let after = &rest[begin..];
    let token =
        after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(byte));
    let token = &after[..token.count()];
    let is_token = token.len() >= 6 && (is_random(token, 6) || token.len() >= 20);
    is_token.then(|| begin..begin + token.trim_end_matches('.').len())
}

/// `Basic` and a user and a password in base64.
fn basic(rest: &str) -> Option<Range<usize>> {
    let begin = after_scheme(rest, "basic")?;
    let after = &rest[begin..];
    let long = after
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte))
        .count();
    has_colon(&after[..long]).then_some(begin..begin + long)
}

/// Returns whether `base64` has a colon in it once it is decoded.
fn has_colon(base64: &str) -> bool {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut found) = (0_u32, 0, false);
    for byte in base64.trim_end_matches('=').bytes() {
        let Some(sextet) = sextet(byte) else { return false };
        bits = (bits << 6 | sextet) & 0xfff;
        count += 6;
        if count >= 8 {
            count -= 8;
            let decoded = (bits >> count) & 0xff;
            // Control characters are no part of a name.
            if decoded < 0x20 {
                return false;
            }
            found |= decoded == u32::from(b':');
        }
    }
    found && base64.len() >= 4
}

/// The address to which a chat service takes messages from anyone.
fn hook(rest: &str) -> Option<Range<usize>> {
    let hosts = [
        "hooks.slack.com/services/",
        "discord.com/api/webhooks/",
        "discordapp.com/api/webhooks/",
        "outlook.office.com/webhook/",
    ];
    let host = hosts.iter().find(|host| rest.starts_with(**host))?;
    let path = rest[host.len()..]
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-/@.".contains(byte))
        .count();
    (path >= 8).then_some(host.len()..host.len() + path)
}

/// `user:password@host` without a scheme, or `user:password@tcp(host)`.
fn pair(rest: &str, previous: Option<Symbol>) -> Option<Range<usize>> {
    let is_begin = previous
        .is_none_or(|symbol| symbol.is_space() || symbol.quotes() || "=(<".contains(symbol.c));
    let user = limited(rest, Tail::Dotted, 65);
    if !is_begin
        || user > 64
        || !rest[user..].starts_with(':')
        || ["mailto", "sip", "sips", "xmpp", "acct", "npm", "workspace", "file", "link"]
            .contains(&&rest[..user])
    {
        return None;
    }
    let is_part = |byte: &u8| !byte.is_ascii_whitespace() && !b"\"'`<>\\/|".contains(byte);
    let word = rest[user + 1..].bytes().take(AHEAD).take_while(is_part).count();
    let word = rest.get(user + 1..user + 1 + word)?;
    let (password, host) = word.rsplit_once('@')?;
    let host = host.trim_end_matches([',', ';', '.', ')']);
    let top = host.split([':', '/', '(']).next().unwrap_or_default();
    let is_host = top == "localhost"
        || host.starts_with("tcp(")
        || host.starts_with("unix(")
        || top.rsplit_once('.').is_some_and(|(name, top)| {
            !name.is_empty() && top.len() >= 2 && top.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
    let is_address = top.split('.').count() == 4
        && top.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    ((is_host || is_address) && password.len() >= 3).then_some(user + 1..user + 1 + password.len())
}

/// A line of a file with passwords of databases: host, port, database, user, password.
fn line_of_passwords(rest: &str, previous: Option<Symbol>) -> Option<Range<usize>> {
    if previous.is_some_and(|symbol| !symbol.is_space() && !symbol.quotes()) {
        return None;
    }
    let word = rest
        .bytes()
        .take(AHEAD)
        .take_while(|byte| !byte.is_ascii_whitespace() && !b"\"'`\\/,{}()".contains(byte))
        .count();
    let mut fields = rest.get(..word)?.splitn(5, ':');
    let (host, port, database, user) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let password = fields.next()?;
    let is_port = port == "*"
        || port.len() >= 4 && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |name: &str| name == "*" || name.bytes().any(|byte| byte.is_ascii_alphabetic());
    (is_port && is_name(host) && is_name(database) && is_name(user) && !password.is_empty())
        .then_some(word - password.len()..word)
}

/// A private key in PEM. Without an end it goes on to the end of the text, or of the string around it.
fn pem(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text[at..].strip_prefix("-----BEGIN ")?;
    let title = rest
        .bytes()
        .take(40)
        .take_while(|byte| byte.is_ascii_uppercase() || b" 0123456789".contains(byte));
    let title = &rest[..title.count()];
    if !title.contains("PRIVATE KEY") || !rest[title.len()..].starts_with("-----") {
        return None;
    }
    let start = at + "-----BEGIN ".len() + title.len() + "-----".len();
    let begin = super::symbol::after_spaces(text, start, true);
    // The name of such a key in a command, for example.
    let key = text.get(begin..).unwrap_or("");
    if limited(key, Tail::Base64, 4) < 4 || key.starts_with("-----END") {
        return None;
    }
    let mut end = begin;
    while let Some(symbol) = symbol(text, end) {
        if text[end..].starts_with("-----END ") {
            let tail = text[end..].bytes().skip(5).take(60).position(|byte| byte == b'-');
            let tail = tail.map_or(text.len() - end, |tail| 5 + tail);
            return Some(at..(end + tail + "-----".len()).min(text.len()));
        }
        if symbol.quotes() {
            break;
        }
        end += symbol.len;
    }
    Some(at..end)
}

/// Returns the place of the user and the password in a URL whose colon is at `at`.
pub(super) fn in_url(text: &str, at: usize) -> Option<Range<usize>> {
    let mut start = at;
    for expected in [':', '/', '/'] {
        start += symbol(text, start).filter(|symbol| symbol.c == expected)?.len;
    }
    let (mut end, mut last_at, mut path, mut colon) = (start, None, None, None);
    for _ in 0..AHEAD {
        let Some(symbol) = symbol(text, end).filter(|symbol| !symbol.is_space()) else { break };
        match symbol.c {
            c if super::symbol::is_quote(c) || "<>|".contains(c) => break,
            '\\' => break,
            '/' | '?' | '#' if path.is_none() => path = Some(end),
            ':' if text[end..].starts_with("://") => break,
            ':' if path.is_none() => {
                colon.get_or_insert(end);
            }
            '@' if symbol.level == 0 => {
                // The last one before the path, or the first one after what only seemed to be the path.
                let is_user =
                    path.is_none() || last_at.is_none() && is_password(text, start, colon, path);
                if is_user {
                    last_at = Some(end);
                    path = None;
                }
            }
            _ => {}
        }
        end += symbol.len;
    }
    let user = start..last_at?;
    let value = &text[user.clone()];
    // A user name alone is a secret if it is a token.
    let is_secret = value.contains(':') && !value.ends_with(':') || is_random(value, 16);
    let is_reference = value.split_once(':').is_some_and(|(_, password)| {
        password.starts_with("${") && password.ends_with('}')
            || password.starts_with('$')
                && password.bytes().skip(1).all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    });
    (is_secret
        && !is_reference
        && value != super::MASK
        && !value.ends_with(&format!(":{}", super::MASK)))
    .then_some(user)
}

/// Returns whether the text between `colon` and `path` is a part of a password, and no port.
fn is_password(text: &str, start: usize, colon: Option<usize>, path: Option<usize>) -> bool {
    let (Some(colon), Some(path)) = (colon, path) else { return false };
    let port = &text[colon + 1..path];
    colon == start || !port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether `value` has at least `min` characters and looks random: it has digits and letters.
pub(super) fn is_random(value: &str, min: usize) -> bool {
    let is_uuid = value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4;
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic());
    let mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_path = value.starts_with(['/', '.', '~']) || value.matches('/').count() > 2;
    value.len() >= min
        && is_plain
        && !is_uuid
        && !is_path
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || mixed && value.len() >= 20)
}
