"""Ranks as real processes on loopback: what they say to one another, and the checkpoints they make together."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from kept_port import kept_port
from rank_job import Job, errors, results, threaded

from determined.core import DistributedContext, DummyDistributedContext, _environment, _rank_start
from determined.core._rank_frames import Channel, PeerGone


def test_collectives_of_one_node(job: Job) -> None:
    chief, one, two = results(job("collectives"))
    assert (chief["gather"], one["gather"], two["gather"]) == ([0, 1, 2], None, None)
    for rank, answer in enumerate((chief, one, two)):
        assert answer["allgather"] == [{"rank": 0}, {"rank": 1}, {"rank": 2}]
        assert (answer["broadcast"], answer["broadcast_local"]) == ("from 0", 0)
        assert answer["allgather_local"] == [0, 1, 2]
        assert answer["large"] == 3_000_000
        assert answer["numbers"] == [rank, 3, rank, 1]


def test_local_collectives_stay_on_their_node(job: Job) -> None:
    answers = results(job("collectives", size=4, local_size=2))
    assert [answer["allgather_local"] for answer in answers] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert [answer["gather_local"] for answer in answers] == [[0, 1], None, [2, 3], None]
    assert [answer["broadcast_local"] for answer in answers] == [0, 0, 2, 2]
    assert answers[3]["numbers"] == [3, 4, 1, 2]


def test_one_process_per_node_has_no_local_peers(job: Job) -> None:
    answers = results(job("collectives", size=2, local_size=1))
    assert [answer["allgather_local"] for answer in answers] == [[0], [1]]
    assert answers[1]["allgather"] == [{"rank": 0}, {"rank": 1}]


def test_ranks_that_make_different_calls_are_told(job: Job) -> None:
    for kind, message in errors(job("out_of_step", size=2)[:1]):
        assert kind == "RuntimeError"
        assert "out of step" in message


def test_a_rank_that_leaves_is_named(job: Job) -> None:
    answers = job("one_leaves", size=2)
    assert answers[1] == {"result": "left"}
    assert "rank 1 is gone" in answers[0]["message"]


def test_a_rank_that_left_while_another_was_awaited_is_missed_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_SESSION_TOKEN", "secret")
    seen = threading.Event()
    monkeypatch.setattr(Channel, "fill", _noting_the_end(Channel.fill, seen))

    def work(dist: DistributedContext) -> Any:
        if dist.rank == 2:
            assert seen.wait(20)
        dist.gather("mine")
        return "left" if dist.rank == 1 else dist.gather("mine")

    chief, _, _ = threaded(work, [0, 1, 2], size=3, local_size=1, chief_ip="127.0.0.1")
    assert str(chief) == "rank 1 is gone (the connection was closed); its log says why"


def _noting_the_end(fill: Callable[[Channel], None], seen: threading.Event) -> Callable[[Channel], None]:
    def noting(channel: Channel) -> None:
        try:
            fill(channel)
        except PeerGone:
            seen.set()
            raise

    return noting


def test_all_ranks_leave_after_the_same_batch(job: Job) -> None:
    answers = results(job("preempt_in_step"))
    (batch,) = {answer["batch"] for answer in answers}
    assert batch >= 5
    assert all(answer["aware"] for answer in answers), "a node without the chief counts as watching, too"


def test_ranks_agree_whether_to_leave(job: Job) -> None:
    assert results(job("preempt_together")) == [False] * 3


def test_shards_make_one_checkpoint(job: Job) -> None:
    answers = results(job("shards"))
    assert len({answer["id"] for answer in answers}) == 1
    files = answers[2]["files"]
    assert {k: v for k, v in files.items() if k != "metadata.json"} == {
        "part0": "0", "part1": "1", "part2": "2", "same": "equal", "d/x": "equal",
    }  # fmt: skip
    assert json.loads(files["metadata.json"]) == {"steps_completed": 1, "ranks": {"0": True, "1": True, "2": True}}


def test_ranks_without_files_take_part(job: Job) -> None:
    for files in results(job("some_without")):
        assert files.keys() == {"only", "metadata.json"}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("nobody_brings_anything", "nothing to store"),
        ("a_missing_directory", "absent"),
        ("a_selector_without_a_directory", "selector without a ckpt_dir"),
        ("an_unreadable_duplicate", "rank 1 could not store its part: _Unportable: the disk is gone"),
        ("lists_that_differ", "ranks give different values for ['/list', '/mixed']"),
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
    for kind, message in errors(job(scenario)):
        assert kind == "RuntimeError"
        assert words in message
    assert not (tmp_path / "store").exists() or list((tmp_path / "store").iterdir()) == []


def test_ranks_that_share_a_directory_upload_it_once(job: Job) -> None:
    everything = ["metadata.json", "part0", "part1", "part2"]
    assert results(job("one_directory")) == [[everything, ["metadata.json", "part0", "part1"]]] * 3


@pytest.mark.parametrize("scenario", ["store_path", "cloud_store_path"])
def test_ranks_write_one_checkpoint_together(job: Job, tmp_path: Path, scenario: str) -> None:
    for answer in results(job(scenario)):
        assert answer["files"].keys() == {"part0", "part1", "part2", "metadata.json"}
        assert json.loads(answer["files"]["metadata.json"]) == {"m0": 1, "m1": 1, "m2": 1}
    assert not (tmp_path / "tmp").exists() or list((tmp_path / "tmp").iterdir()) == []


def test_a_failure_on_one_rank_stores_nothing_and_reaches_all(job: Job, tmp_path: Path) -> None:
    chief, one, two = errors(job("store_path_with_a_failure"))
    assert one == ("ZeroDivisionError", "on rank 1")
    for kind, message in (chief, two):
        assert (kind, message) == ("RuntimeError", "rank 1 failed while saving: ZeroDivisionError: on rank 1")
    assert list((tmp_path / "store").iterdir()) == []


def test_workers_of_a_node_share_one_download_of_what_any_of_them_wants(job: Job) -> None:
    answers = results(job("shared_download"))
    assert len({answer["path"] for answer in answers}) == 1
    assert [answer["seen"] for answer in answers] == [["a", "b"]] * 3
    assert answers[0]["gone"], "the files are removed once everybody has left"


def test_each_node_downloads_for_its_own_workers(job: Job) -> None:
    answers = results(job("downloads_of_each_node", size=4, local_size=2))
    everything = ["metadata.json", "part0", "part1", "part2", "part3"]
    assert [answer["files"] for answer in answers] == [everything] * 4
    zero, one, two, three = [answer["shared"] for answer in answers]
    assert zero == one != two == three
    assert len({answer["own"] for answer in answers}) == 4


def test_a_worker_may_not_upload_alone(job: Job) -> None:
    answer = job("a_worker_alone")[1]
    assert (answer["error"], answer["message"][:42]) == ("RuntimeError", "rank 1 called upload without shard=True; c")


def test_an_unknown_checkpoint_is_an_error_on_every_rank(job: Job) -> None:
    assert [kind for kind, _ in errors(job("unknown_checkpoint"))] == ["CheckpointNotFound"] * 3


@pytest.mark.parametrize(("scenario", "culprit"), [("the_chief", 0), ("a_worker", 1)])
def test_a_rank_that_fails_while_restoring_waits_for_nobody_and_all_hear_why(
    job: Job, tmp_path: Path, scenario: str, culprit: int
) -> None:
    words = "not the model that was saved"
    told = ("RuntimeError", f"rank {culprit} failed: ZeroDivisionError: {words}")
    found = errors(job(f"{scenario}_fails_while_restoring"))
    assert found == [("ZeroDivisionError", words) if rank == culprit else told for rank in range(3)]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_download_that_fails_on_the_chiefs_node_ends_all_nodes_with_its_error(job: Job) -> None:
    zero, one, two, three = errors(job("the_chiefs_node_lacks_the_checkpoint", size=4, local_size=2))
    assert zero == one and zero[0] == "CheckpointNotFound"
    assert two == three == ("RuntimeError", f"rank 0 failed: CheckpointNotFound: {zero[1]}"[: len(two[1])])
    assert "is not in the store" in two[1]


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


@pytest.mark.parametrize("force_tcp", [False, True])
def test_a_taken_port_is_named(monkeypatch: pytest.MonkeyPatch, force_tcp: bool) -> None:
    monkeypatch.setenv("DET_SESSION_TOKEN", "secret")
    with kept_port() as port:
        _is_named(_rank_start.place("world", None, port, _rank_start.secret(), force_tcp=force_tcp), force_tcp)


def _is_named(where: _rank_start.Place, force_tcp: bool) -> None:
    numbers = {"rank": 0, "size": 2, "local_rank": 0, "local_size": 2, "cross_rank": 0, "cross_size": 1}
    message = f"127.0.0.1:{where.port}.*INTER_TRAIN_PROCESS_COMM_PORT_1"
    with _rank_start.listen(where), pytest.raises(RuntimeError, match=message):
        DistributedContext(**numbers, pub_port=where.port, force_tcp=force_tcp)


@pytest.mark.parametrize("numbers", [(2, 2, 0, 1, 0, 1), (0, 1, -1, 1, 0, 1), (0, 1, 0, 1, 0, 0)])
def test_a_rank_beyond_its_size_is_refused(numbers: tuple[int, ...]) -> None:
    names = ("rank", "size", "local_rank", "local_size", "cross_rank", "cross_size")
    with pytest.raises(ValueError, match="is not below"):
        DistributedContext(**dict(zip(names, numbers, strict=True)))


def test_torch_and_deepspeed_numbers_come_from_their_launchers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_environment.TORCH, *_environment.DEEPSPEED):
        monkeypatch.setenv(name, "1" if "SIZE" in name else "0")
    assert DistributedContext.from_torch_distributed().size == 1
    assert DistributedContext.from_deepspeed().local_size == 1
    monkeypatch.delenv("RANK")
    with pytest.raises(RuntimeError, match="RANK not set; start this script with torchrun"):
        DistributedContext.from_torch_distributed()


def test_horovods_numbers_come_from_its_module() -> None:
    numbers = {name: lambda: 1 for name in ("size", "local_size", "cross_size")}
    hvd = SimpleNamespace(**numbers, **{name: lambda: 0 for name in ("rank", "local_rank", "cross_rank")})
    assert DistributedContext.from_horovod(hvd).size == 1


def _fake_tensorflow(monkeypatch: pytest.MonkeyPatch, gpus: int) -> None:
    tf: Any = ModuleType("tensorflow")
    tf.config = SimpleNamespace(list_physical_devices=lambda _kind: [None] * gpus)
    tf.distribute = SimpleNamespace(
        MirroredStrategy=lambda: "mirrored", MultiWorkerMirroredStrategy=lambda: "several", get_strategy=lambda: "one"
    )
    monkeypatch.setitem(sys.modules, "tensorflow", tf)


@pytest.mark.parametrize(("gpus", "strategy"), [(0, "one"), (1, "one"), (2, "mirrored")])
def test_one_tensorflow_node_is_one_rank_whatever_its_gpus(
    monkeypatch: pytest.MonkeyPatch, gpus: int, strategy: str
) -> None:
    _fake_tensorflow(monkeypatch, gpus)
    monkeypatch.delenv("TF_CONFIG", raising=False)
    dist, chosen = DistributedContext.from_tf_config()
    assert (dist.size, chosen) == (1, strategy)


def test_a_tensorflow_task_that_is_no_worker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_tensorflow(monkeypatch, 0)
    config = {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "ps", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(RuntimeError, match="'ps' is not supported"):
        DistributedContext.from_tf_config()


def test_off_cluster_the_secret_is_the_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "home" / "rank-secret"
    first = _rank_start._user_secret(path)
    assert first == _rank_start._user_secret(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["rank-secret"]
    path.chmod(0o644)
    with pytest.raises(RuntimeError, match="not private"):
        _rank_start._user_secret(path)
