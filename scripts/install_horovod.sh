#!/bin/sh
# A real Horovod in $1, for tests/e2e/test_horovod.py: compiled against its TensorFlow, a quarter of an hour on two cores.
# Needs a C++ compiler; its ranks on several nodes need sshd as well (Debian: g++ make openssh-client openssh-server).
set -eu
venv=$1
# TensorFlow 2.15 is the newest that Horovod 0.28.1 compiles with as it is; CMake 4 refuses its third-party parts.
frameworks='tensorflow-cpu==2.15.1 setuptools<81 wheel cmake<4 packaging'
horovod='--no-build-isolation --no-binary horovod horovod==0.28.1'
export HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1
export HOROVOD_WITH_GLOO=1 HOROVOD_WITHOUT_MPI=1 MAKEFLAGS="${MAKEFLAGS:--j2}"
case $venv in /*) ;; *) venv=$PWD/$venv ;; esac
install="sh $(dirname "$0")/pip_install.sh $venv"
$install $frameworks -e .
PATH="$venv/bin:$PATH" $install $horovod
"$venv/bin/horovodrun" --check-build
