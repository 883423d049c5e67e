"""Trials that their client runs: what each word of it means, what silence means, and what a deletion keeps out."""

import itertools
from datetime import timedelta

import pytest
from sqlalchemy import Connection
from world import World

from determined.errors import FailedPrecondition, InvalidArgument
from determined.master.lifecycle import experiment, trial, unmanaged

WORDS = {
    "RUNNING": "ACTIVE", "ACTIVE": "ACTIVE", "PAUSED": "PAUSED",
    "COMPLETED": "COMPLETED", "ERROR": "ERROR", "CANCELED": "CANCELED",
}  # fmt: skip
# From the least to the most advanced.
RANKS = ["PAUSED", "CANCELED", "ERROR", "COMPLETED", "ACTIVE"]


async def new_trial(world: World, experiment_id: int = 1) -> int:
    trial_id = await world.write(trial.create_unmanaged, experiment_id, {})
    await world.write(lambda conn, now: unmanaged.created(conn, trial_id))
    return trial_id


async def sweep(world: World, listening_minutes: float = 60) -> list[int]:
    """By a master that listens for so long already."""
    since = timedelta(minutes=listening_minutes)
    return await world.write(lambda conn, now: unmanaged.sweep(conn, now, now - since))


@pytest.fixture
async def detached(world: World) -> World:
    """A world with an unmanaged experiment without trials."""
    await world.submit(unmanaged=True)
    return world


@pytest.mark.parametrize(("word", "state"), WORDS.items())
async def test_each_word_of_the_client_is_the_state_of_its_trial(detached: World, word: str, state: str) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, word)
    row = await detached.trial()
    is_over = state in ("COMPLETED", "ERROR", "CANCELED")
    assert (row["state"], row["end_time"] is not None, row["exit_reported"]) == (state, is_over, is_over)
    assert (await detached.rows("tasks"))[0]["end_time"] == row["end_time"]


@pytest.mark.parametrize("word", ["", "running", "STATE_RUNNING", "STOPPING_KILLED", "DELETING", "QUEUED"])
async def test_other_words_are_refused_with_those_that_can_be_used(detached: World, word: str) -> None:
    await new_trial(detached)
    with pytest.raises(InvalidArgument, match="cannot be set; use one of RUNNING, ACTIVE, PAUSED, COMPLETED, ERROR"):
        await detached.write(unmanaged.heartbeat, 1, word)
    assert (await detached.trial())["state"] == "PAUSED"


async def test_experiment_shows_the_most_advanced_of_any_two_trials(detached: World) -> None:
    await new_trial(detached)
    await new_trial(detached)
    for first, second in itertools.product(RANKS, RANKS):
        await detached.write(unmanaged.heartbeat, 1, first)
        await detached.write(unmanaged.heartbeat, 2, second)
        assert await detached.state() == max(first, second, key=RANKS.index), (first, second)
        row = await detached.experiment()
        assert (row["end_time"] is None) == (row["state"] in ("ACTIVE", "PAUSED")), (first, second)


async def test_ended_trial_that_its_client_takes_up_again_runs_again(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "COMPLETED")
    await detached.write(unmanaged.heartbeat, 1, "RUNNING")
    row = await detached.trial()
    assert (row["state"], row["end_time"], row["exit_reported"]) == ("ACTIVE", None, False)
    assert (await detached.experiment())["end_time"] is None


async def test_silence_ends_a_trial_at_its_last_sign_of_life(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "RUNNING")
    spoken = (await detached.trial())["last_activity"]
    detached.clock.advance(unmanaged.SILENCE.total_seconds() - 1)
    assert await sweep(detached) == []
    detached.clock.advance(2)
    assert await sweep(detached) == [1]
    row = await detached.trial()
    assert (row["state"], row["end_time"], row["last_activity"]) == ("ERROR", spoken, spoken)
    assert await sweep(detached) == []


async def test_sign_of_life_without_a_state_puts_the_end_off(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "RUNNING")
    for _ in range(3):
        detached.clock.advance(200)
        await detached.write(unmanaged.heartbeat, 1, None)
        assert await sweep(detached) == []
    assert (await detached.trial())["state"] == "ACTIVE"


async def test_silence_of_a_waiting_or_ended_trial_means_nothing(detached: World) -> None:
    for state in ("PAUSED", "COMPLETED"):
        trial_id = await new_trial(detached)
        await detached.write(unmanaged.heartbeat, trial_id, state)
    detached.clock.advance(3600)
    assert await sweep(detached) == []


async def test_managed_trial_is_never_swept_and_takes_no_word(world: World) -> None:
    await world.submit()
    await world.running()
    world.clock.advance(3600)
    assert await sweep(world) == []
    for call in (lambda conn, now: unmanaged.heartbeat(conn, now, 1, None),
                 lambda conn, now: unmanaged.start(conn, now, 1, resume=True)):  # fmt: skip
        with pytest.raises(FailedPrecondition, match="trial 1 is managed; the master alone starts it"):
            await world.write(call)


async def test_silence_while_no_master_listened_means_nothing(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "RUNNING")
    detached.clock.advance(3600)
    assert await sweep(detached, listening_minutes=4.9) == []
    assert await sweep(detached, listening_minutes=5.1) == [1]


async def test_experiment_ends_with_the_last_of_its_trials(detached: World) -> None:
    await new_trial(detached)
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "COMPLETED")
    detached.clock.advance(60)
    await detached.write(unmanaged.heartbeat, 2, "RUNNING")
    detached.clock.advance(unmanaged.SILENCE.total_seconds() + 1)
    await detached.write(unmanaged.heartbeat, 1, "COMPLETED")
    last = (await detached.trial())["end_time"]
    assert await sweep(detached) == [1]
    assert (await detached.experiment())["end_time"] == last


async def test_each_start_after_the_first_is_a_new_run(detached: World) -> None:
    await new_trial(detached)
    started = [await detached.write(unmanaged.start, 1, resume=first) for first in (False, True, True)]
    assert [(one.run_id, one.steps_completed, one.latest_checkpoint) for one in started] == [
        (1, 0, None), (2, 0, None), (3, 0, None),
    ]  # fmt: skip
    assert (await detached.trial())["state"] == await detached.state() == "ACTIVE"


async def test_trial_that_has_been_started_is_not_started_anew_without_resume(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.start, 1, resume=False)
    with pytest.raises(FailedPrecondition, match="trial 1 has already been started; start it with resume=true"):
        await detached.write(unmanaged.start, 1, resume=False)
    assert (await detached.trial())["run_id"] == 1


async def test_start_opens_an_ended_trial_again(detached: World) -> None:
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "ERROR")
    await detached.write(unmanaged.start, 1, resume=True)
    assert ((await detached.trial())["end_time"], await detached.state()) == (None, "ACTIVE")


@pytest.mark.parametrize("failed", [False, True], ids=["deleting", "delete failed"])
async def test_client_cannot_bring_an_experiment_back_that_is_being_deleted(detached: World, failed: bool) -> None:
    """Its files may be gone already; and back in ACTIVE its rows would never be deleted."""
    await new_trial(detached)
    await detached.write(unmanaged.heartbeat, 1, "COMPLETED")
    await detached.write(experiment.begin_delete, 1)
    if failed:
        await detached.write(lambda conn, now: experiment.fail_delete(conn, now, 1, "disk on fire"))
    state = await detached.state()

    def new(conn: Connection, now: object) -> int:
        return trial.create_unmanaged(conn, detached.clock.now(), 1, {})

    for call in (lambda conn, now: unmanaged.heartbeat(conn, now, 1, "RUNNING"),
                 lambda conn, now: unmanaged.heartbeat(conn, now, 1, None),
                 lambda conn, now: unmanaged.start(conn, now, 1, resume=True),
                 new):  # fmt: skip
        with pytest.raises(FailedPrecondition, match=f"experiment 1 is {state}"):
            await detached.write(call)
    assert await detached.state() == state
    assert (await detached.trial())["state"] == "COMPLETED"
