#!/bin/sh
# Cargo runs this in place of the compiler for the crates of the workspace. Compiles the code for 32-bit machines.
exec "$@" --cfg unstuck_narrow
