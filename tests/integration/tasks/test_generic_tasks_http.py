"""Generic tasks over HTTP: created, forked, paused, started again, killed with their descendants."""

import base64
import io
import json
import tarfile
from typing import Any

import pytest
from http_cluster import allocation, eventually
from task_cluster import TaskCluster, file

from determined.wire.report import ExitCause, PreemptAck

UNKNOWN = "00000000-0000-0000-0000-000000000000"
CONFIG = {"entrypoint": ["true"], "resources": {"slots": 0}}
ENDS = ("COMPLETED", "ERROR", "CANCELED")


def do(cluster: TaskCluster, task_id: str, verb: str, *, by: Any = None, **body: Any) -> Any:
    return (by or cluster.user).post(f"/api/v1/tasks/{task_id}/{verb}", {"taskId": task_id, **body})


def names_in(packed: str) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(packed))) as archive:
        return archive.getnames()


def end_in(cluster: TaskCluster, state: str) -> str:
    """A task that has come to a state."""
    task_id = cluster.create()
    if state == "CANCELED":
        launch = cluster.start(task_id)
        do(cluster, task_id, "kill")
        cluster.leave(launch, 137, ExitCause.KILLED)
    elif state == "PAUSED":
        pause(cluster, task_id)
    elif state in ENDS:
        cluster.finish(task_id, 0 if state == "COMPLETED" else 1)
    assert cluster.state(task_id) == state
    return task_id


def pause(cluster: TaskCluster, task_id: str, run: int = 1) -> None:
    """Pause a task whose program ignores that it is asked to leave."""
    launch = cluster.start(task_id, run)
    assert do(cluster, task_id, "pause").status == 200
    assert cluster.state(task_id) == "STOPPING_PAUSED"
    cluster.leave(launch, 143, ExitCause.PREEMPTED)


def test_a_config_is_shown_exactly_as_it_was_submitted(cluster: TaskCluster) -> None:
    task_id = cluster.create(config={"entrypoint": ["echo", "a: b"]})
    answer = cluster.user.get(f"/api/v1/tasks/{task_id}/config").json["config"]
    assert json.loads(answer) == {"entrypoint": ["echo", "a: b"]}
    task = cluster.user.get(f"/api/v1/tasks/{task_id}").json["task"]
    assert (task["taskType"], task["taskState"]) == ("TASK_TYPE_GENERIC", "GENERIC_TASK_STATE_ACTIVE")
    assert (json.loads(task["config"]), task.get("parentId"), task["noPause"]) == (
        {"entrypoint": ["echo", "a: b"]},
        None,
        False,
    )
    assert cluster.spec(cluster.runner(task_id))["entrypoint"] == ["echo", "a: b"]


def test_passwords_in_a_config_are_not_shown(cluster: TaskCluster) -> None:
    auth = {"registry_auth": {"username": "u", "password": "hidden-word", "serveraddress": "s"}}
    task_id = cluster.create(config={**CONFIG, "environment": auth})
    for path in ("", "/config"):
        assert b"hidden-word" not in cluster.user.get(f"/api/v1/tasks/{task_id}{path}").raw


@pytest.mark.parametrize(
    ("config", "body", "status", "words"),
    [
        (None, {}, 400, "No config file nor forked task provided"),
        ({}, {}, 400, "entrypoint must be non-empty"),
        ({"entrypoint": []}, {}, 400, "entrypoint must be non-empty"),
        ("- a\n- b\n", {}, 400, "mapping"),
        ("a: [", {}, 400, "YAML"),
        ({**CONFIG, "idle_timeout": "1h"}, {}, 400, "idle_timeout"),
        ({**CONFIG, "resources": {"slots": 99}}, {}, 400, "slots"),
        ({**CONFIG, "resources": {"resource_pool": "x"}}, {}, 400, "resource pool x does not exist"),
        (CONFIG, {"projectId": 77}, 404, "project '77' not found"),
        (CONFIG, {"parentId": UNKNOWN}, 404, f"task '{UNKNOWN}' not found"),
        (None, {"forkedFrom": UNKNOWN}, 404, f"task '{UNKNOWN}' not found"),
        (CONFIG, {"inheritContext": True}, 400, "inheritContext needs parentId"),
        ({**CONFIG, "work_dir": "/x"}, {"contextDirectory": [file("a")]}, 400,
         "cannot set work_dir and context directory at the same time"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_refused_with_its_reason(
    cluster: TaskCluster, config: Any, body: dict[str, Any], status: int, words: str
) -> None:
    answer = cluster.try_create(config, **body)
    assert (answer.status, words in answer.message) == (status, True), answer.raw


def test_a_task_of_another_kind_is_no_parent_no_source_and_has_no_such_verbs(cluster: TaskCluster) -> None:
    other = cluster.launch()["id"]
    answers = [cluster.try_create(CONFIG, parentId=other), cluster.try_create(forkedFrom=other)]
    answers += [do(cluster, other, verb) for verb in ("kill", "pause", "unpause")]
    assert {(one.status, "not a generic task" in one.message) for one in answers} == {(400, True)}
    for verb in ("kill", "pause", "unpause"):
        unknown = do(cluster, UNKNOWN, verb)
        assert (unknown.status, unknown.message) == (404, f"task '{UNKNOWN}' not found")


def test_a_fork_keeps_and_replaces_whole_keys_and_takes_the_files(cluster: TaskCluster) -> None:
    first = cluster.create(
        config={"entrypoint": ["a"], "debug": True, "resources": {"slots": 0, "priority": 5}},
        contextDirectory=[file("a.py")],
    )
    fork = cluster.create(forkedFrom=first, config={"resources": {"slots": 0}})
    config = json.loads(cluster.user.get(f"/api/v1/tasks/{fork}/config").json["config"])
    assert config == {"entrypoint": ["a"], "debug": True, "resources": {"slots": 0}}
    assert cluster.user.get(f"/api/v1/tasks/{fork}").json["task"]["forkedFrom"] == first
    assert names_in(cluster.user.get(f"/api/v1/tasks/{fork}/context_directory").json["b64Tgz"]) == ["a.py"]
    own = cluster.create(forkedFrom=first, contextDirectory=[file("b.py")])
    assert names_in(cluster.user.get(f"/api/v1/tasks/{own}/context_directory").json["b64Tgz"]) == ["b.py"]


def test_a_child_takes_its_parents_files_if_it_asks_for_them(cluster: TaskCluster) -> None:
    parent = cluster.create(contextDirectory=[file("a.py")])
    child, other = cluster.create(parentId=parent, inheritContext=True), cluster.create(parentId=parent)
    assert cluster.user.get(f"/api/v1/tasks/{child}").json["task"]["parentId"] == parent
    assert names_in(cluster.user.get(f"/api/v1/tasks/{child}/context_directory").json["b64Tgz"]) == ["a.py"]
    assert cluster.user.get(f"/api/v1/tasks/{other}/context_directory").json["b64Tgz"] == ""


def test_others_do_not_fork_take_over_or_change_a_task(cluster: TaskCluster) -> None:
    ada, bob = cluster.person("ada"), cluster.person("bob")
    task_id = cluster.create(by=ada, contextDirectory=[file("a.py")])
    answers = [cluster.try_create(CONFIG, by=bob, parentId=task_id)]
    answers += [cluster.try_create(by=bob, forkedFrom=task_id)]
    answers += [cluster.try_create(by=bob, forkedFrom=task_id, contextDirectory=[file("b.py")])]
    answers += [do(cluster, task_id, verb, by=bob) for verb in ("kill", "pause", "unpause")]
    assert {(one.status, "only the owner" in one.message) for one in answers} == {(403, True)}
    assert bob.get(f"/api/v1/tasks/{task_id}").status == 200
    assert do(cluster, task_id, "kill", by=cluster.admin).status == 200


@pytest.mark.parametrize("state", ENDS)
def test_an_ended_task_says_so_whatever_is_asked_of_it(cluster: TaskCluster, state: str) -> None:
    task_id = end_in(cluster, state)
    killed, paused, unpaused = (do(cluster, task_id, verb) for verb in ("kill", "pause", "unpause"))
    assert (killed.status, killed.message) == (409, f"cannot cancel task {task_id} as it is in state '{state}'")
    assert (paused.status, paused.message) == (409, f"cannot pause task {task_id} as it is in state '{state}'")
    assert (unpaused.status, unpaused.message) == (409, f"cannot unpause task {task_id} as it is not in paused state")
    assert cluster.state(task_id) == state
    assert cluster.user.get(f"/api/v1/tasks/{task_id}").json["task"]["endTime"] is not None


def test_a_kill_right_after_the_start_cancels(cluster: TaskCluster) -> None:
    task_id = cluster.create()
    assert do(cluster, task_id, "kill").status == 200
    assert cluster.state(task_id) in ("STOPPING_CANCELED", "CANCELED")
    if cluster.state(task_id) == "STOPPING_CANCELED":  # it had been assigned already
        cluster.leave(cluster.runner(task_id), 137, ExitCause.KILLED, first=1)
    assert cluster.state(task_id) == "CANCELED"


def test_a_paused_task_starts_again_in_a_new_allocation_with_its_slots(cluster: TaskCluster) -> None:
    task_id = cluster.create(config={"entrypoint": ["a"], "resources": {"slots": 2}})
    pause(cluster, task_id)
    assert cluster.state(task_id) == "PAUSED"
    assert cluster.user.get(f"/api/v1/tasks/{task_id}").json["task"]["endTime"] is not None
    again = do(cluster, task_id, "pause")
    assert (again.status, again.message) == (409, f"cannot pause task {task_id} as it is in state 'PAUSED'")
    assert do(cluster, task_id, "unpause").status == 200
    assert cluster.state(task_id) == "ACTIVE"
    launch = cluster.start(task_id, 2)
    assert len(launch.slot_ids) == 2
    task = cluster.user.get(f"/api/v1/tasks/{task_id}").json["task"]
    assert task["endTime"] is None
    assert [one["allocationId"] for one in task["allocations"]] == [f"{task_id}.2", f"{task_id}.1"]
    cluster.leave(launch)
    assert cluster.state(task_id) == "COMPLETED"


def test_a_program_that_watches_for_preemption_may_save_first(cluster: TaskCluster) -> None:
    task_id = cluster.create()
    launch = cluster.start(task_id)
    assert do(cluster, task_id, "pause").status == 200
    asked = cluster.task(launch).get(allocation(launch) + "/signals/preemption", fields={"timeoutSeconds": 0})
    assert asked.json["preempt"] is True
    cluster.report(launch, PreemptAck(), first=2)
    cluster.leave(launch, first=3)
    assert cluster.state(task_id) == "PAUSED"


def test_a_program_that_is_done_before_it_could_be_paused_is_completed(cluster: TaskCluster) -> None:
    task_id = cluster.create()
    launch = cluster.start(task_id)
    assert do(cluster, task_id, "pause").status == 200
    cluster.leave(launch)
    assert cluster.state(task_id) == "COMPLETED"


def test_a_waiting_task_is_paused_and_canceled_at_once(cluster: TaskCluster) -> None:
    full = {"entrypoint": ["a"], "resources": {"slots": 4}}
    for task_id in [cluster.create(config=full) for _ in range(2)]:
        cluster.start(task_id)
    waiting = cluster.create(config=full)
    assert do(cluster, waiting, "pause").status == 200
    assert cluster.state(waiting) == "PAUSED"
    assert do(cluster, waiting, "kill").status == 200
    assert cluster.state(waiting) == "CANCELED"


def test_a_killed_task_that_was_paused_is_canceled(cluster: TaskCluster) -> None:
    task_id = end_in(cluster, "PAUSED")
    assert do(cluster, task_id, "kill").status == 200
    assert cluster.state(task_id) == "CANCELED"


def test_a_task_without_pause_is_left_alone_also_below_one_that_pauses(cluster: TaskCluster) -> None:
    task_id = cluster.create(noPause=True)
    refused = do(cluster, task_id, "pause")
    assert (refused.status, refused.message) == (409, f"cannot pause task {task_id} with `no_pause` set to true")
    parent = cluster.create()
    child, steady = cluster.create(parentId=parent), cluster.create(parentId=parent, noPause=True)
    launches = [cluster.start(one) for one in (parent, child)]
    assert do(cluster, parent, "pause").status == 200
    for launch in launches:
        cluster.leave(launch, 143, ExitCause.PREEMPTED)
    assert [cluster.state(one) for one in (parent, child, steady)] == ["PAUSED", "PAUSED", "ACTIVE"]
    assert do(cluster, parent, "unpause").status == 200
    assert [cluster.state(one) for one in (parent, child, steady)] == ["ACTIVE"] * 3
    runs = cluster.user.get(f"/api/v1/tasks/{steady}").json["task"]["allocations"]
    assert len(runs) == 1


def test_a_kill_takes_all_live_descendants_and_from_the_root_the_whole_family(cluster: TaskCluster) -> None:
    root = cluster.create()
    aunt, mother = cluster.create(parentId=root), cluster.create(parentId=root)
    child = cluster.create(parentId=mother)
    done = cluster.create(parentId=mother)
    cluster.finish(done)
    stranger = cluster.create()
    launches = {one: cluster.start(one) for one in (root, aunt, mother, child)}

    def states() -> list[str]:
        return [cluster.state(one) for one in (root, aunt, mother, child, done, stranger)]

    assert do(cluster, mother, "kill").status == 200
    for one in (mother, child):
        cluster.leave(launches[one], 137, ExitCause.KILLED)
    assert states() == ["ACTIVE", "ACTIVE", "CANCELED", "CANCELED", "COMPLETED", "ACTIVE"]
    assert do(cluster, child, "kill", killFromRoot=True).status == 200
    for one in (root, aunt):
        cluster.leave(launches[one], 137, ExitCause.KILLED)
    assert states() == ["CANCELED", "CANCELED", "CANCELED", "CANCELED", "COMPLETED", "ACTIVE"]


def test_a_task_on_several_nodes_is_spread_where_it_allows_that(cluster: TaskCluster) -> None:
    refused = cluster.try_create({"entrypoint": ["a"], "resources": {"slots": 8}})
    assert (refused.status, "slots" in refused.message) == (400, True)
    task_id = cluster.create(config={"entrypoint": ["a"], "resources": {"slots": 8, "is_single_node": False}})
    eventually(lambda: sum(one.allocation_id == f"{task_id}.1" for one in cluster.machine.launched) == 2)
