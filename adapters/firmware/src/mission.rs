//! The robot's agent loop: from switching on to being home, over resets.

use core::fmt::Write as _;

use unstuck_core::{Action, Announced, Finding, Kind, PolicyError, Verdict};

use crate::event::{Entry, Event};
use crate::flash::{Flash, FlashError, PAGE};
use crate::planner::{Ask, Mishap, Place, Scene};
use crate::store::{RECORD_MAX, Store, StoreError};
use crate::text::Text;
use crate::watch::Watch;
use crate::world::World;

/// The longest message to the planner, in bytes.
pub const NUDGE_MAX: usize = 320;

/// How a run of the robot ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All orders are done with.
    Home,
    /// The processor is to be reset, for whatever reason.
    Reset,
}

/// Runs the robot from being switched on, with `flash` as it is, and tells `log` of everything.
///
/// ```
/// use unstuck_firmware::{Ended, FLASH_SIZE, Flash, run};
///
/// let mut memory = [0; FLASH_SIZE];
/// let mut starts = 1;
/// while let Ended::Reset = run(Flash::over(&mut memory), &mut |entry| println!("{entry}"))? {
///     starts += 1;
/// }
/// assert_eq!(starts, 3, "one reset, and one loss of power");
/// # Ok::<(), unstuck_core::PolicyError<'_>>(())
/// ```
///
/// # Errors
///
/// That of a policy that the engine has too short a window for.
pub fn run(
    flash: Flash<'_>,
    log: &mut dyn FnMut(Entry<'_>),
) -> Result<Ended, PolicyError<'static>> {
    let store = Store::over(flash);
    let (watch, world) = (Watch::new()?, World::new());
    let mut robot = Robot { place: Place::default(), watch, world, store, log };
    robot.resume();
    while let Some(scene) = robot.place.scene() {
        if let Err(Interrupted) = robot.play(scene) {
            robot.log(Event::Reset);
            return Ok(Ended::Reset);
        }
    }
    let statistics = robot.watch.statistics();
    let found = Kind::ALL.into_iter().map(|kind| statistics.findings(kind)).sum();
    let judged = statistics.checks();
    robot.log(Event::Home { judged, found });
    Ok(Ended::Home)
}

/// The robot goes no further.
struct Interrupted;

/// What became of one call.
enum Turn {
    /// The scene goes on.
    GoesOn,
    /// The watch ended it.
    Stopped,
    /// The planner asked for nothing more.
    Done,
}

/// The robot: its planner's place, its watch, its world and its flash.
///
/// Its larger steps are not inlined: what one of them needs of the stack would be taken from all
/// others, for as long as the mission lasts.
struct Robot<'r> {
    place: Place,
    watch: Watch,
    world: World,
    store: Store<'r>,
    log: &'r mut dyn FnMut(Entry<'_>),
}

impl Robot<'_> {
    /// Goes on from the newest save that can be gone on from.
    #[inline(never)]
    fn resume(&mut self) {
        let Self { store, watch, log, .. } = self;
        let mut say = |event: Event<'_>| log(Entry { at: 0, event });
        let found = store.newest().find_map(|record| match watch.resume(record.bytes) {
            Ok(place) => Some((place, record.number, record.slot.name())),
            Err(error) => {
                let slot = record.slot.name();
                say(Event::Unusable { slot, why: rendered::<160>(&error).as_str() });
                None
            }
        });
        if let Some((place, number, slot)) = found {
            let (boot, whole) = (place.boot.saturating_add(1), store.newest().count());
            say(Event::WentOn { boot, number, slot, whole });
            self.place = place;
        } else {
            say(Event::Began);
        }
        self.place.boot = self.place.boot.saturating_add(1);
        if let Some(scene) = self.place.scene() {
            self.world.suffer(scene.fault);
        }
    }

    /// Plays `scene` to its end.
    fn play(&mut self, scene: &Scene) -> Result<(), Interrupted> {
        if self.place.calls == 0 {
            self.watch.order(scene.order);
            self.world.suffer(scene.fault);
            self.log(Event::Ordered(scene.order));
        }
        loop {
            let turn = self.turn(scene);
            let calls = self.place.calls;
            match turn {
                Turn::GoesOn => {
                    if self.watch.has_something_to_lose() {
                        self.save(scene)?;
                    }
                    if scene.mishap == (Mishap::Reset { boot: self.place.boot, calls }) {
                        return Err(Interrupted);
                    }
                    continue;
                }
                Turn::Stopped => self.log(Event::Stopped { calls }),
                Turn::Done => self.log(Event::Over { calls }),
            }
            self.place.leave();
            return self.save(scene);
        }
    }

    /// Lets the planner ask for one call, and runs it if it may.
    #[inline(never)]
    fn turn(&mut self, scene: &Scene) -> Turn {
        let Some(ask) = self.place.next(scene) else { return Turn::Done };
        let announced = self.watch.announce(ask);
        let after = if announced.verdict.action >= Action::Block {
            self.refuse(ask, &announced)
        } else {
            self.make(ask, &announced)
        };
        let verdict = announced.verdict.or_stronger(after);
        if let Some(finding) = verdict.finding {
            self.tell(ask, verdict, &finding);
        }
        self.place.advance(scene, verdict.action);
        if verdict.action >= Action::StartOver { Turn::Stopped } else { Turn::GoesOn }
    }

    /// The call runs.
    fn make(&mut self, ask: Ask, announced: &Announced) -> Verdict {
        let answer = self.world.run(ask.tool, ask.args);
        let number = announced.id.seq().unwrap_or_default();
        let result = answer.text.as_str();
        if answer.failed {
            self.log(Event::Failed { number, ask, result });
        } else {
            self.log(Event::Made { number, ask, result });
        }
        self.watch.outcome(announced.id, ask, &answer)
    }

    /// The call does not run: the loop that it belongs to is blocked.
    fn refuse(&mut self, ask: Ask, announced: &Announced) -> Verdict {
        let number = announced.id.seq().unwrap_or_default();
        self.log(Event::Refused { number, ask });
        self.watch.refused(announced.id)
    }

    /// Tells the planner, and whoever reads the log, what was found; once a rung, and at each call
    /// that is refused.
    fn tell(&mut self, ask: Ask, verdict: Verdict, finding: &Finding) {
        let action = verdict.action;
        if verdict.fresh || action >= Action::Block {
            let rule = self.watch.rule_name(finding);
            self.log(Event::Found { action, rule, finding });
            let nudge = rendered::<NUDGE_MAX>(&finding.nudge(action, ask.tool));
            self.log(Event::Told(nudge.as_str()));
        }
    }

    /// Saves all that is known. A save that fails for another reason than the power is only logged:
    /// a robot that cannot save can still work.
    #[inline(never)]
    fn save(&mut self, scene: &Scene) -> Result<(), Interrupted> {
        let mut buffer = [0; RECORD_MAX];
        let Ok(record) = self.watch.save(&self.place, &mut buffer) else {
            self.log(Event::NotSaved("it is longer than a slot of flash"));
            return Ok(());
        };
        let Place { boot, calls, .. } = self.place;
        if scene.mishap == (Mishap::PowerCut { boot, calls }) {
            // One page is erased, and half of the record written.
            self.store.flash().lose_power_after(PAGE + record.len() / 2);
        }
        match self.store.save(record) {
            Ok((number, slot)) => {
                let (slot, bytes) = (slot.name(), record.len());
                self.log(Event::Saved { number, slot, bytes });
                Ok(())
            }
            Err(error) => {
                self.log(Event::NotSaved(rendered::<80>(&error).as_str()));
                match error {
                    StoreError::Flash(FlashError::PowerLost) => Err(Interrupted),
                    StoreError::Flash(FlashError::Beyond) | StoreError::TooLong(_) => Ok(()),
                }
            }
        }
    }

    fn log(&mut self, event: Event<'_>) {
        (self.log)(Entry { at: self.world.now(), event });
    }
}

/// What `shown` looks like, in a buffer of fixed length.
fn rendered<const N: usize>(shown: &dyn core::fmt::Display) -> Text<N> {
    let mut text = Text::new();
    // The text cuts what is too long, and so writing never fails.
    let _ = write!(text, "{shown}");
    text
}
