#!/bin/sh
# The frameworks whose launchers are tested for real, in $1. DeepSpeed compiles an extension once; that is done here.
set -eu
venv=$1
python=${PYTHON:-python3}
packages='torch==2.13.0 deepspeed==0.19.8 tensorflow-cpu setuptools ninja'
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  uv pip install -q --system-certs --python "$venv/bin/python" $packages -e .
else
  [ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install -q $packages -e .
fi
PATH="$venv/bin:$PATH" DS_ACCELERATOR=cpu "$venv/bin/python" -c \
  'from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder; ShareMemCommBuilder().load()'
