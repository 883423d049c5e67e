"""Limits of webhooks: refused requests, quotas, rights of users, full queues; and pages of deliveries."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tracked import IdleEngine, Tracked, until
from webhook_calls import LOOPBACK, METRIC, SPECIFIC, STATE, settled

from determined.master.lifecycle import webhooks as lifecycle
from determined.master.services import webhook as service
from determined.master.services import webhook_send
from determined.wire.report import Alert, LogLine
from webhook_receiver import Receiver


@pytest.fixture
def master(start_master: Callable[..., Any], db_url: str, engine: IdleEngine) -> Any:
    return start_master(db_url, engine_factory=lambda _ctx: [engine], webhooks=LOOPBACK)


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
