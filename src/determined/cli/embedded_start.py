"""Start of the embedded master by a command that needs one. Light: a new master starts while the rest is imported."""

import argparse
import sys
from collections.abc import Callable

from determined.api import environment
from determined.api.own_master import MasterState
from determined.cli import own_masters, render

STARTED = "Started a master of your own"


def begin(args: argparse.Namespace, meanwhile: Callable[[], None]) -> None:
    """Start it where no master is named and none of this user's runs. `meanwhile` is called while it starts."""
    if not (args.master or environment.master()) and not any(one.is_running for one in own_masters.known()):
        start(STARTED, meanwhile)


def start(done: str, meanwhile: Callable[[], None] | None = None) -> MasterState:
    """Start it, or find the one that runs by now, and say what was done."""
    from determined.cli.slots_option import OF_EMBEDDED, say_artificial
    from determined.deploy import embedded

    state, started = embedded.ensure(meanwhile=meanwhile)
    if started:
        render.line(f"{done} at {state.url} (data in {state.data_dir}; stop it with: det master stop)", file=sys.stderr)
        say_artificial(embedded.artificial_slots(), OF_EMBEDDED)
    return state
