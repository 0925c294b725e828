//! The additional repetitions that rules ask for at single records.
//!
//! A policy says how often something has to recur. What the record tells says how much each recurrence weighs: that a key
//! press works is no news, and that a rate limit holds on proves less than that a file does not exist.

use crate::mask::Mask;
use crate::record::{Record, Says, Status, Tag};
use crate::rule::{Args, Results, Rule, Select};
use crate::window::View;

/// For turns without text.
pub(crate) const SILENT: u16 = 2;

/// Returns the additional repetitions that `rule` asks for at `record`.
pub(crate) fn of(rule: &Rule<'_>, record: &Record, view: &View) -> i16 {
    let all = [
        acting(rule, record),
        transient(rule, record),
        weak(rule, record),
        started(rule, record),
        waiting(rule, record, view),
        searching(rule, record, view),
    ];
    all.into_iter().fold(0, i16::saturating_add)
}

/// The number of additional repetitions for a call that acts and worked, such as a key press. Such
/// a confirmation is seldom a reason to stop.
const ACTING: i16 = 5;

/// Returns the additional repetitions that `rule` asks for if `record` is of a tool that acts and
/// worked. Only rules about equal results ask for more.
fn acting(rule: &Rule<'_>, record: &Record) -> i16 {
    let acts = record.tag == Tag::Act && record.status == Status::Reported && !record.failed;
    if acts && rule.results == Results::Same { ACTING } else { 0 }
}

/// The number of additional repetitions for a failure that may pass by itself.
const TRANSIENT: i16 = 2;

/// Returns the additional repetitions that `rule` asks for if the failure of `record` may pass: the same
/// call may work later. Other calls that fail in this way, too, are no reason to wait.
fn transient(rule: &Rule<'_>, record: &Record) -> i16 {
    if record.transient && rule.args != Args::Any { TRANSIENT } else { 0 }
}

/// The number of additional repetitions for weak outcomes of different calls.
const WEAK: i16 = 3;

/// Returns the additional repetitions that `rule` asks for if `record` is a new call with a weak outcome: agents look the
/// things of a list up one by one, and count them.
fn weak(rule: &Rule<'_>, record: &Record) -> i16 {
    let is_weak = record.says == Says::Little && record.tag != Tag::Poll;
    if is_weak && record.novel && rule.args != Args::Same { WEAK } else { 0 }
}

/// The number of additional repetitions for a wait while other calls bring news, which is more than any rule counts.
const NEWS: i16 = 64;

/// The number of new calls among the latest ones that are news enough.
const NEWS_MIN: u32 = 4;

/// Returns the additional repetitions that a `rule` about polls asks for if other calls were new and worked meanwhile.
fn waiting(rule: &Rule<'_>, record: &Record, view: &View) -> i16 {
    let is_about_polls = rule.select == Select::Tag(Tag::Poll) && record.tag == Tag::Poll;
    let news = view.novel & view.answered & !view.failed & !view.args & Mask::newest(16);
    if is_about_polls && news.count() >= NEWS_MIN { NEWS } else { 0 }
}

/// The number of additional repetitions for the start of a job that runs.
const STARTED: i16 = -3;

/// Returns the additional repetitions that `rule` asks for if `record` starts a job that runs already.
fn started(rule: &Rule<'_>, record: &Record) -> i16 {
    if starts_again(record) && rule.args == Args::Same { STARTED } else { 0 }
}

/// Returns whether `record` starts a job that runs already.
pub(crate) fn starts_again(record: &Record) -> bool {
    record.tag == Tag::Poll && record.says == Says::Little && !record.failed
}

/// The number of additional repetitions for searches that have little in common, or check an edit.
const SEARCH: i16 = 5;

/// Returns the additional repetitions that `rule` asks for if `record` is a search with the answer of other searches that
/// are hardly like it, or if something was written shortly before them: that old names are gone is good news.
fn searching(rule: &Rule<'_>, record: &Record, view: &View) -> i16 {
    let is_concerned = matches!(
        (rule.args, rule.results),
        (Args::Similar, Results::Same) | (Args::SameTool, Results::Near)
    );
    if !is_concerned || record.tag != Tag::Search || record.failed {
        return 0;
    }
    let is_alike = rule.args == Args::Similar || (view.similar & Mask::newest(4)).count() >= 2;
    let is_check = !(view.written & Mask::newest(9)).is_empty();
    if is_alike && !is_check { 0 } else { SEARCH }
}
