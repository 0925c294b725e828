//! The additional repetitions that rules ask for at single records.
//!
//! A policy says how often something has to recur. What the record tells says how much each recurrence weighs: that a key
//! press works is no news, and that a rate limit holds on proves less than that a file does not exist.

use crate::mask::Mask;
use crate::record::{Record, Says, Status, Tag};
use crate::rule::{Args, Results, Rule, Select};
use crate::window::{View, Window};

/// For turns without text.
pub(crate) const SILENT: u16 = 2;

/// Returns the additional repetitions that `rule` asks for at `record`.
#[cfg_attr(target_pointer_width = "32", inline(never))]
pub(crate) fn of<const W: usize>(
    rule: &Rule<'_>,
    record: &Record,
    view: &View,
    window: &Window<W>,
) -> i16 {
    let by_tag = match record.tag {
        Tag::Poll => waiting(rule, record, view),
        _ if record.failed => 0,
        Tag::Act if record.status == Status::Reported && rule.results == Results::Same => ACTING,
        Tag::Search => searching(rule, view, window),
        _ => 0,
    };
    let transient = if record.transient && rule.args != Args::Any { TRANSIENT } else { 0 };
    by_tag.saturating_add(transient).saturating_add(weak(rule, record))
}

/// The number of additional repetitions for a call that acts and worked, such as a key press, of
/// rules about equal results. Such a confirmation is seldom a reason to stop.
const ACTING: i16 = 5;

/// The number of additional repetitions for a failure that may pass by itself: the same call may
/// work later. Other calls that fail in this way, too, are no reason to wait.
const TRANSIENT: i16 = 2;

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

/// The number of additional repetitions for the start of a job that runs.
const STARTED: i16 = -3;

/// Returns the additional repetitions that `rule` asks for at a poll: more if it is about polls and other calls were new
/// and worked meanwhile, and fewer if the poll starts a job that runs already.
fn waiting(rule: &Rule<'_>, record: &Record, view: &View) -> i16 {
    let started = if starts_again(record) && rule.args == Args::Same { STARTED } else { 0 };
    let news = view.novel & view.answered & !(view.failed | view.args) & Mask::newest(16);
    let is_about_polls = rule.select == Select::Tag(Tag::Poll);
    if is_about_polls && news.count() >= NEWS_MIN { started.saturating_add(NEWS) } else { started }
}

/// Returns whether `record` starts a job that runs already.
pub(crate) fn starts_again(record: &Record) -> bool {
    record.tag == Tag::Poll && record.says == Says::Little && !record.failed
}

/// The number of additional repetitions for searches that have little in common, or check an edit.
const SEARCH: i16 = 5;

/// Returns the additional repetitions that `rule` asks for at a search with the answer of other searches that are hardly
/// like it, or if something was written shortly before them: that old names are gone is good news.
fn searching<const W: usize>(rule: &Rule<'_>, view: &View, window: &Window<W>) -> i16 {
    let is_alike = match (rule.args, rule.results) {
        (Args::Similar, Results::Same) => true,
        (Args::SameTool, Results::Near) => (view.similar & Mask::newest(4)).count() >= 2,
        _ => return 0,
    };
    let is_check = window.has_written(view.reach & Mask::newest(9));
    if is_alike && !is_check { 0 } else { SEARCH }
}
