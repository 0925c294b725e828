#!/bin/sh
# Fails alike each time.
echo build >> ../ran.log
echo "client.conf:2: error: unknown key 'retries'" >&2
exit 1
