#!/bin/sh
# Runs a command, and again twice if it fails: a mirror or an index that did not answer for a moment may do so later.
set -u
for pause in 5 20; do
  "$@" && exit 0
  echo "failed, trying again in $pause s: $*" >&2
  sleep "$pause"
done
exec "$@"
