"""What a task and its runner hear from the master, over HTTP with their own token."""

import http.client
import json
import threading
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from http_cluster import HttpCluster, allocation, eventually, resources

from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.engines.model import Launch
from determined.master.services import allocation as services
from determined.wire.report import ExitCause


@pytest.fixture
def cluster(start_master: Callable[..., Any], db_url: str) -> HttpCluster:
    return HttpCluster(start_master, db_url, nodes={"a": 2, "b": 2})


def test_runner_fetches_what_to_run(cluster: HttpCluster) -> None:
    experiment_id = cluster.submit(
        hyperparameters={"lr": 0.1},
        environment={"environment_variables": ["A=1"], "image": "my/image"},
        resources={"slots_per_trial": 2},
        preemption_timeout=77,
    )
    [launch] = cluster.launched()
    spec = cluster.task(launch).get(resources(launch) + "/spec").json
    assert (spec["experimentId"], spec["trialId"], spec["trialRunId"]) == (experiment_id, 1, 1)
    assert (spec["entrypoint"], spec["hparams"], spec["taskType"]) == ("python3 train.py", {"lr": 0.1}, "TRIAL")
    assert spec["environment"][-1] == "A=1" and spec["slotCounts"] == [2] and spec["preemptionTimeout"] == 77
    assert spec["ports"]["C10D_PORT"] >= 29400 and spec["latestCheckpoint"] is None
    assert any("environment.image" in warning for warning in spec["warnings"])
    assert spec["username"] == "determined"
    context = cluster.task(launch).get(f"/api/v1/tasks/{spec['taskId']}/context_directory")
    assert context.status == 200 and "b64Tgz" in context.json


def test_runner_gets_the_config_for_the_log_without_secrets_and_defaults_and_once(cluster: HttpCluster) -> None:
    cluster.submit(data={"secrets": {"key": "hush"}, "shown": "value"}, max_restarts=1)
    [launch] = cluster.launched()
    spec = cluster.task(launch).get(resources(launch) + "/spec").json
    shown = json.loads(spec["shownConfig"])
    assert shown["data"]["shown"] == "value" and "hush" not in spec["shownConfig"]
    assert "preemption_timeout" in spec["config"] and "preemption_timeout" not in shown
    cluster.run(launch)
    cluster.leave(launch, code=1)
    _, again = cluster.launched(2)
    assert cluster.task(again).get(resources(again) + "/spec").json["shownConfig"] is None


def test_only_the_task_itself_may_speak_for_an_allocation(cluster: HttpCluster) -> None:
    cluster.submit()
    cluster.submit()
    first, second = cluster.launched(2)
    for path in (resources(first) + "/spec", resources(first) + "/signals", resources(first) + "/rendezvous"):
        assert cluster.user.get(path).status == 403
        assert cluster.task(second).get(path).status == 403
        assert cluster.master.anonymous.get(path).status == 401
    for verb in ("ready", "waiting", "signals/ack_preemption", "signals/pending_preemption", "all_gather"):
        assert cluster.user.post(f"{allocation(first)}/{verb}", {}).status == 403
    assert cluster.task(first).get(f"{allocation(first)}/resources/{second.resource_id}/spec").status == 404


def test_pause_is_heard_at_once_by_runner_and_task(cluster: HttpCluster) -> None:
    experiment_id = cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    task = cluster.task(launch)
    heard: dict[str, Any] = {}

    def listen(name: str, path: str) -> threading.Thread:
        def run() -> None:
            begun = time.monotonic()
            heard[name] = (task.get(path).json, time.monotonic() - begun)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    threads = [
        listen("runner", resources(launch) + "/signals?timeout_seconds=600"),
        listen("task", allocation(launch) + "/signals/preemption?timeoutSeconds=600"),
    ]
    time.sleep(0.3)
    assert not heard
    assert cluster.user.post(f"/api/v1/experiments/{experiment_id}/pause").status == 200
    for thread in threads:
        thread.join(60)
    assert heard["runner"][0] == {
        "preempt": True,
        "kill": False,
        "peerFailed": False,
        "ended": False,
        "stacks": 0,
        "shell": False,
    }
    assert heard["task"][0] == {"preempt": True}
    assert all(seconds < 60 for _, seconds in heard.values()), heard
    assert task.get(resources(launch) + "/signals?preempt=true&timeout_seconds=0").json["preempt"] is True
    assert task.post(allocation(launch) + "/signals/ack_preemption").status == 200
    cluster.leave(launch)
    assert cluster.user.get(f"/api/v1/experiments/{experiment_id}").json["experiment"]["state"] == "STATE_PAUSED"


def test_no_signal_answers_no_after_the_timeout(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    begun = time.monotonic()
    answer = cluster.task(launch).get(allocation(launch) + "/signals/preemption?timeout_seconds=0.2")
    assert answer.json == {"preempt": False} and time.monotonic() - begun >= 0.2


def test_runner_of_an_ended_allocation_is_told_so(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    cluster.leave(launch)
    assert cluster.task(launch).get(resources(launch) + "/signals").status == 410
    assert cluster.task(launch).get(allocation(launch) + "/signals/preemption").status == 401
    shown = cluster.user.get(allocation(launch)).json["allocation"]
    assert (shown["state"], shown["statusCode"]) == ("STATE_TERMINATED", 0)


def test_rendezvous_waits_for_every_rank(cluster: HttpCluster) -> None:
    cluster.submit(resources={"slots_per_trial": 4})
    launches = cluster.launched(2)
    answers: list[Any] = []

    def join(n: int) -> None:
        answers.append(cluster.task(launches[n]).get(resources(launches[n]) + "/rendezvous").json["rendezvousInfo"])

    first = threading.Thread(target=join, args=[0])
    first.start()
    time.sleep(0.3)
    assert not answers
    join(1)
    first.join(60)
    assert sorted(a["rank"] for a in answers) == [0, 1]
    assert all(a["slots"] == [2, 2] and len(a["addresses"]) == 2 for a in answers)
    assert cluster.user.get(allocation(launches[0])).json["allocation"]["isReady"] is True


def test_second_call_for_rendezvous_beside_a_waiting_one_is_refused(cluster: HttpCluster) -> None:
    cluster.submit(resources={"slots_per_trial": 4})
    launches = cluster.launched(2)
    path = resources(launches[0]) + "/rendezvous"
    answers: list[Any] = []
    first = threading.Thread(target=lambda: answers.append(cluster.task(launches[0]).get(path)))
    first.start()
    eventually(lambda: _waits(cluster, launches[0]))
    refused = cluster.task(launches[0]).get(path)
    assert (refused.status, "wait for rendezvous already" in refused.message) == (409, True)
    assert cluster.task(launches[1]).get(resources(launches[1]) + "/rendezvous").status == 200
    first.join(60)
    assert [answer.status for answer in answers] == [200], "the first call is none the worse"
    assert cluster.task(launches[0]).get(path).status == 200, "one whose answer was lost asks again"


def test_rendezvous_call_that_was_hung_up_is_not_in_the_way_of_the_next(cluster: HttpCluster) -> None:
    cluster.submit(resources={"slots_per_trial": 4})
    launches = cluster.launched(2)
    place, path = urlsplit(cluster.user.url), resources(launches[0]) + "/rendezvous"
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 0, timeout=60)
    connection.request("GET", path, headers={ALLOCATION_TOKEN_HEADER: f"Bearer {launches[0].token}"})
    eventually(lambda: _waits(cluster, launches[0]))
    connection.close()
    eventually(lambda: not _waits(cluster, launches[0]))
    answers: list[int] = []
    again = threading.Thread(target=lambda: answers.append(cluster.task(launches[0]).get(path).status))
    again.start()
    eventually(lambda: _waits(cluster, launches[0]))
    assert cluster.task(launches[1]).get(resources(launches[1]) + "/rendezvous").status == 200
    again.join(60)
    assert answers == [200]


def _waits(cluster: HttpCluster, launch: Launch) -> bool:
    return launch.resource_id in services._waiting.get(cluster.master.ctx.bus, set())


def test_all_gather_gives_everyone_everything(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    task, answers = cluster.task(launch), []

    def gather(n: int) -> None:
        body = {"allocationId": launch.allocation_id, "requestUuid": f"u{n}", "numPeers": 3, "data": {"n": n}}
        answers.append(task.post(allocation(launch) + "/all_gather", body).json["data"])

    threads = [threading.Thread(target=gather, args=[n]) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [sorted(d["n"] for d in data) for data in answers] == [[0, 1, 2]] * 3
    gather(1)
    assert sorted(d["n"] for d in answers[-1]) == [0, 1, 2], "a lost answer can be asked for again"


def test_all_gathers_about_different_topics_do_not_meet_and_make_nothing_ready(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    task, answers = cluster.task(launch), {}

    def gather(topic: str | None, n: int) -> None:
        body = {"allocationId": launch.allocation_id, "requestUuid": f"u{n}", "numPeers": 2, "data": {"n": n}}
        answer = task.post(allocation(launch) + "/all_gather", body | ({"topic": topic} if topic else {}))
        answers[topic, n] = sorted(d["n"] for d in answer.json["data"])

    def meet(*topics: str | None) -> None:
        threads = [threading.Thread(target=gather, args=(topic, n)) for topic in topics for n in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    meet("facts", "verdicts")
    assert answers == {(topic, n): [1, 2] for topic in ("facts", "verdicts") for n in (1, 2)}
    assert task.get(allocation(launch)).json["allocation"]["isReady"] is False
    meet(None)
    assert task.get(allocation(launch)).json["allocation"]["isReady"] is True


def test_accelerators_and_proxy_address_are_kept(cluster: HttpCluster) -> None:
    cluster.submit()
    [launch] = cluster.launched()
    body = {
        "allocationId": launch.allocation_id,
        "acceleratorData": {"containerId": launch.container_id, "acceleratorType": "cpu", "acceleratorUuids": ["x"]},
    }
    for _ in range(2):
        assert cluster.task(launch).post(allocation(launch) + "/acceleratorData", body).status == 200
    assert cluster.task(launch).post(allocation(launch) + "/proxy_address", {"proxyAddress": "10.0.0.1"}).status == 200
    task_id = launch.allocation_id.rpartition(".")[0]
    [shown] = cluster.user.get(f"/api/v1/tasks/{task_id}/acceleratorData").json["acceleratorData"]
    assert shown["acceleratorUuids"] == ["x"]


def test_kill_reaches_the_runner(cluster: HttpCluster) -> None:
    experiment_id = cluster.submit()
    [launch] = cluster.launched()
    cluster.run(launch)
    assert cluster.user.post(f"/api/v1/experiments/{experiment_id}/kill").status == 200
    signals = cluster.task(launch).get(resources(launch) + "/signals?timeout_seconds=10").json
    assert signals["kill"] is True
    cluster.leave(launch, 137, ExitCause.KILLED)
    eventually(
        lambda: cluster.user.get(f"/api/v1/experiments/{experiment_id}").json["experiment"]["state"] == "STATE_CANCELED"
    )


def test_unknown_allocations_and_tasks_are_not_found(cluster: HttpCluster) -> None:
    for path in ("/api/v1/allocations/none", "/api/v1/tasks/none", "/api/v1/tasks/none/context_directory"):
        answer = cluster.user.get(path)
        assert answer.status == 404 and "none" in answer.message


def test_tasks_are_listed_with_their_place(cluster: HttpCluster) -> None:
    experiment_id = cluster.submit()
    [launch] = cluster.launched()
    [summary] = cluster.user.get("/api/v1/tasks").json["allocationIdToSummary"].values()
    assert summary["name"] == f"Trial 1 (Experiment {experiment_id})"
    assert summary["resources"][0]["containerId"] == launch.container_id
    assert (summary["taskType"], summary["state"]) == ("TASK_TYPE_TRIAL", "STATE_QUEUED")
    assert (summary["experimentId"], summary["trialId"], summary["username"]) == (experiment_id, 1, "determined")
    [raw] = cluster.user.get("/tasks").json.values()
    assert raw["name"] == summary["name"] and raw["resources"][0]["agent_devices"].keys() == {launch.node_id}
    task = cluster.user.get(f"/api/v1/tasks/{raw['task_id']}").json["task"]
    assert task["taskType"] == "TASK_TYPE_TRIAL" and task["allocations"][0]["allocationId"] == launch.allocation_id
    counts = cluster.user.get("/api/v1/tasks/count").json
    assert counts == {"commands": 0, "notebooks": 0, "shells": 0, "tensorboards": 0}
