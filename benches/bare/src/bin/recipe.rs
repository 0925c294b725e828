//! The engine with the default recipe.

#![no_std]
#![no_main]

#[macro_use]
#[path = "../parts.rs"]
mod parts;

program!(recipe);
