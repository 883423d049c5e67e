"""Checkpoints that are wanted and deleted at the same time: who starts from them, who asks again, who looks when."""

import json
import uuid
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection
from world import World

from determined.errors import FailedPrecondition
from determined.master.background.checkpoint_gc import GarbageCollector
from determined.master.db.queries import checkpoint as rows
from determined.master.db.queries import submission
from determined.master.db.queries import trial as trials
from determined.master.lifecycle import checkpoint, experiment, extension
from determined.master.lifecycle import search as lifecycle_search
from determined.master.lifecycle.states import State

UUID = str(uuid.uuid4())


async def stored(world: World, tmp_path: Path, *, activate: bool = False) -> int:
    """An experiment with one checkpoint of two files."""
    storage = {"type": "shared_fs", "host_path": str(tmp_path)}
    experiment_id = await world.submit(activate=activate, checkpoint_storage=storage)
    (tmp_path / UUID).mkdir()
    for name in ("a", "b", "metadata.json"):
        (tmp_path / UUID / name).write_text("x")

    def report(conn: Connection, now: datetime) -> None:
        checkpoint.report(
            conn,
            now,
            trial_id=1,
            allocation_id=None,
            run_id=1,
            uuid=UUID,
            steps=1,
            metadata={},
            resources={"a": 1, "b": 1},
            time=None,
            storage_id=None,
        )

    await world.write(report)
    return experiment_id


async def mark(world: World, globs: list[str] | None = None) -> checkpoint.Deletion:
    """Ask for deletion; the request as the collector takes it up."""
    await world.write(checkpoint.request_delete, [UUID], globs)
    [row] = await world.db.read(lambda c: rows.pending_deletions(c, 9))
    return checkpoint.Deletion(row.delete_requested_at, row.delete_globs)


async def state(world: World) -> str:
    [row] = await world.rows("checkpoints")
    return str(row["state"])


async def test_a_checkpoint_marked_for_deletion_is_no_warm_start(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    assert await world.db.read(lambda c: submission.checkpoint_state(c, UUID)) == "COMPLETED"
    await mark(world)
    assert await world.db.read(lambda c: submission.checkpoint_state(c, UUID)) == "marked for deletion"
    # resolved before it was marked, stored after
    with pytest.raises(FailedPrecondition, match=f"checkpoint {UUID} is marked for deletion"):
        await world.submit(warm_start=UUID)


async def test_checkpoints_of_an_experiment_being_deleted_are_no_warm_start(world: World, tmp_path: Path) -> None:
    first = await stored(world, tmp_path)
    await world.write(experiment.kill, first)
    await world.write(experiment.begin_delete, first)
    with pytest.raises(FailedPrecondition, match="marked for deletion"):
        await world.submit(warm_start=UUID)


async def test_experiment_is_not_taken_up_again_once_its_warm_start_is_to_go(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    fork = await world.submit(activate=False, warm_start=UUID)
    await world.write(experiment.kill, fork)
    await mark(world)
    with pytest.raises(FailedPrecondition, match=f"checkpoint {UUID} is marked for deletion"):
        await world.write(experiment.continue_experiment, fork, None, None)
    assert await world.state(fork) == "CANCELED"


async def test_trial_with_a_checkpoint_of_its_own_goes_on_without_the_warm_start(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    fork = await world.submit(activate=False, warm_start=UUID)
    await world.write(_own_checkpoint, trial_id=2)
    await world.write(experiment.kill, fork)
    await mark(world)
    await world.write(experiment.continue_experiment, fork, None, None)
    assert await world.state(fork) == "ACTIVE"


async def test_search_is_not_extended_once_its_warm_start_is_gone(world: World, tmp_path: Path) -> None:
    first = await stored(world, tmp_path)
    searcher = {"name": "random", "metric": "loss", "max_trials": 1}
    search = await world.submit(activate=False, warm_start=UUID, searcher=searcher)
    await world.write(_over, search)
    await world.write(experiment.kill, first)
    await world.write(experiment.begin_delete, first)
    with pytest.raises(FailedPrecondition, match=f"checkpoint {UUID} is marked for deletion"):
        await world.write(extension.extend, search, 1)


def _own_checkpoint(conn: Connection, now: datetime, *, trial_id: int) -> None:
    checkpoint.report(
        conn,
        now,
        trial_id=trial_id,
        allocation_id=None,
        run_id=1,
        uuid="22222222-2222-4222-8222-222222222222",
        steps=1,
        metadata={},
        resources={"a": 1},
        time=None,
        storage_id=None,
    )


def _over(conn: Connection, now: datetime, experiment_id: int) -> None:
    for trial in trials.of_experiment(conn, experiment_id):
        trials.update_row(conn, trial.id, {"state": State.COMPLETED})
    lifecycle_search.settle(conn, now, experiment_id)


async def test_a_checkpoint_is_kept_until_the_experiment_that_starts_from_it_is_over(
    world: World, tmp_path: Path
) -> None:
    await stored(world, tmp_path)
    fork = await world.submit(activate=False, warm_start=UUID)
    await world.write(checkpoint.request_delete, [UUID])
    collector = GarbageCollector(world.ctx)
    assert await collector.step() == 0
    assert (tmp_path / UUID / "a").exists()
    await world.write(experiment.kill, fork)
    assert await collector.step() == 1
    assert await state(world) == "DELETED"
    assert not (tmp_path / UUID / "a").exists()


async def test_the_collector_looks_again_before_it_deletes(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    await world.submit(activate=False, warm_start=UUID)
    await world.write(checkpoint.request_delete, [UUID])
    collector = GarbageCollector(world.ctx)
    assert await collector._delete_if_unused(UUID) == 0
    assert (tmp_path / UUID / "a").exists()


async def test_an_experiment_whose_checkpoint_others_start_from_is_not_deleted(world: World, tmp_path: Path) -> None:
    first = await stored(world, tmp_path)
    await world.write(experiment.kill, first)
    fork = await world.submit(activate=False, warm_start=UUID)
    with pytest.raises(FailedPrecondition, match=rf"experiments \[{fork}\] start from its checkpoints"):
        await world.write(experiment.begin_delete, first)
    await world.write(experiment.kill, fork)
    await world.write(experiment.begin_delete, first)
    assert await world.state(first) == "DELETING"


async def test_a_deletion_asked_for_during_another_is_not_lost(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    some = await mark(world, ["a"])
    everything = await mark(world)
    await world.db.write(lambda c: checkpoint.files_left(c, UUID, {"b": 1}, some))
    [row] = await world.db.read(lambda c: rows.pending_deletions(c, 9))
    assert row.delete_globs is None
    await world.db.write(lambda c: checkpoint.files_left(c, UUID, {}, everything))
    assert not await world.db.read(lambda c: rows.pending_deletions(c, 9))
    assert await state(world) == "DELETED"


async def test_a_deletion_that_fails_does_not_spoil_the_one_asked_for_since(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    some = await mark(world, ["a"])
    everything = await mark(world)
    await world.db.write(lambda c: checkpoint.deletion_failed(c, UUID, some))
    assert await state(world) == "COMPLETED"
    await world.db.write(lambda c: checkpoint.deletion_failed(c, UUID, everything))
    assert await state(world) == "ERROR"


async def test_two_deletions_of_some_files_are_both_carried_out(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    await mark(world, ["a"])
    both = await mark(world, ["b"])
    assert json.dumps(both.globs) == '["a", "b"]'


async def test_what_a_client_says_is_left_does_not_end_a_pending_deletion(world: World, tmp_path: Path) -> None:
    await stored(world, tmp_path)
    await mark(world)
    await world.db.write(lambda c: checkpoint.files_left(c, UUID, {"b": 1}))
    assert await world.db.read(lambda c: rows.pending_deletions(c, 9))
