#!/bin/sh
# Installs the packages named, as root. One at a time: targets of a parallel make share one package database.
set -eu
exec 9>"${TMPDIR:-/tmp}/determined-apt-install.lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"
