"""Option `--slots` of the commands that start a master, and what they say about it."""

import argparse
import sys
from typing import TYPE_CHECKING

from determined.cli import render
from determined.cli.grammar import Arg, arg

if TYPE_CHECKING:
    from determined.deploy.options import SlotsOption

OF_EMBEDDED = (
    "It offers {} CPU slot(s) and no GPUs, also at later starts. "
    "To offer the GPUs again: det master stop, then det master start --slots auto"
)
OF_CLUSTER = "Each of its nodes offers {} CPU slot(s) and no GPUs; --slots auto, the default, offers the GPUs"


def slots_option(default: str) -> Arg:
    """Declare `--slots N` and `--slots auto`."""
    text = f"number of CPU slots to offer instead of the GPUs; auto: the GPUs, or one CPU slot (default: {default})"
    return arg("--slots", type=_parsed, metavar="N", help=text)


def say_artificial(count: "SlotsOption | None", text: str) -> None:
    """Say that CPU slots are offered and no GPUs: whoever typed `--slots 2` may have meant two GPUs."""
    if isinstance(count, int):
        render.line(text.format(count), file=sys.stderr)


def _parsed(text: str) -> "SlotsOption":
    if text == "auto":
        return "auto"
    if text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"'{text}' is no number of slots; give 0 or more, or auto")
