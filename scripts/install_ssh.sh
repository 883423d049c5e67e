#!/bin/sh
# OpenSSH's server and client for the tests of launchers that log in to other nodes, which start a server of their own.
set -eu
{ command -v sshd || [ -x /usr/sbin/sshd ]; } >/dev/null 2>&1 && command -v ssh >/dev/null 2>&1 && exit 0
sh "$(dirname "$0")/apt_install.sh" openssh-server openssh-client
