# The commands of `cargo xtask fleet`. `Scripts` in `xtask/src/step.rs` describes the syntax.

## archives
# Makes an archive that varies recorded runs, runs the engines and compares their tables. Only the first folder of runs
# is in every tree.
for runs in adapters/trace/runs ../shared/formats ../shared/traces ../shared/traces-modern; do \
    [ ! -e "$runs" ] || set -- "$@" "$ROOT/$runs"; done; \
    python adapters/python/benches/archives.py make "$ROOT/target/fleet/archives/night" \
    "${UNSTUCK_ARCHIVE_GB:-20}" "$@"
python adapters/python/benches/archives.py measure "$ROOT/target/fleet/archives/night" \
    "$ROOT/target/fleet/archives/tables" "$ROOT/target/fleet/archives/python/bin/unstuck"

## prometheus
# The commands that check the metrics, the alert rules and their tests.
promtool check metrics < target/fleet/receiver/metrics.txt && \
    cd adapters/cli/operations && promtool check rules alerts.yml && promtool test rules alerts.test.yml
