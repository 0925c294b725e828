//! Policies: the presets, and policies with rules for single tools.
//!
//! Each preset is returned by a function of its own, so a program is linked only with the presets that it
//! names.

use core::ffi::{c_char, c_void};
use core::slice;

use unstuck_core::{Policy, PolicyError, PolicyErrorKind, RuleIndex, ToolRule, presets};
use unstuck_text::{Likeness, Recipe, ResultPart};

use crate::memory::{self, Output, TextBuffer};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage;
use crate::verdict::unstuck_tool_rule_t;

/// A set of rules, with a recipe for digests. Many detectors may share one.
#[derive(Debug)]
pub struct unstuck_policy_t {
    /// [`MAGIC`]. In storage of the caller it is mixed with the address, because the policy points into that
    /// storage.
    magic: usize,
    pub(crate) policy: Policy<'static>,
    pub(crate) recipe: Recipe,
}

/// The size in bytes of a policy of your own without its rules: see UNSTUCK_POLICY_SIZE().
pub const UNSTUCK_POLICY_HEAD: usize = 224;

/// The size in bytes of each rule for a tool.
pub const UNSTUCK_POLICY_TOOL: usize = 8;

/// The size in bytes of a policy in this build.
pub(crate) const SIZE: usize = size_of::<unstuck_policy_t>();

const _: () = assert!(SIZE <= UNSTUCK_POLICY_HEAD);
const _: () = assert!(size_of::<ToolRule>() <= UNSTUCK_POLICY_TOOL);

/// Marks a policy of this library.
const MAGIC: usize = 0x7573_6b70;

impl unstuck_policy_t {
    const fn new(policy: Policy<'static>, recipe: Recipe) -> Self {
        Self { magic: MAGIC, policy, recipe }
    }

    /// Creates the policy for the storage of the caller at `place`.
    pub(crate) fn own(place: *const Self, policy: Policy<'static>, recipe: Recipe) -> Self {
        Self { magic: MAGIC ^ place.addr(), policy, recipe }
    }
}

/// Returns the policy at `place`.
///
/// # Safety
///
/// `place` is NULL, or points at as many bytes as a policy has, which C may read and which do not change.
pub(crate) unsafe fn at(
    place: *const unstuck_policy_t,
) -> Result<&'static unstuck_policy_t, Status> {
    if place.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    if !place.is_aligned() {
        return Err(Status::UNSTUCK_NO_POLICY);
    }
    // SAFETY: any bytes are such a number.
    let magic = unsafe { (&raw const (*place).magic).read() };
    if magic != MAGIC && magic != MAGIC ^ place.addr() {
        return Err(Status::UNSTUCK_NO_POLICY);
    }
    // SAFETY: the number shows that a policy is there.
    Ok(unsafe { &*place })
}

static BALANCED: unstuck_policy_t = unstuck_policy_t::new(presets::BALANCED, Recipe::BALANCED);
static START_OVER: unstuck_policy_t = unstuck_policy_t::new(presets::START_OVER, HEAD);
static GRADUATED: unstuck_policy_t = unstuck_policy_t::new(presets::GRADUATED, Recipe::EXACT);
static GRADUATED_CONSERVATIVE: unstuck_policy_t =
    unstuck_policy_t::new(presets::GRADUATED_CONSERVATIVE, Recipe::EXACT);
static GRADUATED_AGGRESSIVE: unstuck_policy_t =
    unstuck_policy_t::new(presets::GRADUATED_AGGRESSIVE, Recipe::EXACT);
static NUDGE: unstuck_policy_t = unstuck_policy_t::new(presets::NUDGE, BY_KEYS);
static CYCLES: unstuck_policy_t = unstuck_policy_t::new(presets::CYCLES, Recipe::EXACT);
static REPEAT: unstuck_policy_t = unstuck_policy_t::new(presets::REPEAT, Recipe::EXACT);

const HEAD: Recipe = Recipe { result: ResultPart::Head(500), ..Recipe::EXACT };
const BY_KEYS: Recipe = Recipe { likeness: Likeness::PrimaryKeys, ..Recipe::EXACT };

/// Returns the default policy, tuned on labelled runs. It finds equal calls with equal results, cycles,
/// failures, waiting and talk, and acts from a nudge to a stop. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_balanced() -> *const unstuck_policy_t {
    &raw const BALANCED
}

/// Returns a policy that starts over after five equal calls with equal results among the last 20. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_start_over() -> *const unstuck_policy_t {
    &raw const START_OVER
}

/// Returns a policy that warns, warns again, and stops: after three equal calls among 11, or a cycle of 2
/// to 5 calls run twice. It ignores results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated() -> *const unstuck_policy_t {
    &raw const GRADUATED
}

/// Returns a slower unstuck_graduated(): five equal calls among 16, or a cycle of 3 to 5 run three times.
/// Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated_conservative() -> *const unstuck_policy_t {
    &raw const GRADUATED_CONSERVATIVE
}

/// Returns a quicker unstuck_graduated(): two equal calls among 11, or a cycle of 2 to 4 run twice.
/// Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated_aggressive() -> *const unstuck_policy_t {
    &raw const GRADUATED_AGGRESSIVE
}

/// Returns a policy that nudges early: after three equal calls in a row, four similar ones, three failing
/// test runs or commands, or three turns of talk. It ignores results. Window 10.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_nudge_early() -> *const unstuck_policy_t {
    &raw const NUDGE
}

/// Returns a policy that finds two equal calls in a row, or a cycle of 2 or 3 calls run twice. Its action
/// rises with each finding of the same loop. It ignores results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_cycles() -> *const unstuck_policy_t {
    &raw const CYCLES
}

/// Returns a policy that stops after three equal calls among the last 20. It ignores results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_repeat() -> *const unstuck_policy_t {
    &raw const REPEAT
}

/// Writes the name of a policy into a buffer of size bytes, like snprintf(): as much as fits, always with a
/// NUL, and only whole characters. Returns the length of the name without the NUL, or 0 for a pointer that
/// is not a policy. The buffer may be NULL if size is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_name(
    policy: *const unstuck_policy_t,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header requires it.
    let asked = unsafe { (at(policy), memory::room(buffer, size)) };
    let (Ok(policy), Ok(buffer)) = asked else { return 0 };
    TextBuffer::new(buffer).copy(policy.policy.name())
}

/// Writes the name of a rule into a buffer of size bytes, as unstuck_policy_name() does. rule and about_text
/// are the fields of a finding. Returns the length of the name without the NUL, or 0 if there is no such
/// rule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_rule_name(
    policy: *const unstuck_policy_t,
    rule: u8,
    about_text: u8,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: the header requires it.
    let asked = unsafe { (at(policy), memory::room(buffer, size)) };
    let (Ok(policy), Ok(buffer)) = asked else { return 0 };
    let rule = if about_text == 0 { RuleIndex::Call(rule) } else { RuleIndex::Text(rule) };
    TextBuffer::new(buffer).copy(policy.policy.rule_name(rule))
}

/// Returns the number of calls that a policy looks back over, which is the smallest window for it. Returns 0
/// for a pointer that is not a policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_window(policy: *const unstuck_policy_t) -> u8 {
    // SAFETY: the header requires it.
    unsafe { at(policy) }.map_or(0, |policy| policy.policy.window())
}

/// Makes a policy with the rules of base and with count rules for single tools, in storage of the caller.
///
/// storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_POLICY_SIZE(count) bytes are enough. It must not
/// change while a detector uses the policy. Neither must base and its storage, because its rules are not
/// copied. Rules of base for single tools do not apply. rules may be freed afterwards. policy: receives the
/// address of the policy, which is the address of storage.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
/// UNSTUCK_RULES if there are more than 64 rules, or two for one tool. After an error storage may hold
/// anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_with_tools(
    storage: *mut c_void,
    size: usize,
    base: *const unstuck_policy_t,
    rules: *const unstuck_tool_rule_t,
    count: usize,
    policy: *mut *const unstuck_policy_t,
) -> unstuck_status_t {
    // SAFETY: the header requires it.
    status::of(unsafe { with_tools(storage, size, base, rules, count, policy) })
}

/// # Safety
///
/// As for [`unstuck_policy_with_tools`].
unsafe fn with_tools(
    storage: *mut c_void,
    size: usize,
    base: *const unstuck_policy_t,
    first: *const unstuck_tool_rule_t,
    count: usize,
    policy: *mut *const unstuck_policy_t,
) -> Result<(), Status> {
    /// A policy, followed by its rules.
    #[repr(C)]
    struct Own {
        policy: unstuck_policy_t,
        rules: [ToolRule; 0],
    }

    if count > unstuck_core::TOOL_RULES_MAX {
        return Err(Status::UNSTUCK_RULES);
    }
    let needed = size_of::<Own>().saturating_add(count.saturating_mul(size_of::<ToolRule>()));
    // SAFETY: the caller guarantees it.
    let (base, policy) = unsafe { (at(base)?, Output::new(policy)?) };
    storage::fits::<Own>(storage, size)?;
    if size < needed {
        return Err(Status::UNSTUCK_STORAGE_SHORT);
    }
    let own: *mut Own = storage.cast();
    // SAFETY: the storage is long enough for `count` rules behind the policy, and aligned for both. There
    // are `count` rules to read.
    let rules: &'static [ToolRule] = unsafe {
        let rules: *mut ToolRule = (&raw mut (*own).rules).cast();
        for place in 0..count {
            rules.wrapping_add(place).write(memory::read(first.wrapping_add(place))?.rule());
        }
        slice::from_raw_parts(rules, count)
    };
    let made = base.policy.with_tools(rules).map_err(status)?;
    // SAFETY: as above.
    unsafe {
        let place = &raw mut (*own).policy;
        place.write(unstuck_policy_t::own(place, made, base.recipe));
        policy.put(place);
    }
    Ok(())
}

/// Returns the status for a policy that cannot work.
pub(crate) fn status(error: PolicyError) -> Status {
    match error.flaw {
        PolicyErrorKind::WindowBeyondCapacity { .. } => Status::UNSTUCK_WINDOW,
        _ => Status::UNSTUCK_RULES,
    }
}

#[cfg(test)]
mod tests {
    use unstuck_text::PRESETS;

    use super::*;

    #[test]
    fn every_preset_is_there_with_its_recipe() {
        let here = [
            &BALANCED,
            &START_OVER,
            &GRADUATED,
            &GRADUATED_CONSERVATIVE,
            &GRADUATED_AGGRESSIVE,
            &NUDGE,
            &CYCLES,
            &REPEAT,
        ];
        assert_eq!(here.len(), PRESETS.len());
        for (here, there) in here.into_iter().zip(&PRESETS) {
            assert_eq!((here.policy, here.recipe), (*there.policy, there.recipe));
        }
    }
}
