//! JSON objects in which a tool says how a call went: `{"error": "…"}`, `{"exit_code": 1, …}`.

use crate::members::{Member, is_void, members, unquoted};
use crate::phrases::is_any;
use crate::words::status::{ERRORS, EXITS, FAILURES, MESSAGES, STATUSES, SUCCESSES};

/// The outcome of a call according to the object that it returned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Status<'t> {
    /// True if the call failed, or `None` if the object does not say.
    pub(super) failed: Option<bool>,
    /// The sentence that says what went wrong, if there is one.
    pub(super) message: Option<&'t str>,
}

/// Reads an object or returns `Status::default()` for any other text. Looks at the first 4096 bytes.
pub(super) fn read(result: &str) -> Status<'_> {
    let result = result.trim_start();
    if !result.starts_with('{') {
        return Status::default();
    }
    let (mut ended, mut told) = (None, false);
    for member in members(result).filter(|member| member.depth == 1) {
        ended = ended.or_else(|| exit(member));
        told |= ended.is_none() && tells(member, result);
    }
    let failed = ended.or(told.then_some(true));
    let message = failed.and_then(|failed| if failed { message(result) } else { None });
    Status { failed, message }
}

/// Returns whether `member` holds the exit status of a failed command.
fn exit(member: Member<'_>) -> Option<bool> {
    let code = unquoted(member.value);
    let is_code = code.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    (EXITS.contains_in_any_case(member.name) && is_code && !code.is_empty())
        .then(|| code.contains(|c| !matches!(c, '0' | '-')))
}

/// Returns whether `member` of the object `json` says that the call failed.
fn tells(member: Member<'_>, json: &str) -> bool {
    let Member { name, value, .. } = member;
    let inner = unquoted(value);
    ERRORS.contains_in_any_case(name) && is_error(value) && !(name == "errors" && has_data(json))
        || SUCCESSES.contains_in_any_case(name) && inner.eq_ignore_ascii_case("false")
        || FAILURES.contains_in_any_case(name) && inner.eq_ignore_ascii_case("true")
        || name == "status" && is_any(inner, &["error", "fail", "failure"])
        || STATUSES.contains_in_any_case(name) && is_http_error(inner) && has_message(json)
}

/// Returns whether the value of an error member is an error. A bare number is a measure, for
/// example the error of a model.
fn is_error(value: &str) -> bool {
    let is_number = value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    !is_void(value) && !is_number
}

/// Returns whether the object holds data beside its errors, as an answer of GraphQL may, or a
/// linter's.
fn has_data(json: &str) -> bool {
    let is_data = |member: Member<'_>| {
        is_any(member.name, &["data", "result", "results", "warnings", "files"])
            && !is_void(member.value)
    };
    members(json).any(|member| member.depth == 1 && is_data(member))
}

/// Returns whether the object has a member for a message.
fn has_message(json: &str) -> bool {
    members(json).any(|member| member.depth == 1 && is_any(member.name, MESSAGES))
}

/// Returns whether `code` is an HTTP status from 400 to 599.
pub(super) fn is_http_error(code: &str) -> bool {
    matches!(code.as_bytes(), [b'4' | b'5', b'0'..=b'9', b'0'..=b'9'])
}

/// The text of an error member, of its own message, or of a message beside it.
fn message(json: &str) -> Option<&str> {
    let is_text = |value: &str| value.starts_with(['"', '\'']) && !is_void(value);
    let named = |is_name: &dyn Fn(&str) -> bool| {
        let mut found = members(json).filter(|member| is_name(member.name));
        found.find(|member| is_text(member.value)).map(|member| unquoted(member.value).trim())
    };
    let error = named(&|name| ERRORS.contains_in_any_case(name));
    let mut beside = MESSAGES.iter().map(|name| named(&|other| other.eq_ignore_ascii_case(name)));
    let told = error.filter(|error| error.contains(' '));
    told.or_else(|| beside.find_map(|message| message)).or(error)
}
