#!/bin/sh
# The official client, determined==0.38.1, in an environment of its own: our conformance client. Ours never imports it.
set -eu
venv=$1
python=${PYTHON:-python3}
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  uv pip install -q --system-certs --python "$venv/bin/python" 'determined==0.38.1' 'setuptools<81'
else
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install -q 'determined==0.38.1' 'setuptools<81'
fi
