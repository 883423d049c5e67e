#!/bin/sh
# tests/frameworks/unit/<package> in the environments that its file PYTHON names: $1 is `current`, $2 is `tf215`.
# One process per package: two frameworks in one process get in each other's way.
set -u
current=$1 tf215=$2 status=0
for kinds in tests/frameworks/unit/*/PYTHON; do
  [ -f "$kinds" ] || continue
  for kind in $(cat "$kinds"); do
    case $kind in
    current) venv=$current ;;
    tf215) venv=$tf215 ;;
    *) echo "$kinds: $kind is neither current nor tf215" >&2; exit 2 ;;
    esac
    echo "== $(dirname "$kinds") in $venv"
    OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES= TF_CPP_MIN_LOG_LEVEL=2 \
      "$venv/bin/python" -m pytest -q "$(dirname "$kinds")" || status=1
  done
done
exit $status
