"""det dev: the token in use, and curl with it."""

import argparse
import contextlib
import json
import shlex
import shutil
import subprocess
import sys

from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import UsageError, arg, command, group
from determined.errors import NotFound


def auth_token(args: argparse.Namespace) -> None:
    render.line(connect(args).token or "")


def curl(args: argparse.Namespace) -> int:
    """curl with the master's address and our token; the token travels on its standard input, never in argv."""
    if "://" in args.path:
        raise UsageError("path argument does not support absolute URLs; write a path of the master such as /api/v1/me")
    if shutil.which("curl") is None:
        raise NotFound("curl is not installed")
    session = connect(args)
    path = args.path if args.path.startswith("/") else f"/{args.path}"
    command = ["curl", "-s", "--globoff", "--config", "-", f"{session.master_url}{path}", *args.curl_args]
    if args.x:
        render.line(shlex.join(command), file=sys.stderr)
    settings = f'header = "Authorization: Bearer {session.token}"\n'
    done = subprocess.run(command, input=settings.encode(), stdout=subprocess.PIPE, check=False)
    text = done.stdout.decode(errors="replace")
    if sys.stdout.isatty():
        with contextlib.suppress(ValueError):
            text = json.dumps(json.loads(text), indent=2) + "\n"
    render.raw(text)
    return done.returncode


TREE = group(
    "dev",
    "talk to the master by hand",
    command("auth-token", "print auth token", auth_token),
    command(
        "curl c",
        "invoke curl",
        curl,
        arg("-x", action="store_true", help="print the curl command (without the token) before running it"),
        arg("path", help="such as /api/v1/experiments"),
        arg("curl_args", nargs=argparse.REMAINDER, help="passed to curl"),
    ),
)
