//! Starting over in work trees of git. These tests need the program git.

mod branches;
mod bytes;
mod property;
mod refusals;
mod repository;
mod round;
mod runs;
