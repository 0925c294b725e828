//! The engine, saved and restored.

#![no_std]
#![no_main]

unstuck_bare::part!(checkpoint);
