"""Preflight: nodes as threads that meet in memory."""

import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from determined.errors import FailedPrecondition, Gone, Unavailable
from determined.exec.runner.preflight import check, peers
from determined.exec.runner.preflight.check import Here, Preflight
from determined.exec.runner.preflight.directory import CheckpointDirectory
from determined.exec.runner.preflight.facts import calls_python
from determined.exec.runner.preflight.peers import PeerListener, check_connection

LOCAL = "127.0.0.1"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is not taken for a node that is late; tests of those say which step has no time."""
    steps = {"_FACTS_BY": 60.0, "_GATHERED_BY": 70.0, "_REACHED_BY": 80.0, "_OVER_BY": 90.0}
    for name, seconds in {**steps, "_MARK_SECONDS": 60.0, "_LATE_SECONDS": 60.0}.items():
        monkeypatch.setattr(check, name, seconds)
    monkeypatch.setattr(peers, "_ANSWER_SECONDS", 60.0)


class Meeting:
    """An all-gather in memory. `late` ranks come to a topic only after everyone has given up."""

    def __init__(self, *, late: tuple[str, int] | None = None) -> None:
        self._rounds: dict[str, list[dict[str, Any]]] = {}
        self._changed = threading.Condition()
        self._late = late

    def of(self, rank: int) -> "Seat":
        return Seat(self, rank)

    def join(self, rank: int, topic: str, data: dict[str, Any], peers: int, timeout: float) -> list[dict[str, Any]]:
        with self._changed:
            if self._late == (topic, rank):
                raise Unavailable("no answer")
            come = self._rounds.setdefault(topic, [])
            come.append(data)
            self._changed.notify_all()
            if not self._changed.wait_for(lambda: len(come) == peers, timeout):
                raise Unavailable("nobody came")
            return list(come)


class Seat:
    def __init__(self, meeting: Meeting, rank: int) -> None:
        self._meeting, self._rank = meeting, rank

    def all_gather(self, topic: str, data: dict[str, Any], *, peers: int, timeout: float) -> list[dict[str, Any]]:
        return self._meeting.join(self._rank, topic, data, peers, timeout)


class Node:
    """A node's side: its own packages and work directory."""

    def __init__(self, place: Path, rank: int, meeting: Meeting, **here: Any) -> None:
        self.rank, self.place = rank, place / str(rank)
        self.place.mkdir(parents=True)
        self.said: list[tuple[str, str]] = []
        variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.place), **here.pop("variables", {})}
        facts = {"config": {}, **here}
        own = Here(f"n{rank}", "token", variables, self.place, **facts)
        self.preflight = Preflight(own, meeting.of(rank), lambda level, text: self.said.append((level, text)))

    def fails(self, addresses: list[str]) -> str | None:
        """The reason; None when the start may go on."""
        try:
            self.preflight.check(addresses, self.rank)
        except FailedPrecondition as e:
            return e.message
        return None


Start = Callable[..., tuple[list[Node], list[str | None], float]]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """(nodes, why each fails, seconds) of a start."""

    def run(*each: dict[str, Any], meeting: Meeting | None = None) -> tuple[list[Node], list[str | None], float]:
        met = meeting or Meeting()
        nodes = [Node(tmp_path / "work", rank, met, **here) for rank, here in enumerate(each)]
        began = time.monotonic()
        with ThreadPoolExecutor(len(nodes)) as pool:
            reasons = list(pool.map(lambda node: node.fails([LOCAL] * len(nodes)), nodes))
        return nodes, reasons, time.monotonic() - began

    return run


def having(tmp_path: Path, name: str, *packages: str) -> dict[str, Any]:
    """A node whose Python finds these packages before all others."""
    place = tmp_path / "site" / name
    for package in packages:
        (place / f"{package}.dist-info").mkdir(parents=True)
    return {"variables": {"PYTHONPATH": str(place)}}


def test_two_like_nodes_pass(start: Start) -> None:
    nodes, reasons, _ = start({}, {})
    assert reasons == [None, None]
    assert all("2 nodes reach each other" in node.said[-1][1] for node in nodes), nodes[0].said


def test_another_torch_fails_every_node_with_the_same_words(start: Start, tmp_path: Path) -> None:
    one, other = having(tmp_path, "a", "torch-2.13.0+cu128"), having(tmp_path, "b", "torch-2.12.1")
    _, reasons, _ = start(one, other, one)
    assert reasons[0] == reasons[1] == reasons[2]
    assert reasons[0] is not None
    assert "torch differs: 2.13.0 on n0" in reasons[0]
    assert "2.12.1 on n1 (host " in reasons[0]


def test_another_determined_fails(start: Start, tmp_path: Path) -> None:
    _, reasons, _ = start(having(tmp_path, "a", "determined-1.0"), having(tmp_path, "b", "determined-1.1"))
    assert reasons[0] is not None and "determined differs: 1.0 on n0" in reasons[0]


def test_other_packages_builds_and_absent_frameworks_only_warn_once(start: Start, tmp_path: Path) -> None:
    one = having(tmp_path, "a", "numpy-2.1", "torch-2.13.0+cpu", "jax-1.0")
    other = having(tmp_path, "b", "numpy-2.2", "torch-2.13.0+cu128")
    nodes, reasons, _ = start(one, other)
    assert reasons == [None, None]
    warnings = [text for level, text in nodes[1].said if level == "WARNING"]
    assert len(warnings) == 1
    for part in ("numpy 2.1 on n0", "2.2 on n1", "2.13.0+cu128 on n1", "jax 1.0 on n0", "missing on n1"):
        assert part in warnings[0]


@pytest.mark.parametrize("entrypoint", ["/opt/conda/bin/python3 train.py", "./run.sh", ["bash", "run.sh"]])
def test_packages_that_the_task_may_not_use_stop_nothing(start: Start, tmp_path: Path, entrypoint: Any) -> None:
    one, other = having(tmp_path, "a", "torch-2.13.0"), having(tmp_path, "b", "torch-2.12.1")
    nodes, reasons, _ = start(one | {"entrypoint": entrypoint}, other | {"entrypoint": entrypoint})
    assert reasons == [None, None]
    assert any(level == "WARNING" and "torch differs" in text for level, text in nodes[0].said)


@pytest.mark.parametrize(
    "entrypoint",
    ["python3 train.py", "cd src && python -m train", ["python3.11", "train.py"], "torchrun x.py", "model_def:Trial"],
)
def test_packages_of_the_python_that_is_called_by_name_are_the_tasks(entrypoint: str | list[str]) -> None:
    assert calls_python(entrypoint)


def test_a_python_that_does_not_answer_is_named_and_stops_nothing(start: Start) -> None:
    nodes, reasons, _ = start({}, {"variables": {"PATH": "/nowhere"}})
    assert reasons == [None, None]
    assert any("the Python of n1" in text and "did not answer" in text for _, text in nodes[0].said)


def test_a_directory_of_each_nodes_own_fails_and_leaves_no_mark(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_MARK_SECONDS", 0.2)
    sections = [{"type": "directory", "container_path": str(tmp_path / f"disk-of-n{node}")} for node in (0, 1)]
    _, reasons, _ = start(*({"config": {"checkpoint_storage": section}} for section in sections))
    assert reasons[0] == reasons[1] is not None
    assert f"{tmp_path}/disk-of-n1 on n1" in str(reasons[0]) and "is not the one of n0" in str(reasons[0])
    assert not list(tmp_path.rglob(".preflight*"))


def test_a_shared_directory_passes_and_is_left_clean(start: Start, tmp_path: Path) -> None:
    shared = {"config": {"checkpoint_storage": {"type": "shared_fs", "host_path": str(tmp_path / "shared")}}}
    _, reasons, _ = start(shared, shared)
    assert reasons == [None, None]
    assert list((tmp_path / "shared").iterdir()) == []


def test_marks_that_a_killed_check_left_go_with_the_next_one(start: Start, tmp_path: Path) -> None:
    directory = tmp_path / "shared"
    for name in (".preflight-old", ".preflight-of-another-check", "checkpoint"):
        (directory / name).mkdir(parents=True)
        (directory / name / "MARK.txt").touch()
    for name in (".preflight-old", "checkpoint"):
        os.utime(directory / name, (0, 0))
    shared = {"config": {"checkpoint_storage": {"type": "shared_fs", "host_path": str(directory)}}}
    assert start(shared, shared)[1] == [None, None]
    deadline = time.monotonic() + 60
    while (directory / ".preflight-old").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert {path.name for path in directory.iterdir()} == {".preflight-of-another-check", "checkpoint"}


def test_a_file_system_that_answers_late_stops_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounted = threading.Event()
    monkeypatch.setattr(CheckpointDirectory, "look_for", lambda *_: mounted.wait(600) and None)
    monkeypatch.setattr(check, "_MARK_SECONDS", 0.2)
    monkeypatch.setattr(check, "_LATE_SECONDS", 0.1)
    shared = {"config": {"checkpoint_storage": {"type": "shared_fs", "host_path": str(tmp_path / "shared")}}}
    nodes, reasons, seconds = start(shared, shared)
    mounted.set()
    assert (reasons, seconds < 60) == ([None, None], True)
    assert any("does not answer in time" in text for _, text in nodes[0].said)


def test_a_directory_that_cannot_be_written_is_left_to_the_storage_probe(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    broken = {"config": {"checkpoint_storage": {"type": "directory", "container_path": str(tmp_path / "file" / "x")}}}
    assert start(broken, broken)[1] == [None, None]


def test_an_interface_that_is_not_there_is_named(start: Start) -> None:
    _, reasons, _ = start({}, {"interface": "no-such0"})
    assert reasons[0] == reasons[1]
    assert "n1" in str(reasons[0]) and "has no network interface 'no-such0', only" in str(reasons[0])


@pytest.mark.parametrize("wanted", ["lo", "=lo", "no-such0,lo", "l", "^docker0", ""])
def test_interfaces_may_be_named_as_nccl_reads_them(start: Start, wanted: str) -> None:
    assert start({"interface": wanted}, {})[1] == [None, None]


def test_a_warning_mode_starts_and_a_skipped_check_says_nothing(start: Start) -> None:
    warn, skip = {"interface": "no-such0", "config": {"preflight": "warn"}}, {"config": {"preflight": "skip"}}
    nodes, reasons, _ = start(warn, warn)
    assert reasons == [None, None]
    assert any("no-such0" in text for _, text in nodes[0].said)
    silent = Node(nodes[0].place, 9, Meeting(), **skip)
    assert silent.fails([LOCAL, LOCAL]) is None
    assert silent.said == []


def test_a_runner_alone_asks_nobody(tmp_path: Path) -> None:
    node = Node(tmp_path, 0, Meeting())
    assert node.fails([LOCAL]) is None
    assert node.said == []


@pytest.mark.parametrize(("topic", "step"), [("preflight facts", "_GATHERED_BY"), ("preflight verdicts", "_OVER_BY")])
def test_a_node_that_is_late_leaves_the_check_incomplete_and_starts(
    start: Start, monkeypatch: pytest.MonkeyPatch, topic: str, step: str
) -> None:
    monkeypatch.setattr(check, step, 0.0)
    nodes, reasons, seconds = start({}, {}, meeting=Meeting(late=(topic, 1)))
    assert reasons == [None, None]
    assert seconds < 60
    for node in nodes:
        assert any(text.startswith("preflight incomplete: ") for _, text in node.said), node.said


def test_skew_fails_even_when_the_verdicts_are_late(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_OVER_BY", 0.0)
    skewed = having(tmp_path, "a", "torch-1.0"), having(tmp_path, "b", "torch-2.0")
    reasons = start(*skewed, meeting=Meeting(late=("preflight verdicts", 1)))[1]
    assert all("torch differs" in str(reason) for reason in reasons)


def test_an_allocation_that_is_over_ends_the_check(tmp_path: Path) -> None:
    class Over(Meeting):
        def join(self, *_: Any) -> list[dict[str, Any]]:
            raise Gone("task terminated")

    with pytest.raises(Gone):
        Node(tmp_path, 0, Over()).fails([LOCAL, LOCAL])


def test_whoever_does_not_know_the_token_is_not_taken_for_the_peer() -> None:
    listener = PeerListener(LOCAL, 1, "ours")
    try:
        soon = time.monotonic() + 60
        assert check_connection(LOCAL, listener.port, 1, "ours", soon).reason is None
        assert check_connection(LOCAL, listener.port, 1, "theirs", soon).reason == "something else answers there"
        assert check_connection(LOCAL, listener.port, 2, "ours", soon).reason == "something else answers there"
    finally:
        listener.close()
    with socket.socket() as deaf:
        deaf.bind((LOCAL, 0))  # so nobody else listens there
        refused = check_connection(LOCAL, deaf.getsockname()[1], 1, "ours", time.monotonic() + 60)
    assert refused.reason == "Connection refused" and refused.certain


def test_a_peer_that_takes_the_call_and_is_slow_is_not_called_unreachable() -> None:
    with socket.create_server((LOCAL, 0)) as busy:
        answer = check_connection(LOCAL, busy.getsockname()[1], 0, "token", time.monotonic() + 0.2)
    assert answer.reason is not None and not answer.certain
