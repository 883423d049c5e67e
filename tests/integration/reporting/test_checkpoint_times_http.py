"""Times that come with the reports of checkpoints: in any zone, in none, and such as cannot be."""

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from tracked import Tracked


@pytest.fixture
def kolkata(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process, and with it the master, runs where the clock shows 5:30 more than UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        time.tzset()
        yield
    time.tzset()


def report_checkpoint(trial: Tracked, moment: str) -> tuple[str, Any]:
    uuid = str(uuid4())
    body = {
        "uuid": uuid,
        "taskId": trial.task_id,
        "resources": {},
        "metadata": {"steps_completed": 1},
        "training": {},
        "state": "STATE_COMPLETED",
        "reportTime": moment,
    }
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}
    return uuid, trial.master.anonymous.post("/api/v1/checkpoints", body, headers=headers)


def test_the_time_of_a_checkpoint_without_a_zone_is_utc_wherever_the_master_stands(
    trial: Tracked, admin: Any, kolkata: None
) -> None:
    for moment in ("2026-11-15T04:00:00Z", "2026-11-15T09:30:00+05:30", "2026-11-15T04:00:00"):
        uuid, answer = report_checkpoint(trial, moment)
        assert answer.status == 200, answer.raw
        shown = admin.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]
        assert shown["reportTime"] == "2026-11-15T04:00:00.000000Z", moment


def test_a_time_of_a_checkpoint_that_cannot_be_is_refused_by_name(trial: Tracked) -> None:
    for moment in ("yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00"):
        _, answer = report_checkpoint(trial, moment)
        assert answer.status == 400, (moment, answer.raw)
        assert f"reportTime={moment!r} is not a time; write it like" in answer.message
