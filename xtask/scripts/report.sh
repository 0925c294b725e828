# The commands of `cargo xtask report`. `Scripts` in `xtask/src/step.rs` describes the syntax.

## write
# Scans recorded runs and hostile traces, and writes a report of each format. Some hostile traces cannot be read, and
# the exit code is 3.
for name in jsonl junit sarif csv markdown github html; do \
    set -- "$@" --format $name -o "$REPORTS/report.$name"; done; mkdir -p "$REPORTS" && { \
    env -u GITHUB_STEP_SUMMARY "$UNSTUCK" scan --fail-on never "$TRACES" "$@" || [ $? -eq 3 ]; }

## schema
# Writes what cargo knows about a package that depends on the crate with the schema of SARIF.
mkdir -p target/report/schema/src
: > target/report/schema/src/lib.rs
printf '[package]\nname = "schema"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n\
    [dependencies]\nserde-sarif = "=0.8.0"\n' > target/report/schema/Cargo.toml
cargo metadata --format-version 1 --manifest-path target/report/schema/Cargo.toml \
    > target/report/schema/metadata.json
