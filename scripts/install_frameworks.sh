#!/bin/sh
# The frameworks of the compatibility table, in $1; with "tf215" as $2 the last TensorFlow that has Keras 2 and estimators.
set -eu
venv=$1
kind=${2:-current}
python=${PYTHON:-python3}
tools='pytest pytest-asyncio pytest-timeout pytest-xdist'
case $kind in
current)
  packages='torch==2.13.0 deepspeed==0.19.8 tensorflow-cpu==2.21.0 tensorboard==2.21.0 lightning==2.6.6 pytorch-lightning==2.6.6 transformers==5.22.2 accelerate==1.15.0 setuptools ninja'
  ;;
tf215)
  packages='tensorflow-cpu==2.15.1'
  if command -v uv >/dev/null 2>&1; then python=3.11; fi # the newest it was made for; uv finds or fetches it
  ;;
*)
  echo "install_frameworks.sh: $kind is neither current nor tf215" >&2
  exit 2
  ;;
esac
export PYTHON="$python"
exec sh "$(dirname "$0")/pip_install.sh" "$venv" $packages $tools -e .
