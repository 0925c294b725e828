#!/bin/sh
# Cargo runs this in place of `rustdoc` for the tests in the documentation. It builds the documentation instead, with
# warnings as errors, from the libraries of the tests: `cargo doc` would first check each library anew.
skips=false
for word; do
    shift
    case $word in
        --test) ;;
        --test-run-directory | --test-args | --test-runtool) skips=true ;;
        *) $skips || set -- "$@" "$word"; skips=false ;;
    esac
done
exec rustdoc "$@" -Dwarnings --out-dir "$(dirname "$0")/../target/doc"
