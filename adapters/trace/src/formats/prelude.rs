//! The names that the reader of every format uses.

pub(super) use std::borrow::Cow;

pub(super) use serde_json::Value;
pub(super) use serde_json::value::RawValue;

pub(super) use crate::costs::count;
pub(super) use crate::document::{self, Source};
pub(super) use crate::event::{Args, Outcome, Role, Tokens};
pub(super) use crate::field::{
    Arguments, Raw, block_text, checked_object, command_args, elements, entries, flag, flat_text,
    integer, is_object, is_true, json_args, member, members, nested, object, records, required,
    string, text_of_json, texts,
};
pub(super) use crate::fields::{self, Fields};
pub(super) use crate::format::{Layout, Lists};
pub(super) use crate::lines;
pub(super) use crate::object::Object;
pub(super) use crate::problem::{Done, ProblemKind};
pub(super) use crate::recorder::{MAIN, Recorder, Turn, all};
pub(super) use crate::time::{time, time_in_seconds};
