//! What each mask takes for volatile, and what it leaves alone.

mod cases;
mod labelled;
mod properties;
