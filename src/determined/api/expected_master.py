"""Master that a client must find at an address before it sends a token there, and where that master is now."""

from dataclasses import replace
from pathlib import Path

from determined.api import environment, own_master
from determined.api.address import is_same_place
from determined.api.own_master import STATE_FILE, DamagedState, MasterState, UnsafeState
from determined.api.proof import Claim, OwnMaster

Expected = Claim | OwnMaster


def expected_at(url: str) -> Expected | None:
    """Return this user's own master, or the master of this process's task; None: anybody is believed."""
    state = own_master.at(url, environment.state_dir())
    if state is not None:
        return replace(own_master.expected(state), master_url=url)
    task = environment.task_claim()
    if task is not None and is_same_place(task[0], url):
        return Claim(url, task[1], task[2])
    return None


def news_of(expected: Expected | None) -> MasterState | None:
    """Return the state of this user's own master as it is now; None for every other master."""
    if not isinstance(expected, OwnMaster):
        return None
    try:
        return own_master.load(Path(expected.data_dir) / STATE_FILE)
    except (DamagedState, UnsafeState):
        return None
