//! A call and its outcome as digests.

#![no_std]
#![no_main]

unstuck_bare::part!(engine);
