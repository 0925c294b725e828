//! Times, in milliseconds since 1970, and their age in words.

use std::time::{SystemTime, UNIX_EPOCH};

use unstuck_report::shown::counted;

/// Returns the current time.
pub(crate) fn now() -> u64 {
    millis(SystemTime::now())
}

/// Returns `time` in milliseconds since 1970, or 0 for an earlier one.
pub(crate) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Describes the time from `then` to `now`.
pub(crate) fn ago(now: u64, then: u64) -> String {
    match now.saturating_sub(then) / 1000 {
        0..10 => "just now".to_owned(),
        s @ 10..60 => format!("{s} s ago"),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s @ 3600..86_400 => format!("{} h ago", s / 3600),
        s => format!("{} ago", counted(s / 86_400, "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn ages_have_the_largest_unit_that_fits() {
        const NOW: u64 = 1_000_000_000_000;
        for (seconds, expected) in [
            (0, "just now"),
            (9, "just now"),
            (10, "10 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (86_399, "23 h ago"),
            (86_400, "1 day ago"),
            (200_000, "2 days ago"),
        ] {
            assert_eq!(ago(NOW, NOW - seconds * 1000), expected);
        }
        // A clock that was set back gives the present.
        assert_eq!(ago(NOW, NOW + 1), "just now");
    }
}
