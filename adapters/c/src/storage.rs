//! Detectors in storage of the caller.
//!
//! A head with the window, the policy and a stamp precedes each detector. The stamp covers both pointers
//! and the address of the head, so it does not match in storage that was never initialised, was moved or
//! was overwritten.

use core::ffi::c_void;

use unstuck_core::{
    Announced, Call, CallId, Detector, Digest, Finding, LoopId, Nearness, Outcome, Statistics,
    Turn, Verdict,
};

use crate::policy::{self, unstuck_policy_t};
use crate::status::unstuck_status_t as Status;
use crate::window::unstuck_window_t;

/// A detector in storage of the caller, known by its address.
#[derive(Debug)]
pub struct unstuck_t(());

/// The part of a detector that does not depend on its window.
#[repr(C)]
pub(crate) struct Head {
    /// Shows that [`put`] wrote the rest.
    stamp: usize,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
    /// The latest finding. Findings that come from C are made from it, because only the engine can create
    /// one.
    seed: Option<Finding>,
}

/// A detector with its head.
#[repr(C)]
pub(crate) struct Slot<const W: usize> {
    head: Head,
    detector: Detector<'static, W>,
}

/// The methods of a detector of any window that every program is linked with.
///
/// It has fewer methods than the engine's `AnyDetector`, to keep small programs small. A full window adds
/// [`Inspect`].
pub(crate) trait Events {
    fn statistics(&self) -> &Statistics;
    fn announce(&mut self, call: Call) -> Announced;
    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict;
    fn vetoed(&mut self, call: CallId) -> Verdict;
    fn cancel(&mut self, call: CallId) -> Verdict;
    fn retry(&mut self, calls: usize) -> usize;
    fn finish(&mut self) -> Verdict;
    fn text_turn(&mut self, turn: Turn) -> Verdict;
    fn user_message(&mut self, message: Digest) -> Verdict;
    fn clear(&mut self);
    fn progress(&mut self);
    fn silence(&mut self, id: LoopId);
    fn false_positive(&mut self, finding: &Finding);
}

impl<const W: usize> Events for Detector<'static, W> {
    fn statistics(&self) -> &Statistics {
        self.statistics()
    }
    fn announce(&mut self, call: Call) -> Announced {
        self.announce(call)
    }
    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict {
        self.outcome(call, outcome)
    }
    fn vetoed(&mut self, call: CallId) -> Verdict {
        self.vetoed(call)
    }
    fn cancel(&mut self, call: CallId) -> Verdict {
        self.cancel(call)
    }
    fn retry(&mut self, calls: usize) -> usize {
        self.retry(calls)
    }
    fn finish(&mut self) -> Verdict {
        self.finish()
    }
    fn text_turn(&mut self, turn: Turn) -> Verdict {
        self.text_turn(turn)
    }
    fn user_message(&mut self, message: Digest) -> Verdict {
        self.user_message(message)
    }
    fn clear(&mut self) {
        self.clear();
    }
    fn progress(&mut self) {
        self.progress();
    }
    fn silence(&mut self, id: LoopId) {
        self.silence(id);
    }
    fn false_positive(&mut self, finding: &Finding) {
        self.false_positive(finding);
    }
}

/// The methods of a detector that only a full window has.
pub(crate) trait Inspect {
    fn peek(&self, call: Call) -> Verdict;
    fn nearest(&self) -> Option<Nearness>;
    /// Returns the length of the checkpoint.
    fn save(&self, buffer: &mut [u8]) -> Result<usize, Status>;
}

impl<const W: usize> Inspect for Detector<'static, W> {
    fn peek(&self, call: Call) -> Verdict {
        self.peek(call)
    }
    fn nearest(&self) -> Option<Nearness> {
        self.nearest()
    }
    fn save(&self, buffer: &mut [u8]) -> Result<usize, Status> {
        Ok(self.save(buffer)?.len())
    }
}

/// Returns the detector of window `W` behind `head`.
///
/// # Safety
///
/// `head` is the head of a `Slot<W>`.
pub(crate) unsafe fn events<const W: usize>(head: *mut Head) -> *mut dyn Events {
    let slot: *mut Slot<W> = head.cast();
    // SAFETY: the detector is within the slot.
    unsafe { &raw mut (*slot).detector }
}

/// Like [`events`], for the methods of a full window.
///
/// # Safety
///
/// `head` is the head of a `Slot<W>`.
pub(crate) unsafe fn inspect<const W: usize>(head: *mut Head) -> *mut dyn Inspect {
    let slot: *mut Slot<W> = head.cast();
    // SAFETY: the detector is within the slot.
    unsafe { &raw mut (*slot).detector }
}

/// Marks a detector of this library in its stamp.
const MAGIC: usize = 0x7573_6b63;

fn stamp(
    head: *const Head,
    window: *const unstuck_window_t,
    policy: *const unstuck_policy_t,
) -> usize {
    let addresses = [head.addr(), window.addr(), policy.addr()];
    addresses.into_iter().fold(MAGIC, |stamp, address| stamp.rotate_left(9) ^ address)
}

/// Checks that `storage` of `size` bytes can hold a `T`.
pub(crate) fn fits<T>(storage: *const c_void, size: usize) -> Result<(), Status> {
    if storage.is_null() {
        Err(Status::UNSTUCK_NULL)
    } else if size < size_of::<T>() {
        Err(Status::UNSTUCK_STORAGE_SHORT)
    } else if !storage.cast::<T>().is_aligned() {
        Err(Status::UNSTUCK_STORAGE_MISALIGNED)
    } else {
        Ok(())
    }
}

/// Puts the detector that `make` returns for `policy` into `storage`.
///
/// # Safety
///
/// `storage` is NULL, or `size` bytes that C may write and that no other code uses from now on. `policy`
/// is NULL, or points at readable bytes that do not change for as long. `window` is of `W` calls.
pub(crate) unsafe fn put<const W: usize>(
    window: &'static unstuck_window_t,
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    make: impl FnOnce(&'static unstuck_policy_t) -> Result<Detector<'static, W>, Status>,
) -> Result<(), Status> {
    fits::<Slot<W>>(storage, size)?;
    // SAFETY: the caller guarantees it.
    let detector = make(unsafe { policy::at(policy)? })?;
    let slot: *mut Slot<W> = storage.cast();
    let head = Head { stamp: stamp(slot.cast(), window, policy), window, policy, seed: None };
    // SAFETY: the slot fits and is aligned, and C lets us write there.
    unsafe { slot.write(Slot { head, detector }) };
    Ok(())
}

/// A detector of any window in its storage.
pub(crate) struct Handle<'c, D: ?Sized> {
    pub(crate) policy: &'static unstuck_policy_t,
    pub(crate) seed: &'c mut Option<Finding>,
    pub(crate) detector: &'c mut D,
}

impl<D: ?Sized> Handle<'_, D> {
    /// Keeps the finding of `verdict`, if it has one. Findings that come from C are made from it.
    pub(crate) fn remember(&mut self, verdict: &Verdict) {
        if verdict.finding.is_some() {
            *self.seed = verdict.finding;
        }
    }
}

/// Returns the head at `detector`, if its stamp matches.
///
/// # Safety
///
/// `detector` is NULL, or points at as many bytes as a head has, which C may read.
unsafe fn head(detector: *const unstuck_t) -> Result<*mut Head, Status> {
    let head: *mut Head = detector.cast_mut().cast();
    if head.is_null() {
        return Err(Status::UNSTUCK_NULL);
    }
    if !head.is_aligned() {
        return Err(Status::UNSTUCK_NO_DETECTOR);
    }
    // SAFETY: any bytes are such numbers and addresses. The addresses are not followed yet.
    let (found, window, policy) = unsafe {
        (
            (&raw const (*head).stamp).read(),
            (&raw const (*head).window).read(),
            (&raw const (*head).policy).read(),
        )
    };
    if found == stamp(head, window, policy) { Ok(head) } else { Err(Status::UNSTUCK_NO_DETECTOR) }
}

/// Returns the detector at `detector`.
///
/// # Safety
///
/// `detector` is NULL, or points at storage that C may read and write, and that no other code uses while
/// the result lives.
pub(crate) unsafe fn find<'c>(detector: *mut unstuck_t) -> Result<Handle<'c, dyn Events>, Status> {
    // SAFETY: the caller guarantees it. The stamp shows that `put` wrote the whole slot.
    unsafe {
        let head = head(detector)?;
        let (window, policy) = (&*(*head).window, policy::at((*head).policy)?);
        Ok(Handle { policy, seed: &mut (*head).seed, detector: &mut *(window.events)(head) })
    }
}

/// Returns the detector at `detector`, if its window is a full one.
///
/// # Safety
///
/// As for [`find`].
pub(crate) unsafe fn find_full<'c>(
    detector: *mut unstuck_t,
) -> Result<Handle<'c, dyn Inspect>, Status> {
    // SAFETY: the caller guarantees it. The stamp shows that `put` wrote the whole slot.
    unsafe {
        let head = head(detector)?;
        let (window, policy) = (&*(*head).window, policy::at((*head).policy)?);
        let full = window.full.ok_or(Status::UNSTUCK_NOT_FULL)?;
        Ok(Handle { policy, seed: &mut (*head).seed, detector: &mut *(full.inspect)(head) })
    }
}
