#!/bin/sh
# A server that runs until somebody interrupts it.
touch ../stalled
exec sleep 60
