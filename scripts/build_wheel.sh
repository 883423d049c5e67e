#!/bin/sh
# Build the source distribution and, from it, the wheel into $1: uv where it is installed, else pip. What builds is
# pinned by version and hash in requirements-build.txt.
set -eu
out=$1
export DETERMINED_REQUIRE_WEBUI=1
if command -v uv >/dev/null 2>&1; then
  exec uv build -q --system-certs --build-constraints requirements-build.txt --require-hashes --out-dir "$out"
fi
python=${PYTHON:-python3}
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"$python" -m venv "$venv"
"$venv/bin/python" -m pip install -q --require-hashes -r requirements-build.txt
"$venv/bin/python" -m build --no-isolation --outdir "$out"
