#!/bin/sh
# The official client, determined==0.38.1, in an environment of its own: our conformance client. Ours never imports it.
set -eu
exec sh "$(dirname "$0")/pip_install.sh" "$1" 'determined==0.38.1' 'setuptools<81'
