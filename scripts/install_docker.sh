#!/bin/sh
# A real Docker for the tests of engines/docker: daemon and client only, nothing is configured or started.
set -eu
command -v dockerd >/dev/null 2>&1 && command -v containerd >/dev/null 2>&1 && exit 0
export DEBIAN_FRONTEND=noninteractive
# The package starts its service where it can; the tests start daemons of their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get update -q
apt-get install -q -y --no-install-recommends docker.io
