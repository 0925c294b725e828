//! A robot's agent loop with a loop detector, on a microcontroller without an operating system, a heap
//! or a clock.
//!
//! A planner asks for tool calls as raw JSON, as a language model does, and a simulated world returns
//! results. [`run`] is the loop between them. It is the same on a Cortex-M3 and on a computer:
//!
//! ```console
//! $ cargo xtask firmware                                          # on an emulated board
//! $ cargo run --manifest-path adapters/firmware/Cargo.toml        # on this computer
//! ```
//!
//! Both print the log `mission.log`. The detector finds a jammed wheel and a planner that swings between
//! two turns. It leaves moving joints and a charging battery alone. It finds a loop that began before a
//! reset at the same call as without the reset.
//!
//! The parts are small and meant to be copied: [`Supervisor`] is the detector with this robot's rules,
//! [`Store`] keeps its state in flash, and [`Text`] holds a nudge for the planner. The folder
//! `nrf52840-dk` is a template for a real board: copy it and replace the calls in `main.rs`.
//!
//! # The loop
//!
//! Announce each call before it runs. Do not run a blocked call. Report every result:
//!
//! ```
//! use unstuck_core::{Action, PolicyError};
//! use unstuck_firmware::{Fault, Supervisor, ToolCall, World};
//!
//! let (mut supervisor, mut world) = (Supervisor::new()?, World::new());
//! world.suffer(Fault::JammedWheel);
//! let mut runs = 0;
//! loop {
//!     let call = ToolCall { tool: "drive", args: r#"{"cm":40}"# }; // from the model
//!     let announced = supervisor.announce(call);
//!     let after = if announced.is_blocked() {
//!         supervisor.vetoed(announced.ticket)
//!     } else {
//!         runs += 1;
//!         let result = world.run(call.tool, call.args);
//!         supervisor.outcome(announced.ticket, call, &result)
//!     };
//!     let verdict = announced.verdict.or_stronger(after);
//!     if let Some(finding) = verdict.finding {
//!         let _ = finding.nudge(verdict.action, call.tool); // to be sent to the model
//!     }
//!     if verdict.action >= Action::StartOver {
//!         break; // stop the motors, and call a person
//!     }
//! }
//! assert_eq!(runs, 5, "the sixth, seventh and eighth were refused");
//! # Ok::<(), PolicyError>(())
//! ```
//!
//! # Choosing a window
//!
//! The window is the number of calls that the engine looks back. It must be as long as the policy's
//! window. A longer one finds nothing more. `balanced` needs twenty calls for its longest patterns: a
//! cycle of ten calls run twice, and eight polls among twenty calls. If your robot has four tools and no
//! plan longer than three calls, write a smaller policy. Memory and time for each call fall with the
//! window:
//!
//! ```
//! use unstuck_core::{
//!     Action, Args, Detector, Ladder, Pattern, Policy, PolicyError, Results, Rule, Rung, presets,
//! };
//!
//! const LADDER: Ladder<'_> =
//!     Ladder::by_repetitions(&[Rung::new(3, Action::Nudge), Rung::new(5, Action::Stop)]);
//! const RULES: &[Rule<'_>] = &[
//!     Rule::new("again", Args::Same, Results::Same, Pattern::Streak { times: 3 }, LADDER),
//!     Rule::new("circle", Args::Same, Results::Same, Pattern::cycle(2, 3, 3), LADDER),
//! ];
//! const CRAWLER: Result<Policy<'_>, PolicyError> = Policy::new("crawler", 9, RULES);
//!
//! let policy = CRAWLER.expect("its rules look back no further than nine calls");
//! assert!(Detector::<9, 1>::new(&policy).is_ok());
//! assert!(size_of::<Detector<'_, 9, 1>>() < size_of::<Detector<'_, 20>>());
//!
//! let error = Detector::<9, 1>::new(&presets::BALANCED).expect_err("the window is too short");
//! assert!(error.to_string().contains("20"), "{error}");
//! ```
//!
//! Such a policy finds only calls with equal results, after the recipe's masks. `balanced` also has rules
//! for failures that differ in a number, and more.
//!
//! # Memory
//!
//! A [`Worker`] is a plain value, and `size_of` is all its memory. Put it into a `static` or on the
//! stack. It grows with the window and with the number of open calls. A robot that does one thing at a
//! time needs one open call (`Worker<'_, 20, 1>`). 2.3 KiB of it are [`SimilarCalls`], which find calls that
//! are nearly alike. A host that compares only equal calls can use a [`Detector`] and [`Recipe::call`]
//! without them. `cargo xtask footprint` prints the memory, flash and stack of each part.
//!
//! The stack is deepest while a checkpoint is read, because the bytes are checked before they replace the
//! old state. `cargo xtask firmware` prints the depth for this program. Keep such steps out of the frame
//! of your main loop with `#[inline(never)]`, as [`Supervisor::resume`] does.
//!
//! [`RECIPE`] says that the robot reports failures, so the board has no code that reads failures from
//! test reports.
//!
//! # Without a clock
//!
//! The engine counts calls, not seconds. So a run gives the same verdicts on the board, in a simulation
//! and in a recording. Two things follow:
//!
//! - Time in a result must not make results differ. The recipe masks text that looks like a duration or
//!   a clock time, for example `after 812 ms` or `12:03:59`. It does not mask a bare count of ticks.
//!   Write the unit behind it, leave it out, or name it as a counter, as shown [below](#readings-of-sensors).
//! - Calls that the model issues together share a step, a number that grows with each turn of the model
//!   ([`Worker::announce_in`]). A call without a step is a step of its own, which is right for a robot
//!   that does one thing at a time.
//!
//! Sequence numbers of calls continue after a reset, so they connect the parts of a log.
//!
//! # Across resets
//!
//! A brown-out in the middle of a loop must not give a stuck planner eight more tries.
//! [`Detector::save`] (of `unstuck-core` with the feature `postcard`) writes at most
//! `Engine::CHECKPOINT_MAX` bytes with a version and a checksum. `Engine::restore(&POLICY, bytes)` takes
//! any bytes and refuses everything that was not written under this policy. After an update with other
//! rules the robot starts afresh. [`Store`] adds the parts that flash needs:
//!
//! - **Two slots in turn.** A page must be erased before it is written, and the power may go in between.
//!   So the older record is replaced, and its head is written last. One of the two slots is always
//!   complete. The tests cut the power at every byte.
//! - **Wear.** A page of flash lasts for about 10,000 to 100,000 erasures. The robot saves only
//!   [while there is something to lose], which means that some rule has half of the calls of a finding.
//!   A healthy robot rarely saves, and its ladder ends a stuck one. If a save for each call is cheap (FRAM,
//!   memory with a battery), save after each call. A restored state is an older state, so save the
//!   planner's progress with it, or clear the engine.
//! - **A torn save** loses the calls since the last complete save. The loop is found that much later, as
//!   in the last scene of the log.
//!
//! ```
//! use unstuck_firmware::{
//!     FLASH_SIZE, Fault, Flash, MissionState, RECORD_MAX, Store, Supervisor, ToolCall, World,
//! };
//!
//! let (mut memory, mut buffer) = ([0; FLASH_SIZE], [0; RECORD_MAX]);
//! let mut supervisor = Supervisor::new()?;
//! let call = ToolCall { tool: "grip", args: r#"{"force_n":3}"# };
//! let announced = supervisor.announce(call);
//! supervisor.outcome(announced.ticket, call, &World::new().run(call.tool, call.args));
//! let record = supervisor.save(&MissionState::default(), &mut buffer)?;
//! Store::over(Flash::over(&mut memory)).save(record)?;
//!
//! // The robot is switched off and on.
//! let store = Store::over(Flash::over(&mut memory));
//! let mut supervisor = Supervisor::new()?;
//! let mission = store.newest().find_map(|record| supervisor.resume(record.bytes).ok());
//! assert_eq!(mission.unwrap_or_default(), MissionState::default());
//! assert_eq!(supervisor.statistics().checks(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Readings of sensors
//!
//! A result is compared by its digest. Whether a reading equals the one before decides between a loop and
//! work:
//!
//! - **Noise is not progress.** A reading with a flickering last digit differs each time and hides a loop.
//!   Round it before it becomes text, for example a range to centimetres. If the number does not matter
//!   at all, name it in [`Recipe::counters`], as this robot does for temperatures of motors.
//! - **Important values are not masked.** If an angle, a distance, a charge or a count changes, the call is
//!   left alone, however often it is made.
//! - **Silence is no evidence** between different calls. A servo that only says `ok` may be sent to ten
//!   angles in a row. Between equal calls silence is evidence. Better results say what changed, for example
//!   the angle that was reached or the current that was drawn.
//! - **The host reports failures**, for example a stall, a time-out or a refused grip.
//! - **`near` is for failures that differ in a number**, such as `stalls at 41.3 A`. [`Recipe`] makes that
//!   digest, and `balanced` nudges at the fifth such failure.
//! - **A score** is the distance to the goal of an order. Lower is better. A score that is lower than ever
//!   before is progress, even if the result reads the same.
//! - **Progress without a result**, for example a part counter behind the gripper, is reported by
//!   [`Detector::progress`].
//!
//! ```
//! use unstuck_core::{Action, Detector, PolicyError};
//! use unstuck_firmware::{POLICY, RECIPE};
//! use unstuck_text::{Counter, Failures, Recipe};
//!
//! /// Returns the strongest action of four tries with the result `text`, each with its `score`.
//! fn strongest(text: &str, score: impl Fn(u32) -> Option<u32>) -> Action {
//!     let mut detector = Detector::<20, 1>::new(&POLICY).expect("twenty are enough");
//!     let tries = (0..4).map(|number| {
//!         let call = detector.announce(RECIPE.call("pull", r#"{"force_n":9}"#));
//!         let mut outcome = RECIPE.outcome("pull", text, false);
//!         if let Some(score) = score(number) {
//!             outcome = outcome.score(score);
//!         }
//!         detector.outcome(call.id, outcome).action
//!     });
//!     tries.max().unwrap_or_default()
//! }
//!
//! // The number behind `"motor_c":` is noise:
//! static NOISE: [Counter<'static>; 1] = [match Counter::new(r#"motor_c":#"#) {
//!     Ok(counter) => counter,
//!     Err(_) => panic!("a counter ends with # in the place of its number"),
//! }];
//! let recipe = Recipe { failures: Failures::Told, counters: &NOISE, ..Recipe::BALANCED };
//! let digest = |celsius| {
//!     recipe.outcome("drive", &format!(r#"{{"motor_c":{celsius}}}"#), true).digest()
//! };
//! assert_eq!(digest("41.3"), digest("44.0"));
//!
//! assert_eq!(strongest("the lever holds", |_| None), Action::Nudge);
//! assert_eq!(strongest("the lever holds", |number| Some(90 - 5 * number)), Action::Proceed);
//!
//! let temperature = |celsius| format!(r#"{{"error":"stalls","motor_c":{celsius}}}"#);
//! let outcome = |text: &str| RECIPE.outcome("drive", text, true).digest();
//! assert_eq!(outcome(&temperature("41.3")), outcome(&temperature("44.0")));
//! # Ok::<(), PolicyError>(())
//! ```
//!
//! # Limits of this crate
//!
//! It is a program to read and to copy from, not a library to depend on. The examples need
//! `unstuck-core`, `unstuck-text` and `postcard`. The flash is simulated in memory that outlasts a reset,
//! and a power cut loses whole bytes, not single bits. A driver of your flash replaces [`Flash`]. The
//! program has not run on real hardware.
//!
//! [`Detector`]: unstuck_core::Detector
//! [`Detector::progress`]: unstuck_core::Detector::progress
//! [`Detector::save`]: unstuck_core::Detector::save
//! [`SimilarCalls`]: unstuck_text::SimilarCalls
//! [`Recipe`]: unstuck_text::Recipe
//! [`Recipe::call`]: unstuck_text::Recipe::call
//! [`Recipe::counters`]: unstuck_text::Recipe::counters
//! [`Worker`]: unstuck_text::Worker
//! [`Worker::announce_in`]: unstuck_text::Worker::announce_in
//! [while there is something to lose]: Supervisor::has_something_to_lose

#![no_std]
#![forbid(unsafe_code)]

mod event;
mod flash;
mod mission;
mod planner;
mod store;
mod supervisor;
mod text;
mod world;

pub use event::{Entry, Event, Level};
pub use flash::{ERASED, FLASH_SIZE, Flash, FlashError, PAGE, PAGES};
pub use mission::{Exit, NUDGE_MAX, run};
pub use planner::{Mishap, MissionState, SCENES, Scene, ToolCall};
pub use store::{RECORD_MAX, Record, Slot, Store, StoreError};
pub use supervisor::{Engine, POLICY, RECIPE, RestoreError, Supervisor, WINDOW};
pub use text::Text;
pub use world::{Fault, RESULT_MAX, ToolResult, World};
