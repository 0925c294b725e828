//! The engine with the default recipe and the record of similar calls.

#![no_std]
#![no_main]

unstuck_bare::part!(groups);
