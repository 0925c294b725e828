#!/bin/sh
# Fails as long as the program has bugs.
echo test >> ../ran.log
bugs=$(sed -n 's/BUGS = //p' calc.py)
if [ "$bugs" -gt 0 ]; then
    echo "FAILED: $bugs of 5 tests failed"
    exit 1
fi
echo "5 tests passed"
