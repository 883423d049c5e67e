"""The master that `det` starts for a user who has none: loopback, a port of its own, a random password nobody types."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from determined.api import environment
from determined.api.own_master import EMBEDDED, MasterState
from determined.deploy.options import AUTO, SlotsOption, stored
from determined.deploy.process import MasterProcess, loopback
from determined.errors import InvalidArgument


def process() -> MasterProcess:
    return MasterProcess(directory())


def directory() -> Path:
    return environment.state_dir() / EMBEDDED


def find() -> MasterState | None:
    return process().find()


def ensure(
    slots: SlotsOption | None = None,
    config_file: str | None = None,
    *,
    meanwhile: Callable[[], None] | None = None,
) -> tuple[MasterState, bool]:
    """Return the embedded master and whether this call started it.

    Without `slots` it gets as many as at its last start, without `config_file` the settings of that start ("": none).
    `meanwhile` is called while it starts.

    Raises:
        InvalidArgument: the config file does not exist, or a master could not start with it.
    """
    options = stored(directory())
    if config_file is not None:
        options = msgspec.structs.replace(options, config_file=_checked(config_file) if config_file else None)
    if slots is not None:
        options = msgspec.structs.replace(options, slots=None if slots == AUTO else slots)
    return process().start(msgspec.structs.replace(options, host=loopback(options.host)), meanwhile)


def _checked(config_file: str) -> str:
    from determined.config import parse_yaml
    from determined.master.config import load_master_config

    path = Path(config_file).resolve()
    if not path.is_file():
        raise InvalidArgument(f"no master config at '{path}'; check --config-file")
    own = parse_yaml(path.read_text())
    load_master_config(own, {}, {})
    if "initial_user_password" in (own.get("security") or {}):
        raise InvalidArgument("the embedded master makes its own password; take out security.initial_user_password")
    return str(path)


def artificial_slots() -> int | None:
    """Return how many CPU slots it offers instead of the machine's devices; None when it offers the devices."""
    return stored(directory()).slots
