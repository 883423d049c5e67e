"""Every verb in every state of an experiment: what it becomes, or that it is refused and stays as it is."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import Connection
from world import World, WorldFactory

from determined.errors import DeterminedError, InvalidArgument
from determined.master.db.queries import experiment as experiments
from determined.master.lifecycle import experiment, experiment_state, extension
from determined.master.lifecycle.states import State

REFUSED = "refused"
VERBS: dict[str, Callable[..., Any]] = {
    "activate": experiment.activate,
    "pause": experiment.pause,
    "cancel": experiment.cancel,
    "kill": experiment.kill,
    "archive": experiment.archive,
    "unarchive": experiment.unarchive,
    "delete": experiment.begin_delete,
    "continue": lambda conn, now, number: experiment.continue_experiment(conn, now, number, None, None),
    "reprioritise": lambda conn, now, number: experiment.set_resources(conn, now, number, {"priority": 7}),
    "fail": lambda conn, now, number: experiment.fail(conn, now, number, "why"),
    "finish_delete": lambda conn, now, number: experiment.delete_some(conn, number, 1),
    "fail_delete": lambda conn, now, number: experiment.fail_delete(conn, now, number, "why"),
}
# What each state becomes by which verb; a verb alone changes nothing, one that is not named is refused.
TABLE = {
    "PAUSED": "activate=ACTIVE pause cancel=CANCELED kill=CANCELED reprioritise fail=ERROR fail_delete",
    "ACTIVE": "activate pause=PAUSED cancel=STOPPING_CANCELED kill=STOPPING_KILLED reprioritise"
    " fail=STOPPING_ERROR fail_delete",
    "STOPPING_CANCELED": "cancel kill=STOPPING_KILLED reprioritise fail=STOPPING_ERROR fail_delete",
    "STOPPING_KILLED": "cancel kill reprioritise fail=STOPPING_ERROR fail_delete",
    "STOPPING_COMPLETED": "cancel kill reprioritise fail=STOPPING_ERROR fail_delete",
    "STOPPING_ERROR": "activate=ACTIVE cancel kill reprioritise fail fail_delete",
    "CANCELED": "cancel kill archive unarchive delete=DELETING continue=ACTIVE fail fail_delete",
    "COMPLETED": "cancel kill archive unarchive delete=DELETING continue=ACTIVE fail fail_delete",
    "ERROR": "cancel kill archive unarchive delete=DELETING continue=ACTIVE fail fail_delete",
    "DELETING": "delete fail finish_delete fail_delete=DELETE_FAILED",
    "DELETE_FAILED": "delete=DELETING fail fail_delete",
}


def outcomes(state: str) -> dict[str, str]:
    """Return what the table says of each verb in a state."""
    cells = (cell.partition("=") for cell in TABLE[state].split())
    return {**dict.fromkeys(VERBS, REFUSED), **{verb: becomes or state for verb, _, becomes in cells}}


class _Undo(Exception):
    """Ends a transaction without its changes."""

    def __init__(self, state: str) -> None:
        self.state = state


async def tried(world: World, verb: str) -> str:
    """Return the state after a verb that is then taken back."""

    def attempt(conn: Connection) -> None:
        VERBS[verb](conn, world.clock.now(), 1)
        raise _Undo(experiments.get(conn, 1).state)

    try:
        await world.db.write(attempt)
    except _Undo as e:
        return e.state
    except DeterminedError as e:
        assert "experiment 1" in e.message, f"{verb} is refused without naming what: {e.message}"
        return REFUSED
    raise AssertionError("the attempt was not taken back")


async def _running(world: World) -> None:
    world.machine.obey_kill = None
    await world.submit()
    await world.running()


async def _exited(world: World, code: int) -> None:
    await world.submit()
    [launch] = await world.running()
    await world.exit(launch.resource_id, code)


async def _over_while_running(world: World) -> None:
    await _running(world)

    def stop(conn: Connection, now: datetime) -> None:
        experiment_state.move(conn, now, experiments.get(conn, 1), State.STOPPING_COMPLETED, "the search is over")

    await world.write(stop)


async def reach(world: World, state: State) -> None:
    """Bring experiment 1 into a state, by what brings it there in life."""
    begin: dict[State, Callable[[], Awaitable[Any]]] = {
        State.PAUSED: lambda: world.submit(activate=False),
        State.COMPLETED: lambda: _exited(world, 0),
        State.ERROR: lambda: _exited(world, 1),
        State.CANCELED: lambda: world.submit(activate=False),
        State.DELETING: lambda: world.submit(activate=False),
        State.DELETE_FAILED: lambda: world.submit(activate=False),
        State.STOPPING_COMPLETED: lambda: _over_while_running(world),
    }
    follow: dict[State, list[str]] = {
        State.STOPPING_CANCELED: ["cancel"],
        State.STOPPING_KILLED: ["kill"],
        State.STOPPING_ERROR: ["fail"],
        State.CANCELED: ["kill"],
        State.DELETING: ["kill", "delete"],
        State.DELETE_FAILED: ["kill", "delete", "fail_delete"],
    }
    await begin.get(state, lambda: _running(world))()
    for verb in follow.get(state, []):
        await world.write(VERBS[verb], 1)
    await world.until_state(state)


@pytest.mark.parametrize("state", [State(name) for name in TABLE], ids=list(TABLE))
async def test_each_verb_does_what_the_table_says(make_world: WorldFactory, state: State) -> None:
    world = await make_world().open()
    await reach(world, state)
    assert {verb: await tried(world, verb) for verb in VERBS} == outcomes(state)
    assert await world.state() == state


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.STOPPING_KILLED, "experiment 1 is STOPPING_KILLED; extend it once that is over"),
        (State.ERROR, "run `det experiment continue 1` to finish its trials first"),
        (State.CANCELED, "run `det experiment continue 1` to finish its trials first"),
        (State.DELETING, "experiment 1 is DELETING; extend it once that is over"),
    ],
)
async def test_search_that_cannot_be_extended_says_what_to_do(
    make_world: WorldFactory, state: State, words: str
) -> None:
    world = await make_world().open()
    await reach(world, state)
    with pytest.raises(DeterminedError) as refused:
        await world.write(extension.extend, 1, 1)
    assert words in refused.value.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"priority": 0}, "priority must be between 1 and 99, not 0"),
        ({"priority": 100}, "priority must be between 1 and 99, not 100"),
        ({"weight": 0.0}, "weight=0.0 must be greater than 0 and finite"),
        ({"weight": -1.0}, "weight=-1.0 must be greater than 0 and finite"),
        ({"weight": float("nan")}, "weight=nan must be greater than 0 and finite"),
        ({"weight": float("inf")}, "weight=inf must be greater than 0 and finite"),
        ({"max_slots": -1}, "max_slots=-1 must not be negative"),
    ],
)
async def test_resources_that_make_no_sense_are_refused_and_nothing_changes(
    world: World, change: dict[str, float], words: str
) -> None:
    await world.submit(activate=False)
    before = await world.rows("jobs"), (await world.experiment())["config"]
    with pytest.raises(InvalidArgument) as refused:
        await world.write(experiment.set_resources, 1, change)
    assert refused.value.message == words
    assert (await world.rows("jobs"), (await world.experiment())["config"]) == before
