//! A robot's agent loop, watched by the engine.

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
