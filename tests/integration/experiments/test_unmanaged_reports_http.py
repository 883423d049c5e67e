"""Journals of unmanaged trials: their client posts batches of records, each is written exactly once."""

import asyncio
import json
from typing import Any

import msgspec
import pytest

from determined.master.db.queries import trial as trials
from determined.wire.report import (
    Alert,
    CheckpointReport,
    EarlyExit,
    Exit,
    ExitCause,
    LogLine,
    MetricReport,
    Phase,
    PreemptAck,
    Progress,
    Record,
    ReportBatch,
    Segment,
)

UUID = "3f1d2a8e-0000-4000-8000-000000000001"


@pytest.fixture
def trial(user: Any) -> dict[str, Any]:
    return made_trial(user)


def made_trial(user: Any, **config: Any) -> dict[str, Any]:
    """A trial that is in its first run."""
    whole = {"name": "u", "searcher": {"name": "single", "metric": "m"}, **config}
    body = {"config": json.dumps(whole), "unmanaged": True}
    experiment = user.post("/api/v1/experiments", body).json["experiment"]["id"]
    made: dict[str, Any] = user.post("/api/v1/trials", {"experimentId": experiment, "unmanaged": True}).json["trial"]
    assert user.post(f"/api/v1/trials/{made['id']}/start", {"resume": True}).json["trialRunId"] == 1
    return made


def post(client: Any, trial: dict[str, Any], *records: Record, first: int = 1, source: str = "j", run: int = 1) -> Any:
    batch = msgspec.json.encode(ReportBatch([Segment(source, first, list(records))], 0.0))
    return client.post(f"/api/v1/trials/{trial['id']}/runs/{run}/reports", json.loads(batch))


def logs(client: Any, trial: dict[str, Any]) -> list[str]:
    answer = client.get(f"/api/v1/trials/{trial['id']}/logs")
    lines = [json.loads(line)["result"] for line in answer.raw.decode().splitlines()]
    return [line["message"] for line in lines]


def test_metrics_logs_checkpoints_and_progress_are_written_once(user: Any, trial: dict[str, Any]) -> None:
    records = (
        MetricReport("training", 1, {"loss": 0.5}, 1000.0),
        LogLine("hello", 1000.0, "stderr", "WARNING", 1),
        CheckpointReport(UUID, 1, {}, {"a": 3}, 1000.0),
        Progress(0.25),
    )
    for _ in range(2):
        answer = post(user, trial, *records)
        assert (answer.status, answer.json["positions"]) == (200, {"j": 4}), answer.raw
    shown = user.get(f"/api/v1/trials/{trial['id']}").json["trial"]
    assert shown["summaryMetrics"]["avg_metrics"]["loss"]["count"] == 1
    assert (shown["checkpointCount"], shown["state"]) == (1, "STATE_RUNNING")
    assert [line for line in logs(user, trial) if "hello" in line and "rank=1" in line]
    assert user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["progress"] == 0.25
    assert user.get(f"/api/v1/checkpoints/{UUID}").json["checkpoint"].get("allocationId") in (None, "")


def test_records_about_an_allocation_are_passed_over(user: Any, trial: dict[str, Any]) -> None:
    over = Exit(ExitCause.EXITED, 1, "no", 1000.0)
    others = (PreemptAck(), EarlyExit("EXITED_REASON_INVALID_HP"), Phase("RUNNING", 1.0), over)
    assert post(user, trial, *others).json["positions"] == {"j": 4}
    assert user.get(f"/api/v1/trials/{trial['id']}").json["trial"]["state"] == "STATE_RUNNING"


def test_an_alert_is_queued_for_the_webhook_that_the_config_names(user: Any, admin: Any) -> None:
    triggers = [{"triggerType": "TRIGGER_TYPE_CUSTOM"}]
    hook = {"url": "http://example.com/", "name": "mine", "mode": "WEBHOOK_MODE_SPECIFIC", "triggers": triggers}
    webhook_id = admin.post("/api/v1/webhooks", hook).json["webhook"]["id"]
    trial = made_trial(user, integrations={"webhooks": {"webhook_name": ["mine"]}})
    for _ in range(2):
        assert post(user, trial, Alert("loss is NaN", "batch 7", "ERROR")).json["positions"] == {"j": 1}
    (delivery,) = admin.get(f"/api/v1/webhooks/{webhook_id}/deliveries").json["deliveries"]
    told = json.loads(delivery["payload"])["event_data"]
    assert told["custom_data"] == {"title": "loss is NaN", "description": "batch 7", "level": "ERROR"}
    assert told["experiment"]["trial_id"] == trial["id"]


def test_a_gap_is_answered_with_the_position(user: Any, trial: dict[str, Any]) -> None:
    refused = post(user, trial, LogLine("x", 0.0), first=3)
    assert (refused.status, refused.json["error"]["details"]["positions"]) == (409, {})


def test_reports_of_a_run_that_another_has_followed_are_refused(user: Any, trial: dict[str, Any]) -> None:
    assert user.post(f"/api/v1/trials/{trial['id']}/start", {"resume": True}).json["trialRunId"] == 2
    refused = post(user, trial, LogLine("late", 0.0))
    assert (refused.status, "is at run 2" in refused.message) == (410, True)
    assert post(user, trial, LogLine("now", 0.0), run=2).status == 200
    assert post(user, trial, LogLine("early", 0.0), source="k", run=3).status == 410


def test_others_and_tasks_report_nothing_for_it(
    master: Any, user: Any, admin: Any, submit: Any, first_trial: Any, trial: dict[str, Any]
) -> None:
    admin.post("/api/v1/users", {"user": {"username": "eve", "admin": False, "active": True}, "password": ""})
    assert post(master.client("eve"), trial, LogLine("x", 0.0)).status == 403
    assert post(admin, trial, LogLine("x", 0.0)).status == 200
    managed = first_trial(user, submit(user)["experiment"]["id"])
    refused = post(user, managed, LogLine("x", 0.0))
    assert (refused.status, "is managed" in refused.message) == (400, True)
    assert post(user, {"id": 999}, LogLine("x", 0.0)).status == 404


@pytest.mark.parametrize("source", ["", "a" * 201, "a/b", "a\n", "\u0000", "ä"])
def test_names_of_journals_are_plain(user: Any, trial: dict[str, Any], source: str) -> None:
    refused = post(user, trial, LogLine("x", 0.0), source=source)
    assert (refused.status, "journal name" in refused.message) == (400, True)


def test_what_is_no_batch_is_refused(user: Any, trial: dict[str, Any]) -> None:
    path = f"/api/v1/trials/{trial['id']}/runs/1/reports"
    for body in ({}, [[["j", 1, [["unknown"]]]], 0.0], [[["j", "x", []]]]):
        assert user.post(path, body).status == 400, body


def test_a_report_is_a_sign_of_life(user: Any, master: Any, trial: dict[str, Any]) -> None:
    def active() -> Any:
        return asyncio.run(master.ctx.db.read(lambda conn: trials.get(conn, trial["id"]).last_activity))

    before = active()
    post(user, trial, LogLine("x", 0.0))
    assert active() > before


def test_a_process_of_an_earlier_run_gives_no_sign_of_life(user: Any, trial: dict[str, Any], master: Any) -> None:
    """A run that hung would else keep a trial alive whose later run has died."""
    assert post(user, trial, LogLine("first", 1000.0)).status == 200
    assert user.post(f"/api/v1/trials/{trial['id']}/start", {"resume": True}).json["trialRunId"] == 2
    before = last_activity(master, trial)
    assert empty(user, trial, run=1).status == 410
    assert post(user, trial, LogLine("first", 1000.0)).json["positions"] == {"j": 1}, "what was taken stays so"
    assert last_activity(master, trial) == before
    assert empty(user, trial, run=2).status == 200
    assert last_activity(master, trial) > before


def last_activity(master: Any, trial: dict[str, Any]) -> Any:
    return asyncio.run(master.ctx.db.read(lambda conn: trials.get(conn, trial["id"]).last_activity))


def empty(client: Any, trial: dict[str, Any], run: int) -> Any:
    return client.post(f"/api/v1/trials/{trial['id']}/runs/{run}/reports", [[], 0.0])
