"""The task's conversation with its master: whom it trusts, where it looks for it, and what it waits for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined._info import ClusterInfo
from determined.core import init
from determined.core._master import Master
from determined.errors import MasterNotFound, NotFound
from determined.rundir.layout import RunDir
from determined.wire.codec import to_json
from determined.wire.report import CheckpointReport, LaunchFile

OPERATION = "/api/v1/trials/7/searcher/operation"


def info_of(master: Any) -> ClusterInfo:
    return ClusterInfo(
        master_url=master.url, cluster_id="c", agent_id="a", slot_ids=[0], task_id="1.abc", allocation_id="1.abc.1",
        session_token="token", task_type="TRIAL",
    )  # fmt: skip


def write_launch(run_dir: RunDir, url: str, allocation_id: str = "1.abc.1") -> None:
    launch = LaunchFile(
        master_url=url, token="token", allocation_id=allocation_id, resource_id="r", container_id="c", node_id="n",
        rank=0, slot_ids=[0], device="cpu",
    )  # fmt: skip
    run_dir.launch.write_bytes(to_json(launch))


def come_back(runner: Any) -> None:
    runner.control.master_away = False
    runner.hold.clear()


@pytest.fixture
def few_retries(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_RUN_DIR", str(run_dir.path))
    monkeypatch.setenv("DET_RETRY_CONFIG", '{"total": 0}')


@pytest.mark.usefixtures("few_retries")
def test_token_is_not_shown_to_whoever_holds_the_port(master: Any) -> None:
    master.secret = "of another cluster"
    task = Master(info_of(master))
    with pytest.raises(MasterNotFound, match="not the master of this task"):
        task.session.get("/api/v1/anything")
    task.close()
    assert master.requests == []
    assert master.headers == []


@pytest.mark.usefixtures("few_retries")
def test_refusal_of_the_proven_master_is_its_word(master: Any) -> None:
    task = Master(info_of(master))
    with pytest.raises(NotFound, match="no /api/v1/anything"):
        task.insist(lambda session: session.get("/api/v1/anything"), "a test")
    task.close()


@pytest.mark.usefixtures("few_retries")
def test_master_that_came_back_elsewhere_is_found(master: Any, run_dir: RunDir) -> None:
    moved = type(master)()
    moved.routes[("GET", "/api/v1/anything")] = {"answer": 42}
    info = info_of(master)
    master.secret = "of another cluster"

    def engine_rewrites_the_launch_file(_pause: float) -> None:
        write_launch(run_dir, moved.url)

    task = Master(info, sleep=engine_rewrites_the_launch_file)
    try:
        assert task.insist(lambda session: session.get("/api/v1/anything"), "a test") == {"answer": 42}
    finally:
        task.close()
        moved.close()


@pytest.mark.usefixtures("few_retries")
def test_launch_file_of_another_allocation_is_not_ours_to_follow(master: Any, run_dir: RunDir) -> None:
    write_launch(run_dir, "http://127.0.0.1:1", allocation_id="2.other.1")
    master.routes[("GET", "/api/v1/anything")] = {"answer": 42}
    task = Master(info_of(master))
    task._look_for_news()
    assert task.session.get("/api/v1/anything") == {"answer": 42}
    task.close()


def test_question_that_follows_reports_is_not_asked_before_they_arrived(
    task: Callable[..., None], master: Any, runner: Any
) -> None:
    task({"name": "single", "metric": "x", "max_length": {"batches": 10}})
    pauses: list[float] = []

    def master_comes_back(pause: float) -> None:
        pauses.append(pause)
        assert not [r for r in master.requests if r[1] == OPERATION], "asked before the metric had arrived"
        come_back(runner)

    with init() as context:
        context.searcher._master._sleep = master_comes_back
        master.routes[("GET", OPERATION)] = {"op": {"validateAfter": {"length": "10"}}, "completed": False}
        runner.stop()
        runner.control.master_away = True
        context.train.report_training_metrics(1, {"loss": 1.0})
        assert next(iter(context.searcher.operations(auto_ack=False))).length == 10
    assert pauses == [1.0]


def test_checkpoint_deleted_while_the_master_is_away_is_known_to_it_first(
    task: Callable[..., None], master: Any, runner: Any, tmp_path: Path
) -> None:
    task()
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_text("w")
    known: list[Any] = []

    def patch(body: Any) -> tuple[int, Any]:
        reported = [r.uuid for r in runner.records if isinstance(r, CheckpointReport)]
        known.append((body["checkpoints"][0]["uuid"] in reported, (tmp_path / "checkpoints" / reported[0]).exists()))
        return 200, {"checkpoints": []}

    master.routes[("PATCH", "/api/v1/checkpoints")] = patch
    with init() as context:
        context.checkpoint._master._sleep = lambda _pause: come_back(runner)
        runner.stop()
        runner.control.master_away = True
        uuid = context.checkpoint.upload(tmp_path / "model", {"steps_completed": 1})
        context.checkpoint.delete(uuid)
    assert known == [(True, True)], "heard of it, and told that it goes before its files went"
    assert not (tmp_path / "checkpoints" / uuid).exists()
