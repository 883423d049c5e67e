"""det completion: the script that makes a shell complete `det` commands."""

import argparse

from determined.cli import render
from determined.cli.completion_scripts import SCRIPTS
from determined.cli.grammar import arg, command


def show(args: argparse.Namespace) -> None:
    render.raw(SCRIPTS[args.shell])


TREE = command(
    "completion",
    "print the completion script of a shell",
    show,
    arg("shell", choices=list(SCRIPTS), help="the shell; the first lines of its script say where to put it"),
)
