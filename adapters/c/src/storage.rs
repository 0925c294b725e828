//! Detectors in storage of the caller's: put there, and found again.
//!
//! A detector stands behind a head that does not depend on its window. The head opens with a stamp
//! over all that is followed later, and over its own address: what was never initialised, was moved
//! or overwritten has another.

use core::ffi::c_void;
use core::ptr;

use unstuck_core::{
    Announced, Call, CallId, Detector, Digest, Finding, LoopId, Outcome, Statistics, Turn, Verdict,
};

use crate::policy::{self, unstuck_policy_t};
use crate::status::unstuck_status_t as Status;

/// A detector in storage of the caller's. All that is known of it is its address.
#[derive(Debug)]
pub struct unstuck_t(());

/// What all detectors begin with.
#[repr(C)]
struct Head {
    /// Tells that the rest is what [`put`] wrote.
    stamp: usize,
    /// An [`Erase`] as an address, since any bytes may stand here.
    erase: *const c_void,
    policy: *const unstuck_policy_t,
    /// The latest finding: others are made in its form, which nobody but the engine can.
    seed: Option<Finding>,
}

/// A detector with its head.
#[repr(C)]
pub(crate) struct Slot<const W: usize> {
    head: Head,
    detector: Detector<'static, W>,
}

/// What C may tell a detector of any window, or ask of it.
///
/// As `AnyDetector` of the engine, less what few programs ask: every program is linked with all that
/// is here, and with what is in `of_window.rs` and `checkpoint.rs` where it names that.
pub(crate) trait Watch {
    fn statistics(&self) -> &Statistics;
    fn announce(&mut self, call: Call) -> Announced;
    fn outcome(&mut self, call: CallId, outcome: Outcome) -> Verdict;
    fn vetoed(&mut self, call: CallId) -> Verdict;
    fn finish(&mut self) -> Verdict;
    fn text_turn(&mut self, turn: Turn) -> Verdict;
    fn user_message(&mut self, message: Digest) -> Verdict;
    fn clear(&mut self);
    fn progress(&mut self);
    fn silence(&mut self, id: LoopId);
    fn false_positive(&mut self, finding: &Finding);
}

impl<const W: usize> Watch for Detector<'static, W> {
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

/// Finds the detector behind its head.
type Erase = unsafe fn(*mut Head) -> *mut dyn Watch;

/// The detector of window `W` behind `head`.
///
/// # Safety
///
/// `head` is that of a `Slot<W>`.
unsafe fn erase<const W: usize>(head: *mut Head) -> *mut dyn Watch {
    let slot: *mut Slot<W> = head.cast();
    // SAFETY: it is within the slot.
    unsafe { &raw mut (*slot).detector }
}

/// [`erase`] as an address.
fn eraser<const W: usize>() -> *const c_void {
    let erase: Erase = erase::<W>;
    erase as *const c_void
}

/// What stands for a detector of this library in the stamp.
const MAGIC: usize = 0x7573_6b63;

fn stamp(at: *const Head, erase: *const c_void, policy: *const unstuck_policy_t) -> usize {
    let addresses = [at.addr(), erase.addr(), policy.addr()];
    addresses.into_iter().fold(MAGIC, |stamp, address| stamp.rotate_left(9) ^ address)
}

/// Whether `storage` can hold a `T` that takes `size` bytes of it.
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

/// Puts the detector that `make` makes under `policy` into `storage`; gives its address.
///
/// # Safety
///
/// `storage` is NULL, or `size` bytes that C may write and that nobody else uses from now on;
/// `policy` is NULL, or points at what may be read and stays as it is for as long.
pub(crate) unsafe fn put<const W: usize>(
    storage: *mut c_void,
    size: usize,
    policy: *const unstuck_policy_t,
    make: impl FnOnce(&'static unstuck_policy_t) -> Result<Detector<'static, W>, Status>,
) -> Result<*mut unstuck_t, Status> {
    fits::<Slot<W>>(storage, size)?;
    // SAFETY: the caller says so.
    let detector = make(unsafe { policy::at(policy)? })?;
    let slot: *mut Slot<W> = storage.cast();
    let erase = eraser::<W>();
    let head = Head { stamp: stamp(slot.cast(), erase, policy), erase, policy, seed: None };
    // SAFETY: it fits, is aligned, and C lets us write there.
    unsafe { slot.write(Slot { head, detector }) };
    Ok(storage.cast())
}

/// A detector that was found again.
pub(crate) struct Found<'c> {
    pub(crate) policy: &'static unstuck_policy_t,
    pub(crate) seed: &'c mut Option<Finding>,
    pub(crate) watch: &'c mut dyn Watch,
}

/// The head at `detector`, if one was put there.
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
    // SAFETY: any bytes are such numbers and such addresses, and nobody follows those yet.
    let (found, erase, policy) = unsafe {
        (
            (&raw const (*head).stamp).read(),
            (&raw const (*head).erase).read(),
            (&raw const (*head).policy).read(),
        )
    };
    if found == stamp(head, erase, policy) { Ok(head) } else { Err(Status::UNSTUCK_NO_DETECTOR) }
}

/// The detector at `detector`.
///
/// # Safety
///
/// `detector` is NULL, or points at storage that C may read and write, and that nobody else uses
/// while the result lives.
pub(crate) unsafe fn find<'c>(detector: *mut unstuck_t) -> Result<Found<'c>, Status> {
    // SAFETY: the caller says so; then the stamp tells that `put` wrote all of the slot.
    unsafe {
        let head = head(detector)?;
        let erase: Erase = core::mem::transmute::<*const c_void, Erase>((*head).erase);
        let policy = policy::at((*head).policy)?;
        Ok(Found { policy, seed: &mut (*head).seed, watch: &mut *erase(head) })
    }
}

/// A detector whose window is known.
pub(crate) struct FoundOf<'c, const W: usize> {
    pub(crate) seed: &'c mut Option<Finding>,
    pub(crate) detector: &'c mut Detector<'static, W>,
}

/// The detector at `detector`, if its window is `W`.
///
/// # Safety
///
/// As for [`find`].
pub(crate) unsafe fn find_of<'c, const W: usize>(
    detector: *mut unstuck_t,
) -> Result<FoundOf<'c, W>, Status> {
    // SAFETY: the caller says so.
    let head = unsafe { head(detector)? };
    // SAFETY: the stamp tells that `put` wrote all of the head.
    if !ptr::eq(unsafe { (*head).erase }, eraser::<W>()) {
        return Err(Status::UNSTUCK_WINDOW);
    }
    let slot: *mut Slot<W> = head.cast();
    // SAFETY: and that of this window wrote all of the slot.
    Ok(unsafe { FoundOf { seed: &mut (*slot).head.seed, detector: &mut (*slot).detector } })
}
