#!/bin/sh
# A Ray cluster's own environment in $1: Ray and this package, without frameworks. Tests start real clusters from it.
set -eu
venv=$1
python=${PYTHON:-python3}
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  uv pip uninstall -q --python "$venv/bin/python" determined 2>/dev/null || true # this project's name before 0.39
  uv pip install -q --system-certs --python "$venv/bin/python" 'ray[default]==2.60.0' -e .
else
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip uninstall -q -y determined 2>/dev/null || true
  "$venv/bin/python" -m pip install -q 'ray[default]==2.60.0' -e .
fi
