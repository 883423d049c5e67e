#!/bin/sh
# Build the development environment in $1: uv where it is installed or can be, else pip. Idempotent.
# Every file is checked against its hash in requirements-dev.txt (`make lock`), but torch: see the Makefile.
set -eu
venv=$1
python=${PYTHON:-python3}
torch=$(grep '^torch==' constraints.txt)
if ! command -v uv >/dev/null 2>&1; then
  "$python" -m pip install -q "$(grep '^uv==' constraints.txt)" 2>/dev/null || true
fi
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  install="uv pip install -q --compile-bytecode --system-certs --python $venv/bin/python"
  uv pip uninstall -q --python "$venv/bin/python" determined 2>/dev/null || true # this project's name before 0.39
else
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  install="$venv/bin/python -m pip install -q"
  "$venv/bin/python" -m pip uninstall -q -y determined 2>/dev/null || true
fi
$install --require-hashes -r requirements-dev.txt
$install -c constraints.txt "$torch"
$install --no-deps --no-build-isolation -e .
