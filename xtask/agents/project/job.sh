#!/bin/sh
# A job that moves on.
echo job >> ../ran.log
echo "job 17: running, $(($(grep -c job ../ran.log) * 8)) of 100 files done"
