#!/bin/sh
# Build the development environment in $1: uv where it is installed or can be, else pip. Idempotent.
set -eu
venv=$1
python=${PYTHON:-python3}
if ! command -v uv >/dev/null 2>&1; then
  "$python" -m pip install -q uv 2>/dev/null || true
fi
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  uv pip uninstall -q --python "$venv/bin/python" determined 2>/dev/null || true # this project's name before 0.39
  uv pip install -q --compile-bytecode --system-certs --python "$venv/bin/python" -c constraints.txt -e '.[dev]'
else
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip uninstall -q -y determined 2>/dev/null || true
  "$venv/bin/python" -m pip install -q -c constraints.txt -e '.[dev]'
fi
