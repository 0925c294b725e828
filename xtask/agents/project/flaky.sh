#!/bin/sh
# Works at the third try.
echo flaky >> ../ran.log
if [ "$(grep -c flaky ../ran.log)" -lt 3 ]; then
    echo "connection refused" >&2
    exit 1
fi
echo connected
