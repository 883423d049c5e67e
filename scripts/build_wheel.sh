#!/bin/sh
# Build the source distribution and, from it, the wheel into $1: uv where it is installed, else pip and hatchling.
set -eu
out=$1
export DETERMINED_REQUIRE_WEBUI=1
if command -v uv >/dev/null 2>&1; then
  exec uv build -q --system-certs --out-dir "$out"
fi
python=${PYTHON:-python3}
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install -q build
"$venv/bin/python" -m build --outdir "$out"
