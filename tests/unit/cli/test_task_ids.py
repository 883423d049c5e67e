"""Ids of tasks that are typed in part."""

from typing import Any

import pytest
from recorded_master import TIME, Det, page, stream
from small_master import SmallMaster

ONE = "0a1b2c3d-0000-4000-8000-000000000001"
OTHER = "0a1b2c3d-0000-4000-8000-000000000002"
THIRD = "fedcba98-0000-4000-8000-000000000003"


def _task(task_id: str) -> dict[str, Any]:
    return {
        "id": task_id, "description": "d", "jobId": "j", "resourcePool": "default", "startTime": TIME,
        "state": "STATE_RUNNING", "username": "determined", "workspaceId": 1,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _three_tasks(master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/shells"] = page("shells", *map(_task, (ONE, OTHER, THIRD)))
    for task_id in (ONE, OTHER, THIRD):
        master.answers["POST", f"/api/v1/shells/{task_id}/kill"] = (200, {"shell": _task(task_id)})


def test_beginning_that_one_id_has_stands_for_it(det: Det, master: SmallMaster) -> None:
    done = det("shell", "kill", "fedcba98", ONE)
    assert (done.status, done.out) == (0, f"Killed shell {THIRD}\nKilled shell {ONE}\n"), done.err


def test_log_of_a_task_is_found_by_the_beginning_of_its_id(det: Det, master: SmallMaster) -> None:
    entry = {"id": "1", "level": "LOG_LEVEL_INFO", "log": "hi\n", "message": "hi\n", "taskId": THIRD, "timestamp": TIME}
    master.answers["GET", f"/api/v1/tasks/{THIRD}/logs"] = stream(entry)
    assert det("shell", "logs", "fedcba98").out == "hi\n"


def test_beginning_of_two_ids_is_refused_with_both(det: Det, master: SmallMaster) -> None:
    done = det("shell", "kill", "0a1b2c3d")
    assert done.status == 2
    assert ONE in done.err and OTHER in done.err and "type more of the id" in done.err
    assert not [path for method, path, _, _ in master.asked if path.endswith("/kill")]


def test_full_ids_are_sent_without_a_look_at_the_list(det: Det, master: SmallMaster) -> None:
    det("shell", "kill", ONE)
    assert "/api/v1/shells" not in [path for _, path, _, _ in master.asked]


def test_what_is_shorter_than_eight_characters_is_taken_as_it_is(det: Det, master: SmallMaster) -> None:
    assert det("shell", "kill", "fedcba9").status == 1
    assert "/api/v1/shells" not in [path for _, path, _, _ in master.asked]
