# The commands of the fuzzing. `Scripts` in `xtask/src/step.rs` describes the syntax.

## canary
# Looks for the planted bug, without inputs and with a fixed seed. The output of a found bug is long and looks like a
# failure, so it is not shown. An error exit alone does not prove it.
{fuzzer} -seed=1 -runs={runs} 2> fuzz/target/canary.txt; grep -q '{found}' fuzz/target/canary.txt || { \
    cat fuzz/target/canary.txt; false; }
echo 'found, as it should be'
