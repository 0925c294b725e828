//! The engine with the default recipe.

#![no_std]
#![no_main]

unstuck_bare::part!(recipe);
