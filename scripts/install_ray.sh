#!/bin/sh
# A Ray cluster's own environment in $1: Ray with Tune and this package, without frameworks. Tests start real clusters
# from it.
set -eu
exec sh "$(dirname "$0")/pip_install.sh" "$1" 'ray[default,tune]==2.60.0' -e .
