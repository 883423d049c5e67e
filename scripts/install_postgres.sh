#!/bin/sh
# PostgreSQL's server binaries for the tests, which start servers of their own; the distribution's service is not started.
set -eu
command -v initdb >/dev/null 2>&1 && exit 0
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && exit 0
sh "$(dirname "$0")/apt_install.sh" postgresql
