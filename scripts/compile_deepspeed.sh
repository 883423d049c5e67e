#!/bin/sh
# DeepSpeed compiles an extension for collectives on the processor at its first start, for minutes; here, not in a test.
set -eu
venv=$1
PATH="$venv/bin:$PATH" DS_ACCELERATOR=cpu "$venv/bin/python" -c \
  'from deepspeed.ops.op_builder.cpu import ShareMemCommBuilder; ShareMemCommBuilder().load()'
