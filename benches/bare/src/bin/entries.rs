//! Every function of the engine, in a program that must contain no panic and no allocator.

#![no_std]
#![no_main]

unstuck_bare::program!(unstuck_bare::entries::every_entry);
