//! A small host, which shows the size of the engine's code in it.

#![no_std]
#![no_main]

unstuck_bare::program!(unstuck_bare::entries::small_host);
