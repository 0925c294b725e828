//! The robot's agent loop, from the start of the robot to the end of its mission.

use core::fmt::Write as _;

use unstuck_core::{Action, Finding, Kind, PolicyError, Verdict};
use unstuck_text::Ticket;

use crate::event::{Entry, Event};
use crate::flash::{Flash, FlashError, PAGE};
use crate::planner::{Mishap, MissionState, Scene, ToolCall};
use crate::store::{RECORD_MAX, Store, StoreError};
use crate::supervisor::Supervisor;
use crate::text::Text;
use crate::world::World;

/// The longest message to the planner, in bytes.
pub const NUDGE_MAX: usize = 320;

/// The end of a run of the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All orders are finished.
    Home,
    /// The processor has to be reset.
    Reset,
}

/// Runs the robot from its start, with any contents of `flash`. Passes every event to `log`.
///
/// ```
/// use unstuck_firmware::{Exit, FLASH_SIZE, Flash, run};
///
/// let mut memory = [0; FLASH_SIZE];
/// let mut starts = 1;
/// while let Exit::Reset = run(Flash::over(&mut memory), &mut |entry| println!("{entry}"))? {
///     starts += 1;
/// }
/// assert_eq!(starts, 3, "one reset, and one loss of power");
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
///
/// # Errors
///
/// The error of a policy whose window is longer than the engine's.
pub fn run(flash: Flash<'_>, log: &mut dyn FnMut(Entry<'_>)) -> Result<Exit, PolicyError> {
    let store = Store::over(flash);
    let (supervisor, world) = (Supervisor::new()?, World::new());
    let mut robot = Robot { mission: MissionState::default(), supervisor, world, store, log };
    robot.resume();
    while let Some(scene) = robot.mission.scene() {
        if let Err(Interrupted) = robot.play(scene) {
            robot.log(Event::Reset {});
            return Ok(Exit::Reset);
        }
    }
    let statistics = robot.supervisor.statistics();
    let findings = Kind::ALL.into_iter().map(|kind| statistics.findings(kind)).sum();
    let checks = statistics.checks();
    robot.log(Event::Home { checks, findings });
    Ok(Exit::Home)
}

/// The robot cannot continue without a reset.
struct Interrupted;

/// The state of a scene after a turn of the planner.
enum Turn {
    /// The scene continues.
    Continues,
    /// The supervisor ended it.
    Stopped,
    /// The planner asks for no more calls.
    Done,
}

/// The robot, with its supervisor, its world and its flash.
///
/// Its larger steps are not inlined. Otherwise the frame of the main loop would hold the stack of every
/// step for the whole mission.
struct Robot<'r> {
    mission: MissionState,
    supervisor: Supervisor,
    world: World,
    store: Store<'r>,
    log: &'r mut dyn FnMut(Entry<'_>),
}

impl Robot<'_> {
    /// Continues from the newest usable save.
    #[inline(never)]
    fn resume(&mut self) {
        let Self { store, supervisor, log, .. } = self;
        let mut say = |event: Event<'_>| log(Entry { at: 0, event });
        let found = store.newest().find_map(|record| match supervisor.resume(record.bytes) {
            Ok(mission) => Some((mission, record.number, record.slot.name())),
            Err(error) => {
                let slot = record.slot.name();
                say(Event::Unusable { slot, why: rendered::<160>(&error).as_str() });
                None
            }
        });
        if let Some((mission, number, slot)) = found {
            let (boot, whole) = (mission.boot.saturating_add(1), store.newest().count());
            say(Event::Resumed { boot, number, slot, whole });
            self.mission = mission;
        } else {
            say(Event::Started {});
        }
        self.mission.boot = self.mission.boot.saturating_add(1);
        if let Some(scene) = self.mission.scene() {
            self.world.suffer(scene.fault);
        }
    }

    /// Plays `scene` to its end.
    fn play(&mut self, scene: &Scene) -> Result<(), Interrupted> {
        if self.mission.calls == 0 {
            self.supervisor.order(scene.order);
            self.world.suffer(scene.fault);
            self.log(Event::Ordered { order: scene.order });
        }
        loop {
            let turn = self.turn(scene);
            let calls = self.mission.calls;
            match turn {
                Turn::Continues => {
                    if self.supervisor.has_something_to_lose() {
                        self.save(scene)?;
                    }
                    if scene.mishap == (Mishap::Reset { boot: self.mission.boot, calls }) {
                        return Err(Interrupted);
                    }
                    continue;
                }
                Turn::Stopped => self.log(Event::Stopped { calls }),
                Turn::Done => self.log(Event::Done { calls }),
            }
            self.mission.leave();
            return self.save(scene);
        }
    }

    /// Lets the planner ask for one call, and runs it unless it is blocked.
    #[inline(never)]
    fn turn(&mut self, scene: &Scene) -> Turn {
        let Some(call) = self.mission.next(scene) else { return Turn::Done };
        let announced = self.supervisor.announce(call);
        let after = if announced.is_blocked() {
            self.refuse(call, announced.ticket)
        } else {
            self.make(call, announced.ticket)
        };
        let verdict = announced.verdict.or_stronger(after);
        if let Some(finding) = verdict.finding {
            self.nudge(call, verdict, &finding);
        }
        self.mission.advance(scene, verdict.action);
        if verdict.action >= Action::StartOver { Turn::Stopped } else { Turn::Continues }
    }

    /// Runs a call.
    fn make(&mut self, call: ToolCall, ticket: Ticket) -> Verdict {
        let returned = self.world.run(call.tool, call.args);
        let number = ticket.id.seq().unwrap_or_default();
        let result = returned.text.as_str();
        if returned.failed {
            self.log(Event::Failed { number, call, result });
        } else {
            self.log(Event::Succeeded { number, call, result });
        }
        self.supervisor.outcome(ticket, call, &returned)
    }

    /// Refuses a call that would continue a blocked loop.
    fn refuse(&mut self, call: ToolCall, ticket: Ticket) -> Verdict {
        let number = ticket.id.seq().unwrap_or_default();
        self.log(Event::Refused { number, call });
        self.supervisor.vetoed(ticket)
    }

    /// Sends a nudge to the planner, and logs it. Does so once for each rung, and for each refused call.
    fn nudge(&mut self, call: ToolCall, verdict: Verdict, finding: &Finding) {
        let action = verdict.action;
        if verdict.fresh || action >= Action::Block {
            let rule = self.supervisor.rule_name(finding);
            self.log(Event::Loop { action, rule, finding });
            let nudge = rendered::<NUDGE_MAX>(&finding.nudge(action, call.tool));
            self.log(Event::Nudged { nudge: nudge.as_str() });
        }
    }

    /// Saves the state. Only a loss of power ends the run. Other failures are logged, because a robot
    /// that cannot save can still work.
    #[inline(never)]
    fn save(&mut self, scene: &Scene) -> Result<(), Interrupted> {
        let mut buffer = [0; RECORD_MAX];
        let Ok(record) = self.supervisor.save(&self.mission, &mut buffer) else {
            self.log(Event::NotSaved { why: "it is longer than a slot of flash" });
            return Ok(());
        };
        let MissionState { boot, calls, .. } = self.mission;
        if scene.mishap == (Mishap::PowerCut { boot, calls }) {
            // The power lasts until one page is erased and half of the record is written.
            self.store.flash().lose_power_after(PAGE + record.len() / 2);
        }
        match self.store.save(record) {
            Ok((number, slot)) => {
                let (slot, bytes) = (slot.name(), record.len());
                self.log(Event::Saved { number, slot, bytes });
                Ok(())
            }
            Err(error) => {
                self.log(Event::NotSaved { why: rendered::<80>(&error).as_str() });
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

/// Formats `shown` into a buffer of fixed length.
fn rendered<const N: usize>(shown: &dyn core::fmt::Display) -> Text<N> {
    let mut text = Text::new();
    // Writing never fails, because the text cuts what is too long.
    let _ = write!(text, "{shown}");
    text
}
