"""det task for generic tasks: what it sends and prints; and the columns of det task list."""

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_master import SHOWN_TIME, TIME, Det, error, stream
from small_master import SmallMaster

ID = "0a1b2c3d-0000-4000-8000-000000000001"
TASK = f"/api/v1/tasks/{ID}"


@pytest.fixture
def master(master: SmallMaster) -> SmallMaster:
    master.answers["POST", "/api/v1/generic-tasks"] = (200, {"taskId": ID})
    for verb in ("kill", "pause", "unpause"):
        master.answers["POST", f"{TASK}/{verb}"] = (200, {})
    return master


def _sent(master: SmallMaster, path: str) -> dict[str, Any]:
    return next(json.loads(raw or b"{}") for method, to, _, raw in master.asked if (method, to) == ("POST", path))


def test_create_sends_the_config_and_the_files(det: Det, master: SmallMaster, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: [a]\n")
    (surroundings / "x.py").write_text("x")
    options = ["--config", "resources.slots=0", "-i", "x.py", "--project_id", "7", "-p", "parent", "--no_pause"]
    done = det("task", "create", "c.yaml", *options, "--inherit_context", "--fork", "source")
    assert (done.status, done.out.splitlines()[-1]) == (0, f"Created task {ID}"), done.err
    sent = _sent(master, "/api/v1/generic-tasks")
    assert ("entrypoint" in sent["config"], "slots: 0" in sent["config"]) == (True, True)
    assert [one["path"] for one in sent["contextDirectory"]] == ["x.py"]
    assert (sent["projectId"], sent["parentId"], sent["forkedFrom"]) == (7, "parent", "source")
    assert (sent["noPause"], sent["inheritContext"]) == (True, True)


def test_create_and_fork_can_follow_the_log(det: Det, master: SmallMaster, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: [a]\n")
    line = {
        "id": "1",
        "message": "hello\n",
        "log": "hello\n",
        "timestamp": TIME,
        "taskId": ID,
        "level": "LOG_LEVEL_INFO",
    }
    master.answers["GET", f"{TASK}/logs"] = stream(line)
    for words in (["create", "c.yaml", "-f"], ["fork", "source", "-f"]):
        done = det("task", *words)
        assert (done.status, "hello" in done.out, f"Created task {ID}" in done.out) == (0, True, True), done.err


def test_create_and_fork_print_the_task_as_json(det: Det, master: SmallMaster, surroundings: Path) -> None:
    (surroundings / "c.yaml").write_text("entrypoint: [a]\n")
    task = {"taskId": ID, "taskType": "TASK_TYPE_GENERIC", "startTime": TIME, "allocations": []}
    master.answers["GET", TASK] = (200, {"task": task})
    for words in (["create", "c.yaml"], ["fork", "source"]):
        done = det("task", *words, "--json")
        assert done.status == 0, done.err
        record = json.loads(done.out)
        assert (record["taskId"], record["taskType"]) == (ID, "TASK_TYPE_GENERIC")


@pytest.mark.parametrize("words", [["create", "c.yaml"], ["fork", "source"]])
def test_create_and_fork_print_json_only_where_no_log_is_followed(
    det: Det, master: SmallMaster, words: list[str]
) -> None:
    done = det("task", *words, "--json", "-f")
    assert (done.status, "not allowed with" in done.err, master.asked) == (2, True, [])


def test_fork_names_the_task_that_is_started_again(det: Det, master: SmallMaster) -> None:
    assert det("task", "fork", "source", "--project_id", "3").out == f"Created task {ID}\n"
    sent = _sent(master, "/api/v1/generic-tasks")
    assert (sent["forkedFrom"], sent["projectId"]) == ("source", 3)


def test_kill_pause_and_unpause_say_what_they_did(det: Det, master: SmallMaster) -> None:
    assert det("task", "kill", ID, "--root").out == f"Successfully killed task: {ID}\n"
    assert _sent(master, f"{TASK}/kill")["killFromRoot"] is True
    assert det("task", "pause", ID).out == f"Paused task: {ID}\n"
    assert det("task", "unpause", ID).out == f"Unpaused task: {ID}\n"
    master.answers["POST", f"{TASK}/pause"] = error(
        409, "conflict", f"cannot pause task {ID} as it is in state 'PAUSED'"
    )
    refused = det("task", "pause", ID)
    assert (refused.status, "cannot pause task" in refused.err) == (1, True)


def test_config_is_what_was_submitted(det: Det, master: SmallMaster) -> None:
    master.answers["GET", f"{TASK}/config"] = (200, {"config": json.dumps({"entrypoint": ["a"]})})
    assert det("task", "config", ID).out == "entrypoint:\n- a\n"
    assert json.loads(det("task", "config", ID, "--json").out) == {"entrypoint": ["a"]}
    master.answers["GET", f"{TASK}/config"] = (200, {"config": ""})
    assert det("task", "config", ID).status == 0


def _summary(**changes: Any) -> dict[str, Any]:
    fields = {
        "task_id": ID, "name": "Command (a-b-c)", "slots_needed": 1, "registered_time": TIME, "priority": 42,
        "resource_pool": "default", "scheduler_type": "priority",
        "resources": [{"agent_devices": {"b": []}}, {"agent_devices": {"a": []}}],
        "proxy_ports": [{"port": 8000}, {"port": 600}],
    }  # fmt: skip
    return fields | changes


def test_list_shows_agents_ports_and_priorities_where_they_count(det: Det, master: SmallMaster) -> None:
    waiting = _summary(scheduler_type="fair_share", resources=[], proxy_ports=None)
    master.answers["GET", "/tasks"] = (200, {f"{ID}.1": _summary(), f"{ID}.2": waiting})
    header, first, second = det("task", "list", "--csv").out.splitlines()
    assert header == ("Task ID,Allocation ID,Name,Slots Needed,Registered Time,Agent,Priority,Resource Pool,Ports")
    assert first == f'{ID},{ID}.1,Command (a-b-c),1,{SHOWN_TIME},"a, b",42,default,"600, 8000"'
    assert second == f"{ID},{ID}.2,Command (a-b-c),1,{SHOWN_TIME},unassigned,N/A,default,"
    assert set(json.loads(det("task", "list", "--json").out)) == {f"{ID}.1", f"{ID}.2"}
