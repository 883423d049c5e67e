"""Masters that this user runs on this machine, for when there is more than one to ask."""

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from determined.api import environment, own_master
from determined.api.address import canonical
from determined.api.own_master import DamagedState, MasterState, UnsafeState
from determined.cli import render


@dataclass(frozen=True, slots=True)
class OwnMaster:
    name: str  # as people call it: "the embedded master", "cluster NAME"
    state: MasterState
    is_running: bool
    is_embedded: bool


def known() -> list[OwnMaster]:
    """Return every master with a state file, in the order in which commands ask them."""
    masters = []
    for directory in own_master.directories(environment.state_dir()):
        with contextlib.suppress(DamagedState, UnsafeState):
            state = own_master.load(directory / own_master.STATE_FILE)
            if state is not None:
                masters.append(_described(directory, state))
    return masters


def at(address: str) -> MasterState | None:
    """Return the one that this user runs at this address, if it proves to be that."""
    url = canonical(address)
    state = next((m.state for m in known() if m.is_running and canonical(m.state.url) == url), None)
    return state if state is not None and own_master.proves_itself(state) else None


def is_embedded(url: str) -> bool:
    """Return whether this user's embedded master is at the address. Nobody knows its password by heart."""
    return any(m.is_embedded and m.is_running and canonical(m.state.url) == canonical(url) for m in known())


def say_sign_in(url: str, command: str) -> None:
    """Print, below an address of the embedded master's page, the command that opens it signed in."""
    if is_embedded(url):
        render.line(f"  signed in: {command}", file=sys.stderr)


def say_which(chosen: MasterState) -> None:
    """Name the master that answers, to a person, where this user runs another one that could be meant."""
    if not sys.stderr.isatty():
        return
    masters = known()
    others = [m for m in masters if m.is_running and m.state.data_dir != chosen.data_dir]
    if not others:
        return
    name = next((m.name for m in masters if m.state.data_dir == chosen.data_dir), chosen.data_dir)
    listed = ", ".join(f"{m.name} ({m.state.url})" for m in others)
    text = f"{name} answers at {chosen.url}; also yours: {listed}; choose with det -m URL"
    render.line(text, style="dim", file=sys.stderr)


def _described(directory: Path, state: MasterState) -> OwnMaster:
    is_embedded = directory == environment.state_dir() / own_master.EMBEDDED
    name = "the embedded master" if is_embedded else f"cluster {directory.name}"
    return OwnMaster(name, state, _is_running(state.pid), is_embedded)


def _is_running(pid: int) -> bool:
    """Return whether the process is a master: a stale number may by now be anything's."""
    with contextlib.suppress(OSError):
        return b"determined.master" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return not Path("/proc").exists()
    return False
