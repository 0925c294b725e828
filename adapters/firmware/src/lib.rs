//! A robot's agent loop, watched by the engine: how to use `unstuck-core` where there is no
//! operating system, no heap and no clock.
//!
//! A planner asks for tool calls as raw JSON, as a language model does; a simulated world answers.
//! [`run`] is the loop between them, the same on a Cortex-M3 and on the machine that you sit at:
//!
//! ```console
//! $ cargo xtask firmware                                          # on an emulated board
//! $ cargo run --manifest-path adapters/firmware/Cargo.toml        # on this machine
//! ```
//!
//! Both print what stands in `mission.log`: a wheel that is jammed and a planner that swings between
//! two turns are found; joints that near their goals and a battery that charges are left alone; a
//! loop that began before a reset is found after it, at the call where it would have been found
//! without. The parts are small, and meant to be taken over: [`Watch`] is the engine with its
//! digests, [`Store`] keeps it in flash, [`Text`] holds what the planner is told.
//!
//! # The loop
//!
//! Announce each call before it runs, do not run it from [`Block`] on, and report what came back:
//!
//! ```
//! use unstuck_core::{Action, PolicyError};
//! use unstuck_firmware::{Ask, Fault, Watch, World};
//!
//! let (mut watch, mut world) = (Watch::new()?, World::new());
//! world.suffer(Fault::JammedWheel);
//! let mut runs = 0;
//! loop {
//!     let ask = Ask { tool: "drive", args: r#"{"cm":40}"# }; // what the model asks for
//!     let announced = watch.announce(ask);
//!     let after = if announced.verdict.action >= Action::Block {
//!         watch.refused(announced.id)
//!     } else {
//!         runs += 1;
//!         let answer = world.run(ask.tool, ask.args);
//!         watch.outcome(announced.id, ask, &answer)
//!     };
//!     let verdict = announced.verdict.or_stronger(after);
//!     if let Some(finding) = verdict.finding {
//!         let _ = finding.nudge(verdict.action, ask.tool); // to be sent to the model
//!     }
//!     if verdict.action >= Action::StartOver {
//!         break; // stop the motors, and call a person
//!     }
//! }
//! assert_eq!(runs, 5, "the sixth, seventh and eighth were refused");
//! # Ok::<(), PolicyError<'_>>(())
//! ```
//!
//! # Choosing a window
//!
//! The window is how many calls the engine looks back. It must be as long as the policy asks for,
//! and a longer one finds nothing more. `balanced` asks for twenty, for the sake of its longest
//! patterns: a cycle of ten calls run twice, and eight polls among twenty. If your robot has four
//! tools and no plan longer than three calls, write a policy that says so; the memory and the time of
//! each call fall with the window:
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
//! const CRAWLER: Result<Policy<'_>, PolicyError<'_>> = Policy::new("crawler", 9, RULES);
//!
//! let policy = CRAWLER.expect("its rules look back no further than nine calls");
//! assert!(Detector::<9, 1>::new(&policy).is_ok());
//! assert!(size_of::<Detector<'_, 9, 1>>() < size_of::<Detector<'_, 20>>());
//!
//! let error = Detector::<9, 1>::new(&presets::BALANCED).expect_err("the window is too short");
//! assert!(error.to_string().contains("20"), "{error}");
//! ```
//!
//! Such a policy finds only what comes back the same to the letter, but for what the recipe masks.
//! `balanced` has rules for failures that differ in a number, and more.
//!
//! # Memory
//!
//! A [`Detector`] is a plain value, and `size_of` is all that it takes: put it into a `static` or on
//! the stack. It grows with the window and with the calls that may be open at once; a robot that
//! does one thing at a time needs one (`Detector<'_, 20, 1>`, see [`Engine`]). [`SimilarCalls`], which find
//! calls that are nearly alike, take 2 KiB, and a host that compares only equal calls leaves them
//! out by [`Recipe::call`]. `cargo xtask footprint` prints what each setting takes of memory, flash
//! and stack.
//!
//! The stack is at its deepest where a checkpoint is read, since what is read is checked before it
//! takes the place of what was there. `cargo xtask firmware` prints how deep that is for all of this
//! program; keep such steps out of the frame of your main loop (`#[inline(never)]`), as
//! [`Watch::resume`] does.
//!
//! What the board links is there because something calls it: [`RECIPE`] says that failures are told
//! and not read from texts, since a robot knows them, and has no test reports to read.
//!
//! # Without a clock
//!
//! The engine asks for none. It counts calls, not seconds, and so a run gives the same verdicts on
//! the board, in a simulator and in a recording. Two things follow:
//!
//! - Time in a result must not make it another result. Durations and clock times fall away by
//!   themselves if they look like some: `after 812 ms`, `12:03:59`. A bare count of ticks does not;
//!   write the unit behind it, leave it out, or name it as [below](#what-a-sensor-says).
//! - Calls that the model issues together must be told to be of one step, by a number that goes up
//!   with each turn of the model ([`Call::step`]). Calls without one are each a step of their own,
//!   which is right for a robot that does one thing at a time.
//!
//! Sequence numbers go on over resets, and so they are what ties a log together.
//!
//! # Across resets
//!
//! A brown-out in the middle of a loop must not give a stuck planner another eight tries.
//! [`Detector::save`] (of `unstuck-core` with the feature `postcard`) writes a few hundred bytes with a
//! version and a sum. `Engine::restore(&POLICY, bytes)` makes a detector of any bytes, and refuses all
//! that none of this policy wrote: after an update with other rules the robot begins afresh. Around
//! that, [`Store`] does what flash needs:
//!
//! - **Two slots, in turns.** A page must be erased before it is written, and the power may go in
//!   between. So the older record is replaced, its head is written last, and whatever happens one
//!   of the two is whole. The tests cut the power at every single byte.
//! - **Wear.** A page of flash lasts for some ten to a hundred thousand erasures. [`Watch`] saves
//!   only [while there is something to lose]: while some rule has half of what a finding takes. A
//!   healthy robot writes seldom, and a stuck one is ended by its ladder. Where a save for each
//!   call is cheap (FRAM, memory with a battery), take that instead. What is gone back to is an older
//!   state: the planner's place must be saved with it, as here, or the engine cleared.
//! - **What a torn save costs** are the calls since the last whole one: the loop is found that much
//!   later, as in the last scene of the log.
//!
//! ```
//! use unstuck_firmware::{Ask, FLASH_SIZE, Fault, Flash, Place, RECORD_MAX, Store, Watch, World};
//!
//! let (mut memory, mut buffer) = ([0; FLASH_SIZE], [0; RECORD_MAX]);
//! let mut watch = Watch::new()?;
//! let ask = Ask { tool: "grip", args: r#"{"force_n":3}"# };
//! let announced = watch.announce(ask);
//! watch.outcome(announced.id, ask, &World::new().run(ask.tool, ask.args));
//! let record = watch.save(&Place::default(), &mut buffer)?;
//! Store::over(Flash::over(&mut memory)).save(record)?;
//!
//! // The robot is switched off and on.
//! let store = Store::over(Flash::over(&mut memory));
//! let mut watch = Watch::new()?;
//! let place = store.newest().find_map(|record| watch.resume(record.bytes).ok());
//! let place = place.unwrap_or_default(); // which is the start of the mission
//! assert_eq!(place, Place::default());
//! assert_eq!(watch.statistics().checks(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a sensor says
//!
//! An outcome is what the model reads, made into a digest. Whether it is the same as before decides
//! between a loop and work, so that readings want some thought:
//!
//! - **Noise is not progress.** A reading whose last digit flickers is another result each time, and
//!   hides a loop. Round it to what matters *before* it becomes text (a range to centimetres), or
//!   name what stands before it in [`Recipe::counters`] if it does not matter at all, as temperatures
//!   of motors here (the next example).
//! - **What matters stays.** Angles, distances, charge, counts are not masked: where they move, the
//!   call is left alone, however often it is made.
//! - **Silence is no evidence** between different calls: a servo that only says `ok` may be sent to ten
//!   angles, one after the other. Between equal calls it is. If the robot can know better, let it say
//!   what changed: the angle that was reached, the current that was drawn.
//! - **A failure is told, not guessed.** A stall, a timeout, a refused grip: report them as failed.
//! - **`near` is for failures that differ in a number**, such as `stalls at 41.3 A`: [`Recipe`] makes
//!   that digest by itself, and `balanced` nudges at the fifth.
//! - **A score** is the distance to the goal, where an order has one: lower is better, and a better
//!   one than ever before is progress, even if the answer reads the same.
//! - **Progress that no answer shows**, as a counter of parts behind the gripper: [`Detector::progress`].
//!
//! ```
//! use unstuck_core::{Action, Detector, PolicyError};
//! use unstuck_firmware::{POLICY, RECIPE};
//! use unstuck_text::{Counter, Failures, Recipe};
//!
//! /// What is said of four tries with this `answer`, each with the `score` of its number.
//! fn worst(answer: &str, score: impl Fn(u32) -> Option<u32>) -> Action {
//!     let mut detector = Detector::<20, 1>::new(&POLICY).expect("twenty are enough");
//!     let tries = (0..4).map(|number| {
//!         let call = detector.announce(RECIPE.call("pull", r#"{"force_n":9}"#));
//!         let mut outcome = RECIPE.outcome("pull", answer, false);
//!         if let Some(score) = score(number) {
//!             outcome = outcome.score(score);
//!         }
//!         detector.outcome(call.id, outcome).action
//!     });
//!     tries.max().unwrap_or_default()
//! }
//!
//! // How this robot is told that the number behind `"motor_c":` is noise:
//! static NOISE: [Counter<'static>; 1] = [match Counter::new(r#"motor_c":#"#) {
//!     Ok(counter) => counter,
//!     Err(_) => panic!("a counter ends with # in the place of its number"),
//! }];
//! let mine = Recipe { failures: Failures::Told, counters: &NOISE, ..Recipe::BALANCED };
//! let said = |celsius| mine.outcome("drive", &format!(r#"{{"motor_c":{celsius}}}"#), true);
//! assert_eq!(said("41.3").digest(), said("44.0").digest());
//!
//! assert_eq!(worst("the lever holds", |_| None), Action::Nudge);
//! assert_eq!(worst("the lever holds", |number| Some(90 - 5 * number)), Action::Proceed);
//!
//! let temperature = |celsius| format!(r#"{{"error":"stalls","motor_c":{celsius}}}"#);
//! let outcome = |text: &str| RECIPE.outcome("drive", text, true).digest();
//! assert_eq!(outcome(&temperature("41.3")), outcome(&temperature("44.0")));
//! # Ok::<(), PolicyError<'_>>(())
//! ```
//!
//! # What this crate does not do
//!
//! It is a program to read and to take from, and no library to depend on: what the examples name of
//! it stands in its few files, and needs `unstuck-core`, `unstuck-text` and `postcard`. Its flash is simulated in
//! memory that a reset leaves alone, and loses bytes, not bits; a driver of your flash goes in the
//! place of [`Flash`]. Nobody has run it on a board of metal.
//!
//! [`Block`]: unstuck_core::Action::Block
//! [`Call::step`]: unstuck_core::Call::step
//! [`Detector`]: unstuck_core::Detector
//! [`Detector::progress`]: unstuck_core::Detector::progress
//! [`Detector::save`]: unstuck_core::Detector::save
//! [`SimilarCalls`]: unstuck_text::SimilarCalls
//! [`Recipe`]: unstuck_text::Recipe
//! [`Recipe::call`]: unstuck_text::Recipe::call
//! [`Recipe::counters`]: unstuck_text::Recipe::counters
//! [while there is something to lose]: Watch::has_something_to_lose

#![no_std]
#![forbid(unsafe_code)]

mod event;
mod flash;
mod mission;
mod planner;
mod store;
mod text;
mod watch;
mod world;

pub use event::{Entry, Event, Level};
pub use flash::{ERASED, FLASH_SIZE, Flash, FlashError, PAGE, PAGES};
pub use mission::{Ended, NUDGE_MAX, run};
pub use planner::{Ask, Mishap, Place, SCENES, Scene};
pub use store::{RECORD_MAX, Record, Slot, Store, StoreError};
pub use text::Text;
pub use watch::{Engine, POLICY, RECIPE, RestoreError, WINDOW, Watch};
pub use world::{ANSWER_MAX, Answer, Fault, World};
