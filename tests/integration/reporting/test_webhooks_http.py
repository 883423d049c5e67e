"""Webhooks from an event to a real receiver: triggers, choice by config, signatures, answers."""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tracked import IdleEngine, Tracked, one, until

from determined.master.lifecycle import webhook_triggers
from determined.master.lifecycle import webhooks as lifecycle
from determined.master.lifecycle.log_match_budget import BatchMatching
from determined.master.lifecycle.log_pattern import Batch, LogPattern, compile_pattern, matching_lines
from determined.master.services import webhook as service
from determined.master.services import webhook_send
from determined.wire.report import Alert, Exit, ExitCause, LogLine, MetricReport
from webhook_receiver import Receiver

LOOPBACK = {"allowed_networks": ["127.0.0.0/8"], "signing_key": "secret", "base_url": "http://page"}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    yield running
    running.close()


@pytest.fixture
def master(start_master: Callable[..., Any], db_url: str, engine: IdleEngine) -> Any:
    return start_master(db_url, engine_factory=lambda _ctx: [engine], webhooks=LOOPBACK)


@pytest.fixture
def hook(admin: Any, receiver: Receiver) -> Callable[..., int]:
    """`hook(path, type, condition, **webhook)`: create a webhook; its id."""

    def create(path: str, kind: str, condition: Any, **more: Any) -> int:
        triggers = [{"triggerType": f"TRIGGER_TYPE_{kind}", "condition": condition}]
        body = {"url": receiver.url + path, "webhookType": "WEBHOOK_TYPE_DEFAULT", "mode": "WEBHOOK_MODE_WORKSPACE"}
        answer = admin.post("/api/v1/webhooks", {**body, "name": "", "triggers": triggers, **more})
        assert answer.status == 200, answer.raw
        return int(answer.json["webhook"]["id"])

    return create


STATE = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "COMPLETED"}}
METRIC = {"triggerType": "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED"}
SPECIFIC = {"mode": "WEBHOOK_MODE_SPECIFIC"}
SLACK = {"webhookType": "WEBHOOK_TYPE_SLACK"}
DONE = Exit(ExitCause.EXITED, 0, "", 1.0)


def settled(admin: Any, webhook_id: int) -> list[Any]:
    """Deliveries of a webhook once none waits."""
    path, waiting = f"/api/v1/webhooks/{webhook_id}/deliveries", ("DELIVERY_STATE_PENDING", "DELIVERY_STATE_SENDING")
    until(lambda: all(d["state"] not in waiting for d in admin.get(path).json["deliveries"]))
    deliveries: list[Any] = admin.get(path).json["deliveries"]
    return deliveries


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
    for url in ("http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "http://0xa9fea9fe/"):
        assert admin.patch(f"/api/v1/webhooks/{default}", {"url": url}).status == 200
        answer = admin.post(f"/api/v1/webhooks/{default}/test")
        assert answer.status == 400 and "allowed_networks" in answer.message, url
    receiver.close()
    assert admin.patch(f"/api/v1/webhooks/{default}", {"url": receiver.url}).status == 200
    answer = admin.post(f"/api/v1/webhooks/{default}/test")
    assert answer.status == 400 and "does not answer" in answer.message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"triggers": []}, "at least one trigger required"),
        ({"triggers": None}, "at least one trigger required"),
        ({"url": "nowhere"}, "valid url required"),
        ({"webhookType": "WEBHOOK_TYPE_UNSPECIFIED"}, "webhookType"),
        ({"triggers": [{"triggerType": "TRIGGER_TYPE_CUSTOM"}]}, "SPECIFIC"),
        ({"triggers": [{"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "("}}]}, "regex"),
        ({"triggers": [{"triggerType": "TRIGGER_TYPE_UNSPECIFIED"}]}, "unknown"),
        ({"triggers": [{"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "a"}}] * 51}, "50"),
        ({"name": "x" * 201}, "200"),
        ({"workspaceId": 10**6}, "workspace"),
    ],
)
def test_what_makes_no_sense_is_refused(admin: Any, changes: Any, words: str) -> None:
    body = {
        "url": "http://example.com/", "webhookType": "WEBHOOK_TYPE_DEFAULT", "mode": "WEBHOOK_MODE_WORKSPACE",
        "name": "", "triggers": [{"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "x"}}],
    }  # fmt: skip
    answer = admin.post("/api/v1/webhooks", {**body, **changes})
    assert answer.status in (400, 404) and words in answer.message, answer.raw


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"url": "nowhere"}, "url"),
        ({"triggers": []}, "triggers"),
        ({"triggers": [STATE, {"triggerType": "TRIGGER_TYPE_CUSTOM"}]}, "triggers[1]"),
        (
            {"triggers": [STATE, {"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "("}}]},
            "triggers[1].regex",
        ),
        (
            {"triggers": [{**METRIC, "condition": {"metric": "m", "operator": "=<", "value": 1}}]},
            "triggers[0].operator",
        ),
        ({"triggers": [{**METRIC, "condition": {"no_report_for": "soon"}}]}, "triggers[0].no_report_for"),
    ],
)
def test_a_refusal_names_the_field(admin: Any, changes: Any, field: str) -> None:
    answer = admin.post("/api/v1/webhooks", {"url": "http://example.com/", "triggers": [STATE], **changes})
    assert (answer.status, answer.json["error"]["details"]) == (400, {"field": field}), answer.raw


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


def test_a_workspace_has_a_quota_and_users_leave_room_for_administrators(
    admin: Any, user: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = user.post("/api/v1/workspaces", {"name": "own"}).json["workspace"]["id"]

    def create(client: Any, triggers: int, workspace: int | None = own) -> Any:
        trigger = {"triggerType": "TRIGGER_TYPE_TASK_LOG", "condition": {"regex": "a"}}
        body = {"url": "http://example.com/", "triggers": [trigger] * triggers, "workspaceId": workspace}
        return client.post("/api/v1/webhooks", body)

    assert [create(user, 50).status, create(user, 49).status] == [200, 200]
    refused = create(user, 2)
    assert refused.status == 400 and "99 triggers" in refused.message
    assert create(user, 1).status == 200
    monkeypatch.setattr(service, "MAX_WORKSPACE_TRIGGERS", 1000)
    monkeypatch.setattr(service, "MAX_WORKSPACE_WEBHOOKS", 4)
    assert [create(user, 1).status, create(user, 1).status] == [200, 400]
    monkeypatch.setattr(service, "MAX_WORKSPACE_WEBHOOKS", 100)
    monkeypatch.setattr(service, "MAX_WEBHOOKS", 5)
    monkeypatch.setattr(service, "RESERVED_WEBHOOKS", 1)
    assert [create(user, 1).status, create(admin, 1, None).status, create(admin, 1, None).status] == [400, 200, 400]


def test_the_workspaces_of_a_user_share_a_quota(admin: Any, user: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may make any number of workspaces would else take all webhooks of the cluster."""
    monkeypatch.setattr(service, "MAX_OWN_WEBHOOKS", 2)
    trigger = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "ERROR"}}

    def create(client: Any, workspace: int) -> int:
        body = {"url": "http://example.com/", "triggers": [trigger], "workspaceId": workspace}
        return int(client.post("/api/v1/webhooks", body).status)

    own = [user.post("/api/v1/workspaces", {"name": f"own {n}"}).json["workspace"]["id"] for n in range(3)]
    assert [create(user, workspace) for workspace in own] == [200, 200, 400]
    assert create(admin, own[2]) == 200


def test_a_user_tests_one_webhook_at_a_time(user: Any, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test holds a connection for as long as its receiver likes."""
    monkeypatch.setattr(webhook_send, "TIMEOUT_S", 60.0)
    own = user.post("/api/v1/workspaces", {"name": "own"}).json["workspace"]["id"]
    trigger = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "ERROR"}}
    body = {"url": receiver.url, "triggers": [trigger], "workspaceId": own}
    webhook_id = user.post("/api/v1/webhooks", body).json["webhook"]["id"]
    answer = threading.Event()
    receiver.respond = lambda _: (200 if answer.wait(60) else 500, {}, b"")
    statuses: list[int] = []
    tests = [
        threading.Thread(target=lambda: statuses.append(user.post(f"/api/v1/webhooks/{webhook_id}/test").status))
        for _ in range(8)
    ]
    for test in tests:
        test.start()
    until(lambda: statuses == [429] * 3 and bool(receiver.received))
    assert len(receiver.received) == 1
    answer.set()
    for test in tests:
        test.join()
    assert sorted(statuses) == [200] * 5 + [429] * 3


def test_owners_see_and_change_theirs_administrators_all(master: Any, admin: Any, user: Any) -> None:
    own = user.post("/api/v1/workspaces", {"name": "own"}).json["workspace"]["id"]
    foreign = admin.post("/api/v1/workspaces", {"name": "foreign"}).json["workspace"]["id"]
    trigger = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "ERROR"}}

    def create(client: Any, workspace: int | None) -> Any:
        body = {"url": "http://example.com/", "triggers": [trigger], "workspaceId": workspace}
        return client.post("/api/v1/webhooks", body)

    mine, theirs, everywhere = create(user, own), create(admin, foreign), create(admin, None)
    assert [mine.status, theirs.status, everywhere.status] == [200, 200, 200]
    assert create(user, None).status == 403 and create(user, foreign).status == 403
    ids = [answer.json["webhook"]["id"] for answer in (mine, theirs, everywhere)]
    assert [row["id"] for row in user.get("/api/v1/webhooks").json["webhooks"]] == [ids[0], ids[2]]
    assert [row["id"] for row in admin.get("/api/v1/webhooks").json["webhooks"]] == ids
    for webhook_id in ids[1:]:
        path = f"/api/v1/webhooks/{webhook_id}"
        assert user.patch(path, {"url": "http://h/"}).status == 403
        assert user.delete(path).status == 403
        assert user.post(f"{path}/test").status == 403
        assert user.get(f"{path}/deliveries").status == 403
    assert user.delete(f"/api/v1/webhooks/{ids[0]}").status == 200
    assert user.get("/api/v1/webhooks/signing-key").status == 403
    assert admin.get("/api/v1/webhooks/signing-key").json == {"signingKey": "secret"}


def test_the_url_of_a_webhook_is_shown_to_whoever_may_manage_it(admin: Any, user: Any) -> None:
    own = user.post("/api/v1/workspaces", {"name": "own"}).json["workspace"]["id"]
    trigger = {"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": "ERROR"}}
    url = "https://hooks.example:8443/services/T0/secret?key=secret"
    for client, workspace in ((admin, None), (user, own)):
        answer = client.post("/api/v1/webhooks", {"url": url, "triggers": [trigger], "workspaceId": workspace})
        assert answer.json["webhook"]["url"] == url
    assert [row["url"] for row in admin.get("/api/v1/webhooks").json["webhooks"]] == [url, url]
    shown = [row["url"] for row in user.get("/api/v1/webhooks").json["webhooks"]]
    assert shown == ["https://hooks.example:8443/...", url]


def test_events_of_a_webhook_with_a_full_queue_are_dropped(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "MAX_WAITING", 2)
    receiver.respond = lambda _: (500, {}, b"down")
    webhook_id = hook("/full", "TASK_LOG", {"regex": "boom"})
    for _ in range(4):
        submit_trial().send(LogLine("boom", 1.0))
    assert len(admin.get(f"/api/v1/webhooks/{webhook_id}/deliveries").json["deliveries"]) == 2


def test_alerts_that_a_full_queue_does_not_take_are_refused_or_named_in_the_log(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "MAX_WAITING", 3)
    receiver.respond = lambda _: (500, {}, b"down")
    first, second = (hook(f"/{name}", "CUSTOM", {}, name=name, **SPECIFIC) for name in ("a", "b"))
    trial = submit_trial(integrations={"webhooks": {"webhook_name": ["a", "b"]}})
    trial.send(*(Alert(f"n{n}", "", "INFO") for n in range(5)))
    for webhook_id in (first, second):
        rows = admin.get(f"/api/v1/webhooks/{webhook_id}/deliveries").json["deliveries"]
        titles = [json.loads(row["payload"])["event_data"]["custom_data"]["title"] for row in rows]
        assert titles == ["n2", "n1", "n0"], "what came first is kept"
    lines = [line["result"]["message"] for line in admin.lines(f"/api/v1/trials/{trial.trial_id}/logs")]
    assert any(f"2 alert(s) were dropped: 3 deliveries wait for webhook {first};" in line for line in lines), lines
    body = {"experimentId": trial.experiment_id, "data": {"title": "one more"}}
    refused = admin.post("/api/v1/webhooks/custom", body)
    assert (refused.status, "3 deliveries wait for webhook" in refused.message) == (429, True)
    receiver.respond = lambda _: (200, {}, b"back")
    for webhook_id in (first, second):
        settled(admin, webhook_id)
    assert admin.post("/api/v1/webhooks/custom", body).status == 200, "an empty queue takes alerts again"


def test_deliveries_are_paged_and_filtered(
    hook: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], admin: Any
) -> None:
    webhook_id = hook("/a", "CUSTOM", {}, name="mine", **SPECIFIC)
    trial = submit_trial(integrations={"webhooks": {"webhook_name": ["mine"]}})
    trial.send(*(Alert(f"n{n}", "", "INFO") for n in range(5)))
    settled(admin, webhook_id)
    path = f"/api/v1/webhooks/{webhook_id}/deliveries"
    page = admin.get(path, fields={"limit": 2, "offset": 1}).json
    titles = [json.loads(row["payload"])["event_data"]["custom_data"]["title"] for row in page["deliveries"]]
    assert (titles, page["pagination"]["total"]) == (["n3", "n2"], 5)
    assert admin.get(path, fields={"states": "DELIVERY_STATE_FAILED"}).json["deliveries"] == []
