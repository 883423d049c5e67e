#!/bin/sh
# Build the development environment in $1. Idempotent. Every file is checked against its hash in requirements-dev.txt
# (`make lock`), but torch: see the Makefile.
set -eu
echo "building the environment $1 (a minute or more, once)" >&2
if ! command -v uv >/dev/null 2>&1; then
  "${PYTHON:-python3}" -m pip install -q "$(grep '^uv==' constraints.txt)" 2>/dev/null || true
fi
install="sh $(dirname "$0")/pip_install.sh $1"
$install --require-hashes -r requirements-dev.txt
$install -c constraints.txt "$(grep '^torch==' constraints.txt)"
$install --no-deps --no-build-isolation -e .
