# The commands of the firmware. `Scripts` in `xtask/src/step.rs` describes the syntax.

## check
# Checks the format, lints and tests of the firmware.
cargo fmt --manifest-path adapters/firmware/Cargo.toml --all --check
{linted} {decoder}
{linted} PROPTEST_CASES=32 cargo test {here} --workspace

## docs
# Checks its documentation.
RUSTDOCFLAGS='-D warnings' cargo doc {here} --workspace --no-deps --exclude unstuck-firmware-decoder

## run
# Runs the firmware, and decodes and shows its log, even if it failed. Lines with figures of this very build are not
# compared.
mkdir -p target/firmware-host
{emulator} {program} > target/firmware-host/log; echo $? > target/firmware-host/code
{linted} {decoder}
target/firmware-host/debug/unstuck-firmware-decoder {program} < target/firmware-host/log > target/firmware-host/log.txt
cat target/firmware-host/log.txt; exit $(cat target/firmware-host/code)
grep -v ' TRACE ' target/firmware-host/log.txt > target/firmware-host/mission.log
