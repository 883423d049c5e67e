#!/bin/sh
# schemathesis against our own OpenAPI on a master of its own: whatever is sent, no answer may be a 500.
set -eu
venv=$1
if command -v uv >/dev/null 2>&1; then
  uv pip install -q --system-certs --python "$venv/bin/python" -e '.[fuzz]'
else
  "$venv/bin/python" -m pip install -q -e '.[fuzz]'
fi
exec "$venv/bin/python" scripts/fuzz.py
