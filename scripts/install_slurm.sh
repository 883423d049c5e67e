#!/bin/sh
# A real Slurm for the tests of engines/slurm: daemons and commands only, nothing is configured or started.
set -eu
command -v slurmctld >/dev/null 2>&1 && command -v munged >/dev/null 2>&1 && exit 0
sh "$(dirname "$0")/apt_install.sh" slurm-wlm munge
