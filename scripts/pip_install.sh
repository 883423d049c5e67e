#!/bin/sh
# pip_install.sh VENV ARGUMENTS...: install into VENV, which is made first where it is missing or half made. By uv where
# there is one, else by pip. PYTHON names the interpreter of a new one.
set -eu
venv=$1
shift
python=${PYTHON:-python3}
if command -v uv >/dev/null 2>&1; then
  [ -x "$venv/bin/python" ] || uv venv -q --python "$python" "$venv"
  uv pip uninstall -q --python "$venv/bin/python" determined 2>/dev/null || true # this project's name before 0.39
  exec uv pip install -q --compile-bytecode --system-certs --python "$venv/bin/python" "$@"
fi
# one whose making was interrupted has a Python and no pip
{ [ -f "$venv/pyvenv.cfg" ] && "$venv/bin/python" -m pip --version; } >/dev/null 2>&1 || "$python" -m venv --clear "$venv"
"$venv/bin/python" -m pip uninstall -q -y determined 2>/dev/null || true
exec "$venv/bin/python" -m pip install -q "$@"
