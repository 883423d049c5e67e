"""Waiting in the queue: the reason, who holds the slots and what to type, on stderr."""

from typing import Any

import pytest
from recorded_master import TIME, Det, page, stream
from small_master import SmallMaster

from determined.api.session import Session
from determined.cli import queue_notice

ID = "0a1b2c3d-0000-4000-8000-000000000001"
HOLDER = "0a1b2c3d-0000-4000-8000-000000000002"
REASON = (
    f"waits for 1 free slot in pool 'default': 0 of 1 free, 0 jobs ahead; the only slot is held by notebook {HOLDER}"
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_notice, "SECONDS", 0.0)


def _task(**changes: Any) -> dict[str, Any]:
    fields = {
        "id": ID, "description": "d", "jobId": "j", "resourcePool": "default", "startTime": TIME,
        "state": "STATE_QUEUED", "username": "determined", "workspaceId": 1, "isReady": False,
    }  # fmt: skip
    return fields | changes


def _job(entity: str, kind: str, state: str, **changes: Any) -> dict[str, Any]:
    fields = {
        "allocatedSlots": 0, "entityId": entity, "isPreemptible": False, "jobId": f"j{entity}", "name": "n",
        "requestedSlots": 1, "resourcePool": "default", "submissionTime": TIME, "type": kind,
        "username": "determined", "workspaceId": 1, "summary": {"jobsAhead": 0, "state": state},
    }  # fmt: skip
    return {"full": fields | changes}


def _queue(master: SmallMaster, kind: str = "TYPE_NOTEBOOK", entity: str = ID) -> None:
    holder = _job(HOLDER, "TYPE_NOTEBOOK", "STATE_SCHEDULED", allocatedSlots=1)
    waiting = _job(entity, kind, "STATE_QUEUED", reason=REASON)
    master.answers["GET", "/api/v1/job-queues-v2"] = page("jobs", holder, waiting)


def _start(master: SmallMaster, *turns: dict[str, Any]) -> None:
    master.answers["POST", "/api/v1/notebooks"] = (200, {"notebook": _task(), "config": {}})
    looks = [(200, {"notebook": turn, "config": {}}) for turn in turns]
    master.answers["GET", f"/api/v1/notebooks/{ID}"] = looks


def test_start_that_waits_in_the_queue_names_the_holder_and_what_to_type_once(det: Det, master: SmallMaster) -> None:
    _queue(master)
    _start(master, _task(), _task(), _task(), _task(state="STATE_RUNNING", isReady=True))
    done = det("notebook", "start", "--no-browser")
    assert done.status == 0, done.err
    [line] = [text for text in done.err.splitlines() if text.startswith("waits for")]
    assert line.startswith(REASON)
    for words in (f"det notebook kill {HOLDER}", "--config resources.slots=0", "det job list"):
        assert words in line


def test_start_that_builds_its_environment_shows_the_newest_line_of_its_log(det: Det, master: SmallMaster) -> None:
    running = _task(state="STATE_RUNNING")
    _start(master, running, running, running | {"isReady": True})
    entry = {"id": "1", "level": "LOG_LEVEL_INFO", "log": "uv: Downloading jupyterlab\n", "message": "m\n"}
    master.answers["GET", f"/api/v1/tasks/{ID}/logs"] = stream(entry | {"taskId": ID, "timestamp": TIME})
    done = det("notebook", "start", "--no-browser")
    assert done.status == 0, done.err
    assert done.err.splitlines().count("uv: Downloading jupyterlab") == 1


def test_job_that_does_not_wait_has_no_notice(det: Det, master: SmallMaster) -> None:
    master.answers["GET", "/api/v1/job-queues-v2"] = page("jobs", _job(ID, "TYPE_COMMAND", "STATE_SCHEDULED"))
    _start(master, _task(), _task(state="STATE_RUNNING", isReady=True))
    done = det("notebook", "start", "--no-browser")
    assert (done.status, "det job list" in done.err) == (0, False), done.err


def test_trial_gets_no_advice_to_leave_out_its_slot(master: SmallMaster) -> None:
    _queue(master, "TYPE_EXPERIMENT", "7")
    text = queue_notice.text_of_queue(Session(master.url), "7")
    assert text is not None and "resources.slots=0" not in text and f"det notebook kill {HOLDER}" in text
