"""Webhooks from an event to a real receiver: triggers, choice by config, signatures, answers."""

import hashlib
import hmac
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tracked import IdleEngine, Tracked, one
from webhook_calls import LOOPBACK, SLACK, SPECIFIC, STATE, settled

from determined.master.lifecycle import webhook_triggers
from determined.master.lifecycle import webhooks as lifecycle
from determined.master.lifecycle.log_match_budget import BatchMatching
from determined.master.lifecycle.log_pattern import Batch, LogPattern, compile_pattern, matching_lines
from determined.wire.report import Alert, Exit, ExitCause, LogLine, MetricReport
from webhook_receiver import Receiver


@pytest.fixture
def master(start_master: Callable[..., Any], db_url: str, engine: IdleEngine) -> Any:
    return start_master(db_url, engine_factory=lambda _ctx: [engine], webhooks=LOOPBACK)


DONE = Exit(ExitCause.EXITED, 0, "", 1.0)


def test_a_state_change_is_delivered_signed_and_listed_with_its_answer(
    admin: Any, hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked]
) -> None:
    webhook_id = hook("/done", "EXPERIMENT_STATE_CHANGE", {"state": "COMPLETED"})
    trial = submit_trial(name="mnist")
    trial.send(DONE, source="logs")
    (request,) = receiver.wait(1, "/done")
    stamp = request.headers["X-Determined-AI-Signature-Timestamp"]
    expected = hmac.new(b"secret", f"{stamp},".encode() + request.body, hashlib.sha256).hexdigest()
    assert request.headers["X-Determined-AI-Signature"] == expected
    assert request.headers["Content-Type"] == "application/json; charset=UTF-8"
    told = request.json["event_data"]["experiment"]
    assert (told["id"], told["name"], told["state"]) == (trial.experiment_id, "mnist", "COMPLETED")
    assert (told["workspace"], told["project"]) == ("Uncategorized", "Uncategorized")
    (delivery,) = settled(admin, webhook_id)
    assert (delivery["state"], delivery["statusCode"], delivery["answer"]) == ("DELIVERY_STATE_DELIVERED", 200, "ok")
    assert (delivery["attempts"], delivery["eventId"]) == (1, request.json["event_id"])
    assert delivery["payload"].encode() == request.body, "what is listed is what was sent"


def test_a_log_line_reaches_whom_the_config_and_the_workspace_choose(
    admin: Any, hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked]
) -> None:
    other = admin.post("/api/v1/workspaces", {"name": "other"}).json["workspace"]["id"]
    regex = {"regex": "assert .* failed"}
    hook("/default", "TASK_LOG", regex)
    hook("/own", "TASK_LOG", regex, workspaceId=1)
    hook("/slack", "TASK_LOG", regex, **SLACK)
    hook("/named", "TASK_LOG", regex, name="mine", **SPECIFIC)
    by_id = hook("/by-id", "TASK_LOG", regex, **SPECIFIC)
    hook("/not-named", "TASK_LOG", regex, name="another", **SPECIFIC)
    hook("/other-workspace", "TASK_LOG", regex, workspaceId=other)
    hook("/other-text", "TASK_LOG", {"regex": "nobody says this"})
    choice = {"webhook_name": ["mine"], "webhook_id": [by_id, 999]}
    trial = submit_trial(integrations={"webhooks": choice})
    line = "assert 0 <= 7 failed"
    trial.send(LogLine('{"log_policies": ["assert x failed"]}', 1.0), LogLine("assert me failed", 1.0, source="runner"))
    trial.send(*(LogLine(text, 1.0) for text in ("before", line, "assert again failed")))
    trial.send(LogLine("assert later failed", 1.0))
    receiver.wait(5)
    for path in ("/default", "/own", "/named", "/by-id"):
        (request,) = receiver.at(path)
        assert request.json["event_data"]["task_log"] == {
            "task_id": trial.task_id, "node_name": "node0", "triggering_log": line,
        }  # fmt: skip
        assert request.json["condition"] == regex
    (slack,) = receiver.at("/slack")
    assert f"det/experiments/{trial.experiment_id}/trials/{trial.trial_id}/logs" in slack.body.decode()
    assert len(receiver.received) == 5, "one event for each task and trigger, none for the others"


def test_an_experiment_may_silence_every_webhook(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any
) -> None:
    hook("/x", "TASK_LOG", {"regex": "boom"})
    loud = hook("/loud", "EXPERIMENT_STATE_CHANGE", {"state": "COMPLETED"})
    submit_trial(integrations={"webhooks": {"exclude": True}}).send(LogLine("boom", 1.0), DONE, source="logs")
    submit_trial().send(DONE, source="logs")
    receiver.wait(1, "/loud")
    assert len(settled(admin, loud)) == 1
    assert receiver.at("/x") == []


def test_an_alert_of_the_harness_reaches_the_named_webhook_once(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any
) -> None:
    named = hook("/named", "CUSTOM", {}, name="mine", **SPECIFIC)
    hook("/other", "CUSTOM", {}, name="other", **SPECIFIC)
    hook("/no-custom", "TASK_LOG", {"regex": "x"}, name="mine", **SPECIFIC)
    trial = submit_trial(integrations={"webhooks": {"webhook_name": ["mine"], "webhook_id": [named]}})
    trial.send(Alert("loss is NaN", "batch 7", "DEBUG"))
    (request,) = receiver.wait(1)
    data = request.json["event_data"]
    assert data["custom_data"] == {"title": "loss is NaN", "description": "batch 7", "level": "DEBUG"}
    assert (data["experiment"]["id"], data["experiment"]["trial_id"]) == (trial.experiment_id, trial.trial_id)
    assert request.json["condition"] == {"state": "ACTIVE"}
    body = {"experimentId": trial.experiment_id, "data": {"title": "by hand", "level": "LOG_LEVEL_WARNING"}}
    assert admin.post("/api/v1/webhooks/custom", body).status == 200
    assert receiver.wait(2)[1].json["event_data"]["custom_data"]["level"] == "WARNING"
    assert len(settled(admin, named)) == 2 and len(receiver.received) == 2


def test_alerts_are_taken_from_the_task_and_the_owner_alone(
    master: Any, admin: Any, user: Any, submit_trial: Callable[..., Tracked]
) -> None:
    trial, other = submit_trial(), submit_trial()
    headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {trial.launch.token}"}

    def status(client: Any, experiment_id: int, trial_id: int | None, **options: Any) -> int:
        body = {"experimentId": experiment_id, "trialId": trial_id, "data": {"title": "t"}}
        return int(client.post("/api/v1/webhooks/custom", body, **options).status)

    assert status(master.anonymous, trial.experiment_id, trial.trial_id, headers=headers) == 200
    assert status(master.anonymous, trial.experiment_id, None, headers=headers) == 200
    assert status(master.anonymous, other.experiment_id, other.trial_id, headers=headers) == 403
    assert status(master.anonymous, other.experiment_id, None, headers=headers) == 403
    assert status(admin, other.experiment_id, trial.trial_id) == 400
    assert status(admin, 10**6, None) == 404
    eve = {"user": {"username": "eve", "active": True, "admin": False}, "password": "Eve-pass-12"}
    assert admin.post("/api/v1/users", eve).status == 200
    assert status(master.client("eve", "Eve-pass-12"), trial.experiment_id, trial.trial_id) == 403


def test_a_threshold_fires_once_for_each_trial(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any
) -> None:
    condition = {"metric": "validation_loss", "group": "validation", "operator": "<", "value": 0.1}
    webhook_id = hook("/low", "METRIC_THRESHOLD_EXCEEDED", condition)
    first, second = submit_trial(), submit_trial()
    reports = [(1, 0.5), (2, float("nan")), (3, 0.09), (4, 0.01)]
    first.send(*(MetricReport("validation", step, {"validation_loss": value}, 1.0) for step, value in reports))
    first.send(MetricReport("validation", 5, {"validation_loss": 0.001}, 1.0))
    first.send(MetricReport("training", 6, {"validation_loss": 0.001}, 1.0))
    second.send(MetricReport("validation", 1, {"validation_loss": 0.02, "loss": "text"}, 1.0))
    receiver.wait(2)
    told = {r.json["event_data"]["metric"]["trial_id"]: r.json["event_data"]["metric"] for r in receiver.received}
    assert told[first.trial_id]["value"] == 0.09 and told[first.trial_id]["steps_completed"] == 3
    assert told[second.trial_id]["value"] == 0.02
    assert receiver.received[0].json["condition"] == condition
    assert len(settled(admin, webhook_id)) == 2


def test_a_report_over_http_meets_a_threshold_as_well(
    hook: Any, receiver: Receiver, trial: Tracked, admin: Any
) -> None:
    hook("/low", "METRIC_THRESHOLD_EXCEEDED", {"metric": "acc", "group": "extra", "operator": ">=", "value": 1})
    metrics = {"trialId": trial.trial_id, "trialRunId": 1, "stepsCompleted": 3, "metrics": {"avgMetrics": {"acc": 1}}}
    path = f"/api/v1/trials/{trial.trial_id}/metrics"
    assert admin.post(path, {"group": "extra", "metrics": metrics}).status == 200
    assert receiver.wait(1)[0].json["event_data"]["metric"]["value"] == 1


def test_lines_over_http_are_searched_too(hook: Any, receiver: Receiver, trial: Tracked, admin: Any) -> None:
    hook("/log", "TASK_LOG", {"regex": "^boom$"})
    lines = [{"taskId": trial.task_id, "log": text, "agentId": "n7"} for text in ("a boom\n", "boom\n")]
    assert admin.post("/api/v1/task/logs", {"logs": lines}).status == 200
    told = receiver.wait(1)[0].json["event_data"]["task_log"]
    assert (told["triggering_log"], told["node_name"]) == ("boom", "n7")


def test_a_changed_address_and_a_deleted_webhook_are_in_effect_at_once(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any
) -> None:
    webhook_id = hook("/old", "TASK_LOG", {"regex": "boom"})
    submit_trial().send(LogLine("boom", 1.0))
    receiver.wait(1, "/old")
    assert admin.patch(f"/api/v1/webhooks/{webhook_id}", {"url": receiver.url + "/new"}).json == {}
    submit_trial().send(LogLine("boom", 1.0))
    receiver.wait(1, "/new")
    assert admin.delete(f"/api/v1/webhooks/{webhook_id}").json == {}
    third = submit_trial()
    hook("/third", "TASK_LOG", {"regex": "boom"})
    third.send(LogLine("boom", 1.0))
    receiver.wait(1, "/third")
    assert len(receiver.received) == 3
    assert admin.get(f"/api/v1/webhooks/{webhook_id}/deliveries").status == 404


def test_a_webhook_goes_with_its_workspace_and_ingest_goes_on(
    hook: Any, submit_trial: Callable[..., Tracked], admin: Any, master: Any
) -> None:
    workspace = admin.post("/api/v1/workspaces", {"name": "short"}).json["workspace"]["id"]
    webhook_id = hook("/gone", "TASK_LOG", {"regex": "boom"}, workspaceId=workspace)
    trial = submit_trial()
    trial.send(LogLine("quiet", 1.0))  # the triggers are in memory now
    assert admin.delete(f"/api/v1/workspaces/{workspace}").status == 200
    trial.send(LogLine("boom", 1.0))
    assert one(master, "SELECT count(*) FROM webhook_deliveries") == 0
    assert webhook_id not in [row["id"] for row in admin.get("/api/v1/webhooks").json["webhooks"]]


def test_the_test_button_says_what_the_receiver_answers(hook: Any, receiver: Receiver, admin: Any) -> None:
    default, slack = hook("/d", "TASK_LOG", {"regex": "x"}), hook("/s", "TASK_LOG", {"regex": "x"}, **SLACK)
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.json == {"completed": True, "statusCode": 200, "answer": "ok"}
    assert receiver.at("/d")[0].json["event_data"] == {"data": "test"}
    assert admin.post(f"/api/v1/webhooks/{slack}/test").status == 200
    assert "blocks" in receiver.at("/s")[0].json
    receiver.respond = lambda _: (503, {}, b"not today")
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.status == 400 and "503" in answer.message and "not today" in answer.message
    receiver.respond = lambda _: (302, {"Location": "http://169.254.169.254/"}, b"")
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.status == 400 and "redirects are not followed" in answer.message
    receiver.respond = lambda _: (101, {"Connection": "Upgrade", "Upgrade": "websocket"}, b"")
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.status == 400 and "the receiver answers 101" in answer.message
    for url in ("http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "http://0xa9fea9fe/"):
        assert admin.patch(f"/api/v1/webhooks/{default}", {"url": url}).status == 200
        answer = admin.post(f"/api/v1/webhooks/{default}/test")
        assert answer.status == 400 and "allowed_networks" in answer.message, url
    receiver.close()
    assert admin.patch(f"/api/v1/webhooks/{default}", {"url": receiver.url}).status == 200
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.status == 400 and "does not answer" in answer.message


def test_the_list_says_what_may_be_changed_and_how_the_last_delivery_went(
    admin: Any, user: Any, receiver: Receiver, submit_trial: Callable[..., Tracked]
) -> None:
    own = user.post("/api/v1/workspaces", {"name": "own"}).json["workspace"]["id"]
    body = {"url": receiver.url, "triggers": [STATE]}
    everywhere, mine = (
        client.post("/api/v1/webhooks", {**body, "workspaceId": workspace}).json["webhook"]
        for client, workspace in ((admin, None), (user, own))
    )
    assert (everywhere["mayChange"], mine["mayChange"], mine["lastDelivery"]) == (True, True, None)
    receiver.respond = lambda _: (404, {}, b"no such path")
    submit_trial().send(DONE, source="logs")
    settled(admin, everywhere["id"])
    first, second = admin.get("/api/v1/webhooks").json["webhooks"]
    last = first["lastDelivery"]
    assert (last["state"], last["statusCode"], last["attempts"]) == ("DELIVERY_STATE_FAILED", 404, 1)
    assert second["lastDelivery"] is None, "it belongs to another workspace"
    first, second = user.get("/api/v1/webhooks").json["webhooks"]
    assert (first["mayChange"], first["lastDelivery"], second["mayChange"]) == (False, None, True)


def test_a_pattern_is_compiled_once_and_not_by_the_writer(
    hook: Any, submit_trial: Callable[..., Tracked], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[tuple[str, str]] = []
    webhook_triggers.compiled_pattern.cache_clear()

    def compile_noted(regex: str) -> Any:
        compiled.append((regex, threading.current_thread().name))
        return compile_pattern(regex)

    monkeypatch.setattr(webhook_triggers, "compile_pattern", compile_noted)
    hook("/once", "TASK_LOG", {"regex": "compiled but once"})
    trial = submit_trial()
    trial.send(LogLine("quiet", 1.0))
    hook("/other", "TASK_LOG", {"regex": "compiled later"})
    trial.send(LogLine("compiled but once", 1.0))
    receiver.wait(1, "/once")
    assert [regex for regex, _ in compiled] == ["compiled but once", "compiled later"]
    assert not any(thread.startswith(("MainThread", "db-")) for _, thread in compiled), compiled


def test_triggers_of_another_workspace_are_not_even_searched(
    hook: Any, submit_trial: Callable[..., Tracked], receiver: Receiver, admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = admin.post("/api/v1/workspaces", {"name": "other"}).json["workspace"]["id"]
    searched: list[str] = []

    def search_noted(pattern: LogPattern, batch: Batch, matching: BatchMatching) -> list[int]:
        searched.append(pattern.text)
        return matching_lines(pattern, batch, matching)

    monkeypatch.setattr(lifecycle, "matching_lines", search_noted)
    hook("/foreign", "TASK_LOG", {"regex": "foreign"}, workspaceId=other)
    hook("/own", "TASK_LOG", {"regex": "own"}, workspaceId=1)
    hook("/cluster", "TASK_LOG", {"regex": "boom"})
    submit_trial().send(LogLine("boom", 1.0))
    receiver.wait(1, "/cluster")
    assert set(searched) == {"own", "boom"}
