"""What `det deploy ray up` refuses, and what it asks of the master."""

import json
import socket
from pathlib import Path

import pytest

from determined.api.own_master import MasterState
from determined.cli.main import main
from determined.deploy import ray
from determined.errors import FailedPrecondition, InvalidArgument, InvalidConfig
from determined.master.config import load_master_config


def test_address_that_is_no_dashboard_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="http://HEAD:8265"):
        ray.up("c", ray.RayOptions("head:8265"))


def test_dashboard_that_does_not_answer_is_named_with_what_to_do() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # kept, so that nobody else listens there; it does not listen itself
        port = silent.getsockname()[1]
        with pytest.raises(FailedPrecondition, match=f"127.0.0.1:{port}.*--dashboard-host"):
            ray.up("c", ray.RayOptions(f"http://127.0.0.1:{port}"))


def test_options_become_a_manager_and_a_pool_that_a_master_accepts() -> None:
    options = ray.RayOptions("http://h:8265", resource="CPU", slots_per_node=4, max_nodes=2, storage_host_path="/c")
    config = load_master_config(ray._config(options), {"HOME": "/nowhere"}, {})
    assert (config.engines[0].type, config.engines[0].manager.raw["dashboard_url"]) == ("ray", "http://h:8265")
    assert config.pools[0].raw["ray"] == {"resource": "CPU", "slots_per_node": 4, "max_nodes": 2}


def test_impossible_sizes_are_refused_before_anything_is_stopped() -> None:
    with pytest.raises(InvalidConfig, match="slots_per_node"):
        ray._config(ray.RayOptions("http://h:8265", slots_per_node=-1))


@pytest.mark.parametrize(
    ("url", "is_warned"),
    [("http://127.0.0.1:8080", True), ("https://localhost:8080", True), ("http://10.0.0.7:8080", False)],
)
def test_master_that_other_nodes_cannot_reach_is_said_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str, is_warned: bool
) -> None:
    state = MasterState(url=url, pid=1, version="1", identity="", password="", data_dir="/nowhere")
    monkeypatch.setattr(ray, "up", lambda *_: state)
    assert main(["deploy", "ray", "up", "http://127.0.0.1:8265", "--max-nodes", "1"]) == 0
    said = capsys.readouterr().err
    assert (f"Only this machine reaches the master at {url}" in said) == is_warned
    assert ("--master-host ADDRESS" in said) == is_warned


def _state(directory: Path) -> MasterState:
    url = "http://127.0.0.1:8080"
    return MasterState(url=url, pid=1, version="1", identity="", password="", data_dir=str(directory))


def _log(directory: Path, logger: str, text: str) -> None:
    with (directory / "master.log").open("a") as file:
        file.write(json.dumps({"level": "WARNING", "logger": logger, "message": text}) + "\nno JSON\n")


def test_nodes_that_come_end_the_waiting(tmp_path: Path) -> None:
    counts = iter([0, 0, 2])
    assert ray.await_nodes(_state(tmp_path), lambda: next(counts)) is None


def test_what_keeps_the_nodes_away_is_taken_from_the_masters_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "_PROBLEM_SECONDS", 0.0)
    _log(tmp_path, "determined.engines.ray.bridge_supervisor", "of an earlier start")

    def count() -> int:
        _log(
            tmp_path, "determined.engines.ray.bridge_supervisor", "ray: the Python of the Ray cluster lacks determined"
        )
        _log(tmp_path, "determined.master", "something else")
        return 0

    assert ray.await_nodes(_state(tmp_path), count) == "ray: the Python of the Ray cluster lacks determined"


def test_a_cluster_without_nodes_and_without_a_problem_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    assert "is there one with the asked resource" in (ray.await_nodes(_state(tmp_path), lambda: 0, seconds=0.1) or "")
