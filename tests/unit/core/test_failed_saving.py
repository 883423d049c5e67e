"""A rank fails while all save a checkpoint together: nobody takes its word for something else, or waits for ever."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rank_job import Job, errors, threaded

from determined import core
from determined.core import DistributedContext, _rank_link
from determined.errors import InvalidHP
from determined.storage.shared_fs.manager import SharedFSStorageManager

Work = Callable[[DistributedContext], Any]
TOLD = "failed while saving: ZeroDivisionError: the disk is gone"


@pytest.fixture(autouse=True)
def _allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_SESSION_TOKEN", "secret")


def checkpoints(dist: DistributedContext, store: Path) -> core.DummyCheckpointContext:
    return core.DummyCheckpointContext(dist, SharedFSStorageManager(str(store)))


def failing(store: Path, culprit: int, meanwhile: Work) -> Work:
    """Return work in which all write their part; then one fails and the others do something else that needs it."""

    def work(dist: DistributedContext) -> Any:
        with checkpoints(dist, store).store_path({}, shard=True) as (path, _):
            (path / f"part{dist.rank}").write_text("1")
            if dist.rank == culprit:
                raise ZeroDivisionError("the disk is gone")
            return meanwhile(dist)

    return work


MEANWHILE: dict[str, Work] = {
    "allgather": lambda dist: dist.allgather("mine"),
    "gather": lambda dist: (dist.gather("mine"), dist.allgather("mine")),
    "broadcast": lambda dist: (dist.broadcast("mine"), dist.allgather("mine")),
    "large": lambda dist: dist.allgather(bytes(8_000_000)),
}


@pytest.mark.parametrize("culprit", [0, 1])
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_an_exchange_of_the_others_ends_with_the_cause(tmp_path: Path, meanwhile: str, culprit: int) -> None:
    outcomes = threaded(failing(tmp_path / "store", culprit, MEANWHILE[meanwhile]), [0, 1, 2], size=3)
    assert str(outcomes.pop(culprit)) == "the disk is gone"
    assert [str(told) for told in outcomes] == [f"rank {culprit} {TOLD}"] * 2
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize("culprit", [0, 1])
def test_who_waits_for_it_by_other_means_is_let_go_and_writes_on_undisturbed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, culprit: int
) -> None:
    monkeypatch.setattr(_rank_link, "_LEAVE_SECONDS", 0.2)
    has_left = threading.Event()

    def work(dist: DistributedContext) -> Any:
        try:
            with checkpoints(dist, tmp_path / "store").store_path({}, shard=True) as (path, _):
                if dist.rank == culprit:
                    raise ZeroDivisionError("the disk is gone")
                assert has_left.wait(20)
                (path / f"part{dist.rank}").write_text("still there")
        finally:
            if dist.rank == culprit:
                has_left.set()

    outcomes = threaded(work, [0, 1, 2], size=3)
    assert str(outcomes.pop(culprit)) == "the disk is gone"
    assert [str(told) for told in outcomes] == [f"rank {culprit} {TOLD}"] * 2
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize("culprits", [{0}, {2}, {1, 2}, {0, 1, 2}])
def test_ranks_that_all_leave_the_block_can_save_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, culprits: set[int]
) -> None:
    monkeypatch.setattr(_rank_link, "_LEAVE_SECONDS", 60.0)  # one that fails waits for all, however slow they are

    def work(dist: DistributedContext) -> Any:
        saver, told = checkpoints(dist, tmp_path / "store"), ""
        try:
            with saver.store_path({}, shard=True) as (path, _):
                (path / f"part{dist.rank}").write_text("1")
                if dist.rank in culprits:
                    raise ZeroDivisionError("the disk is gone")
        except (RuntimeError, ZeroDivisionError) as err:
            told = str(err)
        with saver.store_path({}, shard=True) as (path, _):
            (path / f"part{dist.rank}").write_text("2")
        return told, dist.allgather(dist.rank)

    first = min(culprits)
    told = ["the disk is gone" if rank in culprits else f"rank {first} {TOLD}" for rank in range(3)]
    assert threaded(work, [0, 1, 2], size=3) == [(words, [0, 1, 2]) for words in told]
    [stored] = (tmp_path / "store").iterdir()
    assert {path.name for path in stored.glob("part*")} == {"part0", "part1", "part2"}


@pytest.mark.parametrize("culprit", [0, 1])
def test_an_exchange_within_a_node_ends_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, culprit: int) -> None:
    monkeypatch.setattr(_rank_link, "_LEAVE_SECONDS", 0.2)
    work = failing(tmp_path / "store", culprit, lambda dist: dist.allgather_local("mine"))
    outcomes = threaded(work, [0, 1, 2, 3], size=4, local_size=2, chief_ip="127.0.0.1")
    assert str(outcomes.pop(culprit)) == "the disk is gone"
    assert [str(told) for told in outcomes] == [f"rank {culprit} {TOLD}"] * 3


@pytest.mark.parametrize("culprit", [0, 1])
@pytest.mark.parametrize("meanwhile", [lambda dist: None, lambda dist: dist.allgather(1)])
def test_hyperparameters_found_invalid_while_saving_are_invalid_for_all(
    tmp_path: Path, meanwhile: Work, culprit: int
) -> None:
    def work(dist: DistributedContext) -> None:
        with checkpoints(dist, tmp_path / "store").store_path({}, shard=True):
            if dist.rank == culprit:
                raise InvalidHP("lr is too high")
            meanwhile(dist)

    outcomes = threaded(work, [0, 1, 2], size=3)
    assert [type(told) for told in outcomes] == [InvalidHP] * 3
    assert str(outcomes[2]) == f"rank {culprit}: lr is too high"


def test_a_rank_whose_directory_went_because_of_another_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks 0 and 1 have given up and cleared away; rank 2 was writing all the time, and cannot any more."""
    monkeypatch.setattr(_rank_link, "_GIVE_WAY_SECONDS", 0.0)
    all_within, cleared = threading.Barrier(3), threading.Barrier(3)

    def work(dist: DistributedContext) -> Any:
        try:
            with checkpoints(dist, tmp_path / "store").store_path({}, shard=True) as (path, _):
                all_within.wait(20)  # one that comes later would make the directory anew
                if dist.rank == 1:
                    raise ZeroDivisionError("the disk is gone")
                if dist.rank == 0:
                    return dist.allgather("mine")
                cleared.wait(20)
                (path / "part2").write_text("1")
        finally:
            if dist.rank != 2:
                cleared.wait(20)

    chief, one, two = threaded(work, [0, 1, 2], size=3)
    assert str(one) == "the disk is gone"
    assert str(chief) == str(two) == f"rank 1 {TOLD}"
    assert isinstance(two.__cause__, FileNotFoundError)


def test_ranks_that_clear_away_at_the_same_time_leave_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds files that another has just removed, and goes on with those that only it has seen."""
    storage, unlink = SharedFSStorageManager(str(tmp_path / "store")), os.unlink
    path = storage.pre_store_path("5b9d1f9e-8f0e-4f0e-9d6a-000000000001")
    for rank in range(3):
        (path / f"part{rank}").write_text("1")
    others = [entry.name for entry in os.scandir(path)][:2]

    def late(name: str, *, dir_fd: int | None = None) -> None:
        if name in others:
            unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", late)
    storage.discard("5b9d1f9e-8f0e-4f0e-9d6a-000000000001")
    assert list((tmp_path / "store").iterdir()) == []


def test_processes_that_exchange_something_hear_why_one_of_them_fails(job: Job, tmp_path: Path) -> None:
    chief, one, two = errors(job("a_worker_fails_while_the_others_exchange_something"))
    assert one == ("ZeroDivisionError", "the disk is gone")
    assert chief == two == ("RuntimeError", f"rank 1 {TOLD}")
    assert list((tmp_path / "store").iterdir()) == []


def test_processes_that_wait_by_other_means_are_let_go_by_one_that_fails(job: Job, tmp_path: Path) -> None:
    chief, *others = errors(job("the_chief_fails_while_the_others_wait_for_it"))
    assert chief == ("ZeroDivisionError", "the disk is gone")
    assert others == [("RuntimeError", f"rank 0 {TOLD}")] * 2
    assert list((tmp_path / "store").iterdir()) == []
