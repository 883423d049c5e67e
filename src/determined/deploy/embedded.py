"""The master that `det` starts for a user who has none: loopback, a port of its own, a random password nobody types."""

from pathlib import Path

import msgspec

from determined.api import environment
from determined.api.own_master import EMBEDDED, MasterState
from determined.deploy.options import AUTO, SlotsOption, stored
from determined.deploy.process import MasterProcess, loopback


def process() -> MasterProcess:
    return MasterProcess(directory())


def directory() -> Path:
    return environment.state_dir() / EMBEDDED


def find() -> MasterState | None:
    return process().find()


def ensure(slots: SlotsOption | None = None) -> tuple[MasterState, bool]:
    """Return the embedded master and whether this call started it.

    Without `slots` it gets as many as at its last start.
    """
    options = stored(directory())
    if slots is not None:
        options = msgspec.structs.replace(options, slots=None if slots == AUTO else slots)
    return process().start(msgspec.structs.replace(options, host=loopback(options.host)))


def artificial_slots() -> int | None:
    """Return how many CPU slots it offers instead of the machine's devices; None when it offers the devices."""
    return stored(directory()).slots
