//! Masks as one pass of a regular expression, the way that most programs remove volatile text.

use std::sync::LazyLock;

use rapidhash::v3::rapidhash_v3;
use regex::bytes::Regex;

/// The kinds of volatile text that a few lines of regular expressions can describe: fewer than
/// `Masks::ALL`, and without labels.
static VOLATILE: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = [
        r"\x1B\[[0-9;?]*[A-Za-z]",
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        r"\d{4}-\d\d-\d\d",
        r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?Z?",
        r"0x[0-9a-fA-F]{6,}",
        r"\d+(\.\d+)?\s?(ms|us|ns|s|seconds|minutes)\b",
        r"\b[0-9a-f]{7,64}\b",
        r"(?i:pid)[ :=]*\d+",
        r"/tmp/[A-Za-z0-9_.-]+",
        r"(localhost|127\.0\.0\.1):\d+",
        r"\s{2,}",
    ];
    match Regex::new(&format!("(?-u){}", kinds.join("|"))) {
        Ok(volatile) => volatile,
        Err(error) => panic!("{error}"),
    }
});

/// Returns a hash of `text` without its volatile parts.
pub fn digest(text: &str) -> u64 {
    let (mut hash, mut from) = (0_u64, 0);
    for found in VOLATILE.find_iter(text.as_bytes()) {
        hash = hash.rotate_left(5) ^ rapidhash_v3(&text.as_bytes()[from..found.start()]);
        from = found.end();
    }
    hash.rotate_left(5) ^ rapidhash_v3(&text.as_bytes()[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volatile_text_does_not_count() {
        assert_eq!(digest("at 12:03:59, pid 4711"), digest("at 13:04:00, pid 12"));
        assert_ne!(digest("at 12:03:59, 3 failed"), digest("at 12:03:59, 2 failed"));
    }
}
