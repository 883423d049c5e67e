"""Passwords and tokens that a command needs: asked for on a terminal, else a line of standard input."""

import getpass
import sys

from determined.cli import render
from determined.errors import Unauthenticated

FROM_INPUT = "-"


def read(prompt: str) -> str:
    """Ask on the terminal; without one read a line of standard input."""
    if sys.stdin.isatty():
        return ask(prompt)
    text = sys.stdin.readline()
    if not text:
        raise Unauthenticated(
            "no terminal to ask for a password; write it to standard input, or set DET_USER and DET_PASS"
        )
    return text.rstrip("\n")


def ask(prompt: str) -> str:
    """Ask on the terminal. Raises Unauthenticated where nothing is typed but Ctrl-D."""
    try:
        return getpass.getpass(prompt)
    except EOFError:
        raise Unauthenticated("no password was typed") from None


def given(value: str | None, option: str) -> str | None:
    """Return the value of an option; `-` asks for it. One that stands in the arguments works and is warned of."""
    if value == FROM_INPUT:
        return read("Password: ")
    if value:
        render.warn(
            f"other users of this machine can see what stands after {option} (ps); "
            f"give '{option} -' and type it, or write it to standard input"
        )
    return value
