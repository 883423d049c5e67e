#!/bin/sh
# A real Chromium from the distribution, for tests/browser. Idempotent; needs root and apt-get.
set -eu
command -v chromium >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "tests/browser need a Chromium and there is no apt-get here: install one and name it in DET_TEST_CHROMIUM" >&2
  exit 1
fi
if [ "$(id -u)" != 0 ]; then
  echo "tests/browser need a Chromium: run 'sudo apt-get install chromium', or name yours in DET_TEST_CHROMIUM" >&2
  exit 1
fi
sh "$(dirname "$0")/apt_install.sh" chromium
