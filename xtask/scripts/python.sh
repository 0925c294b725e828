# The commands of the package for Python. `Scripts` in `xtask/src/step.rs` describes the syntax.

## build
# Builds the source distribution, and from its unpacked files the wheel. The files get the time of unpacking, because
# cargo compares times.
python -m pip install --requirement adapters/python/requirements.txt
rm -rf target/python/sdist-dist target/python/source target/python/wheel-dist
mkdir -p target/python/source
python -m build --sdist --no-isolation --outdir target/python/sdist-dist adapters/python
tar --extract --touch --strip-components=1 --file target/python/sdist-dist/*.tar.gz \
    --directory target/python/source
CARGO_TARGET_DIR=$ROOT/target {variables} python -m build --wheel --no-isolation \
    --outdir target/python/wheel-dist target/python/source

## sdist
# Installs the source distribution as a user does, and finds a loop with it.
CARGO_TARGET_DIR=$ROOT/target python -m pip install --no-deps target/python/source
python -c "from unstuck import Guard; guard = Guard(); \
    actions = [guard.after(guard.before('bash', 'make').ticket, 'no', error=True).action for _ in 'abc']; \
    assert actions == ['proceed', 'proceed', 'nudge'], actions"
unstuck --version

## tests
# Runs the tests that need no framework, and the examples of the README.
python -m pip install $(grep -E '^(pytest|hypothesis|nanoarrow)==' adapters/python/requirements.txt)
HYPOTHESIS_STORAGE_DIRECTORY=$ROOT/target/python/hypothesis python -m pytest --quiet \
    -p no:cacheprovider --ignore=adapters/python/tests/frameworks adapters/python/tests

## types
# Checks the types of the package, and its stubs against the extension module. The modules of frameworks are unknown
# without the frameworks, whose own steps check them. The folder of the sources would come before the
# installed package.
python -m pip install $(grep -E '^(mypy|pyright)==' adapters/python/requirements.txt)
cd target/python && python -m mypy --strict -m unstuck -m unstuck._adapter -m unstuck._escalation -m unstuck._guards \
    -m unstuck._unstuck -m unstuck._words
cd target/python && python -m mypy.stubtest unstuck._unstuck
cd target/python && python -m pyright --verifytypes unstuck --ignoreexternal > types.txt || { \
    cat types.txt; grep -q 'Type completeness score' types.txt && \
    ! grep '^unstuck[.]' types.txt | grep -vE '^unstuck[.]({modules})([.]|$)'; }

## bench
# Runs the benchmark beside other guards.
python -m pip install --requirement adapters/python/benches/requirements.txt
python adapters/python/benches/guards.py
