//! The engine, and the text of a finding.

#![no_std]
#![no_main]

unstuck_bare::part!(nudge);
