//! Starting over in work trees of git. These tests need the program git.

mod bytes;
mod property;
mod refusals;
mod repository;
mod round;
mod runs;
mod scripts;
