"""`set log-retention` of experiments and trials."""

import argparse
from collections.abc import Callable

from determined.api.session import Session
from determined.cli import render
from determined.cli.connection import connect
from determined.cli.grammar import Arg, Command, arg, command, one_of


def setter(noun: str, which: Arg, retain: Callable[[Session, int, int], object]) -> Command:
    """Make the command. `which` reads the id, as `<noun>_id`."""

    def run(args: argparse.Namespace) -> None:
        number, days = getattr(args, f"{noun}_id"), -1 if args.forever else args.days
        retain(connect(args), number, days)
        render.line(f"Logs of {noun} {number} are kept {'forever' if days < 0 else f'{days} days'}")

    chosen = one_of(arg("--days", type=int), arg("--forever", action="store_true"), required=True)
    return command("log-retention", "set log-retention", run, which, chosen)
