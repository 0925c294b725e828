//! Policies: the presets, each by a function of its own, and those with rules for single tools.
//!
//! A program is linked with the presets that it names, and with no other.

use core::ffi::{c_char, c_void};
use core::slice;

use unstuck_core::{Policy, PolicyError, PolicyErrorKind, RuleIndex, ToolRule, presets};
use unstuck_text::{Likeness, Recipe, ResultPart};

use crate::memory::{self, Line, Place};
use crate::status::{self, unstuck_status_t, unstuck_status_t as Status};
use crate::storage;
use crate::verdict::unstuck_tool_rule_t;

/// A set of rules, and how digests are made for them. Many detectors may follow one.
#[derive(Debug)]
pub struct unstuck_policy_t {
    /// [`MAGIC`]; of one in storage of the caller's mixed with its address, since what it points at
    /// stands there, too.
    magic: usize,
    pub(crate) policy: Policy<'static>,
    pub(crate) recipe: Recipe,
}

/// How many bytes a policy of your own takes, without what its tools add: see UNSTUCK_POLICY_SIZE().
pub const UNSTUCK_POLICY_HEAD: usize = 224;

/// How many bytes each rule for a tool adds.
pub const UNSTUCK_POLICY_TOOL: usize = 8;

/// How many bytes a policy takes in this build.
pub(crate) const SIZE: usize = size_of::<unstuck_policy_t>();

const _: () = assert!(SIZE <= UNSTUCK_POLICY_HEAD);
const _: () = assert!(size_of::<ToolRule>() <= UNSTUCK_POLICY_TOOL);

/// What stands for a policy of this library.
const MAGIC: usize = 0x7573_6b70;

impl unstuck_policy_t {
    const fn new(policy: Policy<'static>, recipe: Recipe) -> Self {
        Self { magic: MAGIC, policy, recipe }
    }

    /// The policy in storage of the caller's at `place`.
    pub(crate) fn own(place: *const Self, policy: Policy<'static>, recipe: Recipe) -> Self {
        Self { magic: MAGIC ^ place.addr(), policy, recipe }
    }
}

/// The policy at `place`.
///
/// # Safety
///
/// `place` is NULL, or points at as many bytes as a policy has, which C may read and which stay as
/// they are.
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
    // SAFETY: the number tells that a policy stands there.
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

/// The default, tuned on labelled runs: the same call with the same result, cycles, failures,
/// waiting and talk, from a nudge to a stop. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_balanced() -> *const unstuck_policy_t {
    &raw const BALANCED
}

/// The same call with the same result five times among the last 20: start over. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_start_over() -> *const unstuck_policy_t {
    &raw const START_OVER
}

/// The same call three times among 11, or a cycle of 2 to 5 calls run twice: warn, warn again, stop.
/// Blind to results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated() -> *const unstuck_policy_t {
    &raw const GRADUATED
}

/// As unstuck_graduated(), slower: five among 16, or a cycle of 3 to 5 run three times. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated_conservative() -> *const unstuck_policy_t {
    &raw const GRADUATED_CONSERVATIVE
}

/// As unstuck_graduated(), quicker: two among 11, or a cycle of 2 to 4 run twice. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_graduated_aggressive() -> *const unstuck_policy_t {
    &raw const GRADUATED_AGGRESSIVE
}

/// Nudges early: the same call three times in a row, alike ones four times, three failing test runs
/// or commands, three turns of talk. Blind to results. Window 10.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_nudge_early() -> *const unstuck_policy_t {
    &raw const NUDGE
}

/// The same call twice in a row, or a cycle of 2 or 3 calls run twice; climbs with each finding of
/// the same loop. Blind to results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_cycles() -> *const unstuck_policy_t {
    &raw const CYCLES
}

/// The same call three times among the last 20: stop. Blind to results. Window 20.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_repeat() -> *const unstuck_policy_t {
    &raw const REPEAT
}

/// Writes the name of a policy into a buffer of size bytes, as snprintf() would: as much as fits,
/// always with a NUL, and never a part of a character. Returns its length without the NUL; 0 for what
/// is no policy. The buffer may be NULL where size is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_name(
    policy: *const unstuck_policy_t,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the header asks of every pointer.
    let asked = unsafe { (at(policy), memory::room(buffer, size)) };
    let (Ok(policy), Ok(buffer)) = asked else { return 0 };
    Line::new(buffer).copy(policy.policy.name())
}

/// Writes the name of a rule into a buffer of size bytes, as unstuck_policy_name() does. The rule is
/// the one that a finding names by rule and about_text. Returns its length without the NUL; 0 where
/// there is no such rule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_rule_name(
    policy: *const unstuck_policy_t,
    rule: u8,
    about_text: u8,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: as the header asks of every pointer.
    let asked = unsafe { (at(policy), memory::room(buffer, size)) };
    let (Ok(policy), Ok(buffer)) = asked else { return 0 };
    let rule = if about_text == 0 { RuleIndex::Call(rule) } else { RuleIndex::Text(rule) };
    Line::new(buffer).copy(policy.policy.rule_name(rule))
}

/// How many calls a policy looks back over, and so the least window of a detector that follows it; 0
/// for what is no policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_window(policy: *const unstuck_policy_t) -> u8 {
    // SAFETY: as the header asks of every pointer.
    unsafe { at(policy) }.map_or(0, |policy| policy.policy.window())
}

/// Makes a policy with the rules of base, and with what rules says of single tools, in storage of the
/// caller's.
///
/// storage: size bytes, aligned to UNSTUCK_ALIGN; UNSTUCK_POLICY_SIZE(count) are enough. It must stay
/// as it is for as long as a detector follows the policy, and so must base and its storage: its rules
/// are not copied, and what it says of single tools does not hold here. rules may be thrown away
/// afterwards. policy: receives the address of the policy, which is that of storage.
///
/// Errors: UNSTUCK_NULL, UNSTUCK_STORAGE_SHORT, UNSTUCK_STORAGE_MISALIGNED, UNSTUCK_NO_POLICY;
/// UNSTUCK_RULES if there are more than 64, or two about one tool. Where there is an error storage may
/// hold anything.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unstuck_policy_with_tools(
    storage: *mut c_void,
    size: usize,
    base: *const unstuck_policy_t,
    rules: *const unstuck_tool_rule_t,
    count: usize,
    policy: *mut *const unstuck_policy_t,
) -> unstuck_status_t {
    // SAFETY: as the header asks of every pointer.
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
    /// A policy, and behind it the rules that it names.
    #[repr(C)]
    struct Own {
        policy: unstuck_policy_t,
        rules: [ToolRule; 0],
    }

    if count > unstuck_core::TOOL_RULES_MAX {
        return Err(Status::UNSTUCK_RULES);
    }
    let needed = size_of::<Own>().saturating_add(count.saturating_mul(size_of::<ToolRule>()));
    // SAFETY: the caller says so.
    let (base, policy) = unsafe { (at(base)?, Place::new(policy)?) };
    storage::fits::<Own>(storage, size)?;
    if size < needed {
        return Err(Status::UNSTUCK_STORAGE_SHORT);
    }
    let own: *mut Own = storage.cast();
    // SAFETY: the storage is long enough for so many rules behind the policy, and aligned for both;
    // there are so many rules to read.
    let rules: &'static [ToolRule] = unsafe {
        let rules: *mut ToolRule = (&raw mut (*own).rules).cast();
        for place in 0..count {
            rules.wrapping_add(place).write(memory::read(first.wrapping_add(place))?.rule());
        }
        slice::from_raw_parts(rules, count)
    };
    let made = base.policy.with_tools(rules).map_err(flaw)?;
    // SAFETY: as above.
    unsafe {
        let place = &raw mut (*own).policy;
        place.write(unstuck_policy_t::own(place, made, base.recipe));
        policy.put(place);
    }
    Ok(())
}

/// What C is told of a policy that cannot be.
pub(crate) fn flaw(error: PolicyError<'_>) -> Status {
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
