"""Nodes and ranks of a task as launchers see them, and the words with which they start programs of others."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from determined.config.sections import Optimizations
from determined.launch import (
    _rank_environment,
    _topology,
    environment,
    horovod,
    tensorflow,
    torch_distributed,
    wrap_rank,
)
from determined.launch._arguments import UsageError, parse, usage
from determined.launch._topology import Gang, Rank, hostfile, rendezvous_at, tf_config
from determined.launch.deepspeed import rank_variables as deepspeed_variables


def gang(*sizes: int, node: int = 0, addresses: tuple[str, ...] = ()) -> Gang:
    return Gang(addresses or tuple(f"10.0.0.{n + 1}" for n in range(len(sizes))), sizes, node)


@pytest.mark.parametrize(
    ("made", "ranks"),
    [
        (gang(2), [(0, 0), (1, 1)]),
        (gang(2, 3, node=1), [(2, 0), (3, 1), (4, 2)]),
        (gang(1, 1, 1, node=2), [(2, 0)]),
    ],
)
def test_ranks_are_counted_in_the_order_of_the_nodes(made: Gang, ranks: list[tuple[int, int]]) -> None:
    assert [(rank.rank, rank.local) for rank in made.ranks] == ranks
    assert made.size == sum(made.sizes) and made.local_size == len(ranks)


def test_every_rank_of_a_job_has_variables_of_its_own_and_the_same_meeting_place() -> None:
    everyone = [
        torch_distributed.rank_variables(made, rank, ("10.0.0.1", 29400), "a1")
        for made in (gang(2, 1, node=node) for node in (0, 1))
        for rank in made.ranks
    ]
    assert [one["RANK"] for one in everyone] == ["0", "1", "2"]
    assert [one["LOCAL_RANK"] for one in everyone] == ["0", "1", "0"]
    assert [one["GROUP_RANK"] for one in everyone] == ["0", "0", "1"]
    assert {one["WORLD_SIZE"] for one in everyone} == {"3"}
    assert {(one["MASTER_ADDR"], one["MASTER_PORT"], one["TORCHELASTIC_RUN_ID"]) for one in everyone} == {
        ("10.0.0.1", "29400", "a1")
    }


def test_deepspeed_and_torch_agree_about_who_is_who() -> None:
    made = gang(2, 2, node=1)
    theirs = torch_distributed.rank_variables(made, Rank(3, 1), ("h", 1), "a")
    ours = deepspeed_variables(made, Rank(3, 1), ("h", 1))
    shared = ours.keys() & theirs.keys()
    assert {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= shared
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
    assert (ours["CROSS_RANK"], ours["CROSS_SIZE"], ours["LOCAL_SIZE"]) == ("1", "2", "2")


def test_a_hostfile_has_a_line_for_each_node() -> None:
    assert hostfile(gang(4, 1)) == "10.0.0.1 slots=4\n10.0.0.2 slots=1\n"


def test_a_cluster_of_tensorflow_lists_every_node_and_which_one_this_is() -> None:
    made = gang(1, 1, 1, node=1, addresses=("h", "h", "fe80::1"))
    assert json.loads(tf_config(made, 29400)) == {
        "cluster": {"worker": ["h:29400", "h:29401", "[fe80::1]:29400"]},
        "task": {"type": "worker", "index": 1},
    }


def test_nodes_meet_at_the_chiefs_address_and_one_node_alone_at_a_free_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("", 0)) as held:
        taken = held.getsockname()[1]
        monkeypatch.setenv("C10D_PORT", str(taken))
        assert rendezvous_at(gang(1, 1)) == ("10.0.0.1", taken)
        host, port = rendezvous_at(gang(2))
        assert host == "localhost" and port != taken
    monkeypatch.setenv("C10D_PORT", "")
    assert environment.rendezvous_port() == 29400


def test_options_that_a_user_gives_to_torchrun_come_after_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("C10D_PORT", "12345")
    words = torch_distributed.torchrun(gang(2, 2, node=1), ["--max_restarts", "3"], ["train.py", "--lr", "1"])
    last = len(words) - 1 - words[::-1].index("--max_restarts")
    assert words[last + 1] == "3", "torchrun takes the last"
    assert words[words.index("--node_rank") + 1] == "1" and words[words.index("--master_port") + 1] == "12345"
    assert words[words.index("--no_python") :][-4:] == ["--", "train.py", "--lr", "1"]


@pytest.mark.parametrize(
    ("words", "port", "rest"),
    [
        (["t.py"], 29400, ["t.py"]),
        (["--port", "7", "t.py"], 7, ["t.py"]),
        (["--port=7", "--", "t.py"], 7, ["--", "t.py"]),
        (["t.py", "--port", "7"], 29400, ["t.py", "--port", "7"]),
        ([], 29400, []),
    ],
)
def test_a_port_for_tensorflow_stands_before_the_script(
    words: list[str], port: int, rest: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("C10D_PORT", raising=False)
    assert tensorflow._take_port(words) == (port, rest)


@pytest.mark.parametrize("words", [["--port"], ["--port", "x"], ["--port="], ["--port", "-1"]])
def test_a_port_that_is_no_number_is_refused(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--port needs a number, not"):
        tensorflow._take_port(words)


@pytest.mark.parametrize("word", ["-h", "--help"])
@pytest.mark.parametrize("overridable", [True, False])
def test_help_is_the_usage_and_no_error(word: str, overridable: bool) -> None:
    with pytest.raises(UsageError) as asked:
        parse([word, "train.py"], overridable=overridable)
    assert str(asked.value) == ""


@pytest.mark.parametrize("launcher", [torch_distributed, tensorflow, horovod], ids=lambda module: module._NAME)
def test_help_of_a_launcher_ends_with_status_0(launcher: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert launcher.main(["--help"]) == 0
    said = capsys.readouterr().err
    assert said.startswith(f"usage: python3 -m determined.launch.{launcher._NAME} ") and said.count("\n") == 1


def test_usage_names_overrides_only_where_there_are_some() -> None:
    assert usage("deepspeed") == "usage: python3 -m determined.launch.deepspeed (--trial MODULE:CLASS | SCRIPT...)\n"
    assert "[[X...] --] (" in usage("horovod", overrides="X")


@pytest.mark.parametrize(
    ("text", "rank"), [("3", "3"), ("A", "5"), ("NONE,B", "6"), ("B,A", "6"), ("NONE", None), ("", None)]
)
def test_a_rank_is_a_number_or_the_first_variable_that_is_set(text: str, rank: str | None) -> None:
    assert wrap_rank.find_rank(text, {"A": "5", "B": "6"}) == rank


def test_the_python_of_inner_processes_is_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_PYTHON_EXECUTABLE", "/env/bin/python3")
    assert parse(["--trial", "m:T"], overridable=False).script[0] == "/env/bin/python3"


@pytest.mark.parametrize(
    ("optimizations", "words"),
    [
        ({}, ["--fusion-threshold-mb", "64", "--cycle-time-ms", "1"]),
        ({"tensor_fusion_threshold": 8, "tensor_fusion_cycle_time": 1}, ["--fusion-threshold-mb", "8"]),
        ({"auto_tune_tensor_fusion": True}, ["--autotune", "--autotune-log-file", "/dev/null"]),
    ],
)
def test_fusion_of_horovod_is_what_the_config_says(optimizations: dict[str, Any], words: list[str]) -> None:
    assert horovod._fusion(Optimizations.load(optimizations))[: len(words)] == words


@pytest.mark.parametrize(
    ("address", "is_loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("node-1", False)],
)
def test_loopback_is_known_by_address_and_by_name(address: str, is_loopback: bool) -> None:
    assert horovod._is_loopback(address) is is_loopback


def test_only_variables_that_anybody_may_see_go_into_command_lines() -> None:
    harmless = {"PATH": "/bin", "LC_ALL": "C", "NCCL_DEBUG": "INFO", "HOROVOD_TIMELINE": "t", "OMPI_X": "1"}
    secret = {"DET_SESSION_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "k", "WANDB_API_KEY": "w", "MY_NCCL_X": "1"}
    assert _rank_environment.shown(harmless | secret) == harmless


def test_a_process_is_listed_as_long_as_it_runs(tmp_path: Path) -> None:
    with _rank_environment.listed(tmp_path):
        assert len(list(_rank_environment.followers(tmp_path).iterdir())) == 1
    assert list(_rank_environment.followers(tmp_path).iterdir()) == []


def test_kept_variables_are_for_the_user_alone_and_replace_those_before(tmp_path: Path) -> None:
    _rank_environment.keep(tmp_path, {"TOKEN": "old"}, None)
    _rank_environment.keep(tmp_path, {"TOKEN": "new"}, "eth0")
    file = tmp_path / "surroundings.json"
    assert file.stat().st_mode & 0o777 == 0o600
    kept = json.loads(file.read_text())
    assert kept["variables"] == {"TOKEN": "new"}
    assert kept["imposed"] == {"HOROVOD_GLOO_IFACE": "eth0", "NCCL_SOCKET_IFNAME": "eth0"}


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("", 0)) as held:
        port = held.getsockname()[1]
        assert not _topology._is_free(port)
        assert _topology._free_port() != port
