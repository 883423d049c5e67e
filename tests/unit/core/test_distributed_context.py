"""Ranks as real processes on loopback."""

import json
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined.core import DistributedContext, DummyDistributedContext, _environment, _rank_start
from determined.core._rank_link import Hub, Spoke, listen

PROGRAM = Path(__file__).with_name("rank_program.py")
Job = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Run a scenario of rank_program.py on `size` ranks; each rank's answer."""

    def run(scenario: str, size: int = 3, local_size: int | None = None) -> list[dict[str, Any]]:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        env = {"PATH": "/usr/bin:/bin", "DET_SESSION_TOKEN": "secret", "HOME": str(tmp_path)}
        words = [str(size), str(local_size or size), str(port), str(tmp_path)]
        ranks = [
            subprocess.Popen(
                [sys.executable, str(PROGRAM), scenario, str(rank), *words], env=env, stdout=subprocess.PIPE, text=True
            )
            for rank in range(size)
        ]
        return [json.loads(rank.communicate(timeout=60)[0]) for rank in ranks]

    return run


def _results(answers: list[dict[str, Any]]) -> list[Any]:
    assert not [answer for answer in answers if "error" in answer], answers
    return [answer["result"] for answer in answers]


def _errors(answers: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(answer["error"], answer["message"]) for answer in answers]


def test_collectives_of_one_node(job: Job) -> None:
    chief, one, two = _results(job("collectives"))
    assert (chief["gather"], one["gather"], two["gather"]) == ([0, 1, 2], None, None)
    for rank, answer in enumerate((chief, one, two)):
        assert answer["allgather"] == [{"rank": 0}, {"rank": 1}, {"rank": 2}]
        assert (answer["broadcast"], answer["broadcast_local"]) == ("from 0", 0)
        assert answer["allgather_local"] == [0, 1, 2]
        assert answer["large"] == 3_000_000
        assert answer["numbers"] == [rank, 3, rank, 1]


def test_local_collectives_stay_on_their_node(job: Job) -> None:
    answers = _results(job("collectives", size=4, local_size=2))
    assert [answer["allgather_local"] for answer in answers] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert [answer["gather_local"] for answer in answers] == [[0, 1], None, [2, 3], None]
    assert [answer["broadcast_local"] for answer in answers] == [0, 0, 2, 2]
    assert answers[3]["numbers"] == [3, 4, 1, 2]


def test_one_process_per_node_has_no_local_peers(job: Job) -> None:
    answers = _results(job("collectives", size=2, local_size=1))
    assert [answer["allgather_local"] for answer in answers] == [[0], [1]]
    assert answers[1]["allgather"] == [{"rank": 0}, {"rank": 1}]


def test_ranks_that_make_different_calls_are_told(job: Job) -> None:
    errors = _errors(job("out_of_step", size=2)[:1])
    assert errors[0][0] == "RuntimeError"
    assert "out of step" in errors[0][1]


def test_a_rank_that_leaves_is_named(job: Job) -> None:
    answers = job("one_leaves", size=2)
    assert answers[1] == {"result": "left"}
    assert "rank 1 is gone" in answers[0]["message"]


def test_ranks_agree_whether_to_leave(job: Job) -> None:
    assert _results(job("preempt_together")) == [False] * 3


def test_shards_make_one_checkpoint(job: Job) -> None:
    answers = _results(job("shards"))
    assert len({answer["id"] for answer in answers}) == 1
    files = answers[2]["files"]
    assert {k: v for k, v in files.items() if k != "metadata.json"} == {
        "part0": "0", "part1": "1", "part2": "2", "same": "equal", "d/x": "equal",
    }  # fmt: skip
    assert json.loads(files["metadata.json"]) == {"steps_completed": 1, "ranks": {"0": True, "1": True, "2": True}}


def test_ranks_without_files_take_part(job: Job) -> None:
    for files in _results(job("some_without")):
        assert files.keys() == {"only", "metadata.json"}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("nobody_brings_anything", "nothing to store"),
        ("a_missing_directory", "absent"),
        ("conflicting_files", "refusing to upload with files conflicts:\nclash (ranks [0, 1, 2])"),
        ("file_against_directory", "refusing to upload with files conflicts:\nthing (ranks [0, 1, 2])"),
        (
            "conflicting_metadata",
            "refusing to upload with metadata conflicts: ranks give different values for ['/a/b']",
        ),
    ],
)
def test_a_refused_upload_fails_on_every_rank_and_stores_nothing(
    job: Job, tmp_path: Path, scenario: str, words: str
) -> None:
    for kind, message in _errors(job(scenario)):
        assert kind == "RuntimeError"
        assert words in message
    assert not (tmp_path / "store").exists() or list((tmp_path / "store").iterdir()) == []


def test_ranks_that_share_a_directory_upload_it_once(job: Job) -> None:
    everything = ["metadata.json", "part0", "part1", "part2"]
    assert _results(job("one_directory")) == [[everything, ["metadata.json", "part0", "part1"]]] * 3


@pytest.mark.parametrize("scenario", ["store_path", "cloud_store_path"])
def test_ranks_write_one_checkpoint_together(job: Job, tmp_path: Path, scenario: str) -> None:
    for answer in _results(job(scenario)):
        assert answer["files"].keys() == {"part0", "part1", "part2", "metadata.json"}
        assert json.loads(answer["files"]["metadata.json"]) == {"m0": 1, "m1": 1, "m2": 1}
    assert not (tmp_path / "tmp").exists() or list((tmp_path / "tmp").iterdir()) == []


def test_a_failure_on_one_rank_stores_nothing_and_reaches_all(job: Job, tmp_path: Path) -> None:
    errors = _errors(job("store_path_with_a_failure"))
    assert errors[1] == ("ZeroDivisionError", "on rank 1")
    for kind, message in (errors[0], errors[2]):
        assert (kind, message) == ("RuntimeError", "rank 1 failed while saving; nothing is stored")
    assert list((tmp_path / "store").iterdir()) == []


def test_workers_of_a_node_share_one_download_of_what_any_of_them_wants(job: Job) -> None:
    answers = _results(job("shared_download"))
    assert len({answer["path"] for answer in answers}) == 1
    assert [answer["seen"] for answer in answers] == [["a", "b"]] * 3
    assert answers[0]["gone"], "the files are removed once everybody has left"


def test_an_unknown_checkpoint_is_an_error_on_every_rank(job: Job) -> None:
    assert [kind for kind, _ in _errors(job("unknown_checkpoint"))] == ["CheckpointNotFound"] * 3


def test_a_peer_without_the_secret_is_refused_before_anything_is_unpickled() -> None:
    listener = listen("127.0.0.1", 0)
    address = listener.getsockname()
    hub = Hub(listener, 2, b"secret")
    with pytest.raises(RuntimeError, match="did not connect"):
        _with_intruder(hub, address)
    hub.close()


def _with_intruder(hub: Hub, address: tuple[str, int]) -> None:
    import threading

    refused: list[RuntimeError] = []

    def intrude() -> None:
        try:
            Spoke.connect(address, 1, b"guess", 0.2)
        except RuntimeError as err:
            refused.append(err)

    intruder = threading.Thread(target=intrude)
    intruder.start()
    try:
        hub.accept(1.0)
    finally:
        intruder.join()
        assert "same DET_SESSION_TOKEN" in str(refused[0])


def test_a_process_alone_talks_to_itself() -> None:
    with DummyDistributedContext() as alone:
        assert alone.gather(1) == alone.allgather(1) == alone.gather_local(1) == alone.allgather_local(1) == [1]
        assert alone.broadcast("x") == alone.broadcast_local("x") == "x"


def test_half_of_the_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="given together"):
        DistributedContext(rank=0, size=1, local_rank=None, local_size=1, cross_rank=0, cross_size=1)  # type: ignore[arg-type]


def test_several_nodes_need_the_chiefs_address() -> None:
    with pytest.raises(AssertionError, match="chief_ip"):
        DistributedContext(rank=0, size=2, local_rank=0, local_size=1, cross_rank=0, cross_size=2)


def test_a_taken_port_is_named() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RuntimeError, match=f"127.0.0.1:{port}.*INTER_TRAIN_PROCESS_COMM_PORT_1"):
            DistributedContext(rank=0, size=2, local_rank=0, local_size=2, cross_rank=0, cross_size=1, pub_port=port)


def test_torch_and_deepspeed_numbers_come_from_their_launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_environment.TORCH, *_environment.DEEPSPEED):
        monkeypatch.setenv(name, "1" if "SIZE" in name else "0")
    assert DistributedContext.from_torch_distributed().size == 1
    assert DistributedContext.from_deepspeed().local_size == 1
    monkeypatch.delenv("RANK")
    with pytest.raises(RuntimeError, match="RANK not set; start this script with torchrun"):
        DistributedContext.from_torch_distributed()


def test_off_cluster_the_secret_is_the_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "home" / "rank-secret"
    first = _rank_start._user_secret(path)
    assert first == _rank_start._user_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["rank-secret"]
    path.chmod(0o644)
    with pytest.raises(RuntimeError, match="not private"):
        _rank_start._user_secret(path)
