"""The program of a TensorBoard with the real TensorBoard, over its Unix socket."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served_program import TASK_ID, ServedProgram, shared_cache
from task_around import FakeMaster

from determined.storage.directory.config import section_at as directory_section
from determined.storage.shared_fs.config import section_at as shared_section
from determined.tensorboard.event_file import EventFile
from determined.wire.tensorboard_settings import TensorboardSettings, TensorboardSource

FIRST, SECOND = "c/tensorboard/experiment/1", "c/tensorboard/experiment/2/trial/5"
_HANG_SECONDS = 120.0


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return tmp_path_factory.mktemp("first"), tmp_path_factory.mktemp("second")


@pytest.fixture(scope="module")
def master() -> Iterator[FakeMaster]:
    made = FakeMaster()
    for state in ("waiting", "ready"):
        made.routes["POST", f"/api/v1/allocations/{TASK_ID}.1/{state}"] = {}
    yield made
    made.close()


@pytest.fixture(scope="module")
def board(
    stores: tuple[Path, Path], master: FakeMaster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedProgram]:
    """One of two stores of different kinds, both empty at its start."""
    sources = [
        TensorboardSource(name="experiment/1", storage=shared_section(str(stores[0])), prefix=FIRST),
        TensorboardSource(name="trial/5", storage=directory_section(str(stores[1])), prefix=SECOND),
    ]
    settings = TensorboardSettings(sources=sources, args=["--reload_interval=1", "--window_title=mine"])
    place, cache = tmp_path_factory.mktemp("board"), shared_cache(tmp_path_factory.getbasetemp())
    with ServedProgram("determined.exec.tensorboard", settings, place, cache=cache, master_url=master.url) as program:
        yield program


def test_it_answers_while_it_is_empty_then_shows_both_sources_and_follows_them(
    board: ServedProgram, stores: tuple[Path, Path], master: FakeMaster
) -> None:
    board.wait_for(r"TensorBoard is waiting for metrics\.")
    assert board.request("GET", "data/runs") == (200, [])
    _until(lambda: _told(master) == ["waiting"], lambda: _told(master))
    _events(stores[0] / FIRST / "trial" / "1", "loss").close()
    growing = _events(stores[1] / SECOND, "accuracy")
    board.wait_for("TensorBoard contains metrics")
    runs = {"experiment/1/trial/1": ["loss"], "trial/5": ["accuracy"]}
    _until(lambda: _tags(board) == runs, lambda: _tags(board))
    growing.add_scalars(9, time.time(), {"accuracy": 0.5})
    growing.flush()
    _until(lambda: _last_step(board) == 9, lambda: _last_step(board))
    growing.close()
    assert _told(master) == ["waiting", "ready"]


def test_it_says_where_it_serves_and_takes_the_users_arguments(board: ServedProgram) -> None:
    board.wait_for(r"TensorBoard .* at ")
    assert board.request("GET", "")[0] == 200
    assert board.request("GET", "data/environment")[1]["window_title"] == "mine"


def test_only_its_user_reaches_it_and_no_port_is_open(board: ServedProgram) -> None:
    board.wait_for(r"TensorBoard .* at ")
    assert board.socket.stat().st_mode & 0o777 == 0o600
    assert board.listening_ports() == []


def test_it_ends_when_it_is_told_to(board: ServedProgram) -> None:
    board.wait_for(r"TensorBoard .* at ")
    assert board.stop() == 0


def _events(directory: Path, tag: str) -> EventFile:
    file = EventFile(directory, time.time())
    for step in range(3):
        file.add_scalars(step, time.time(), {tag: step / 10})
    file.flush()
    return file


def _tags(board: ServedProgram) -> dict[str, list[str]]:
    return {run: list(tags) for run, tags in board.request("GET", "data/plugin/scalars/tags")[1].items()}


def _last_step(board: ServedProgram) -> int:
    points = board.request("GET", "data/plugin/scalars/scalars?run=trial%2F5&tag=accuracy")[1]
    return int(points[-1][1])


def _told(master: FakeMaster) -> list[str]:
    return [path.rpartition("/")[2] for _, path, _ in master.requests]


def _until(reached: Callable[[], bool], seen: Callable[[], Any]) -> None:
    deadline = time.monotonic() + _HANG_SECONDS
    while not reached():
        assert time.monotonic() < deadline, seen()
        time.sleep(0.1)
