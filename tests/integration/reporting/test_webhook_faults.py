"""Deliveries to receivers that fail, hang, redirect, or come back after a day; masters that stop in between."""

import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection
from tracked import IdleEngine, MovedClock, Tracked, one, submit, until, write

from determined.master.background import webhooks as background
from determined.master.db.queries import webhook_delivery
from determined.master.lifecycle import unmanaged
from determined.master.lifecycle import webhooks as lifecycle
from determined.master.services import webhook_send
from determined.wire.report import Alert, LogLine, MetricReport, Phase
from webhook_receiver import Received, Receiver

LOOPBACK = {"allowed_networks": ["127.0.0.0/8"]}
STATES = ("ACTIVE", "ERROR")


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def master(start_master: Callable[..., Any], db_url: str, engine: IdleEngine, clock: MovedClock) -> Any:
    return start_master(db_url, engine_factory=lambda _ctx: [engine], clock=clock, webhooks=LOOPBACK)


def create(admin: Any, url: str, kind: str = "CUSTOM", condition: Any = None, name: str = "mine") -> int:
    triggers = [{"triggerType": f"TRIGGER_TYPE_{kind}", "condition": condition or {}}]
    body = {"url": url, "name": name, "mode": "WEBHOOK_MODE_SPECIFIC", "triggers": triggers}
    answer = admin.post("/api/v1/webhooks", body)
    assert answer.status == 200, answer.raw
    return int(answer.json["webhook"]["id"])


def naming(*names: str) -> dict[str, Any]:
    return {"integrations": {"webhooks": {"webhook_name": list(names)}}}


def deliveries(admin: Any, webhook_id: int) -> list[Any]:
    rows: list[Any] = admin.get(f"/api/v1/webhooks/{webhook_id}/deliveries").json["deliveries"]
    return rows


def until_state(admin: Any, webhook_id: int, state: str) -> Any:
    until(lambda: {row["state"] for row in deliveries(admin, webhook_id)} == {f"DELIVERY_STATE_{state}"})
    return deliveries(admin, webhook_id)[0]


def unmanaged_trial(user: Any, **config: Any) -> dict[str, Any]:
    """A trial whose client has not started it yet."""
    raw = {"name": "u", "searcher": {"name": "single", "metric": "m"}, **config}
    body = {"config": json.dumps(raw), "unmanaged": True}
    experiment_id = user.post("/api/v1/experiments", body).json["experiment"]["id"]
    made: dict[str, Any] = user.post("/api/v1/trials", {"experimentId": experiment_id, "unmanaged": True}).json["trial"]
    return made


def start_unmanaged(user: Any, trial: dict[str, Any]) -> None:
    assert user.post(f"/api/v1/trials/{trial['id']}/start", {"resume": True}).status == 200


def test_a_receiver_that_fails_for_a_day_gets_every_event_in_the_end(
    admin: Any, receiver: Receiver, clock: MovedClock, submit_trial: Callable[..., Tracked]
) -> None:
    receiver.respond = lambda _: (500, {}, b"broken")
    webhook_id = create(admin, receiver.url)
    trial = submit_trial(**naming("mine"))
    trial.send(Alert("first", "", "INFO"), Alert("second", "", "INFO"))
    receiver.wait(1)
    for hour in range(4):
        before = len(receiver.received)
        clock.move(hours=6)
        receiver.wait(before + 1)
        assert all(row["state"] != "DELIVERY_STATE_FAILED" for row in deliveries(admin, webhook_id)), hour
    row = deliveries(admin, webhook_id)[-1]
    assert (row["statusCode"], row["answer"]) == (500, "broken") and "500" in row["error"]
    receiver.respond = lambda _: (200, {}, b"back")
    clock.move(hours=1)
    until(lambda: clock.move(minutes=1) or until_all_delivered(admin, webhook_id))
    good = {r.json["event_id"] for r in receiver.received}
    assert len(good) == 2, "attempts of one event have one event_id"


def until_all_delivered(admin: Any, webhook_id: int) -> bool:
    return {row["state"] for row in deliveries(admin, webhook_id)} == {"DELIVERY_STATE_DELIVERED"}


def test_an_event_is_given_up_after_three_days(
    admin: Any, receiver: Receiver, clock: MovedClock, submit_trial: Callable[..., Tracked]
) -> None:
    receiver.respond = lambda _: (502, {}, b"")
    webhook_id = create(admin, receiver.url)
    submit_trial(**naming("mine")).send(Alert("a", "", "INFO"))
    until(lambda: deliveries(admin, webhook_id)[0]["attempts"] == 1)  # its answer is written
    clock.move(days=3, hours=1)
    assert until_state(admin, webhook_id, "FAILED")["attempts"] == 2


@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (404, {}, "404"),
        (302, {"Location": "http://169.254.169.254/latest/meta-data/"}, "redirects are not followed"),
        (307, {"Location": "/elsewhere"}, "redirects are not followed"),
    ],
)
def test_refusals_and_redirects_are_final(
    admin: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], status: int, headers: Any, words: str
) -> None:
    receiver.respond = lambda _: (status, headers, b"no")
    webhook_id = create(admin, receiver.url)
    submit_trial(**naming("mine")).send(Alert("a", "", "INFO"))
    row = until_state(admin, webhook_id, "FAILED")
    assert (row["statusCode"], row["attempts"]) == (status, 1) and words in row["error"]
    assert len(receiver.received) == 1


def test_an_address_that_is_not_allowed_is_never_called(admin: Any, submit_trial: Callable[..., Tracked]) -> None:
    webhook_id = create(admin, "http://169.254.169.254/latest/meta-data/")
    submit_trial(**naming("mine")).send(Alert("a", "", "INFO"))
    row = until_state(admin, webhook_id, "FAILED")
    assert "allowed_networks" in row["error"] and "statusCode" in row and row["statusCode"] is None


def test_a_receiver_that_hangs_delays_nobody_else_and_holds_no_transaction(
    admin: Any,
    receiver: Receiver,
    submit_trial: Callable[..., Tracked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook_send, "TIMEOUT_S", 1.0)
    answered = threading.Event()

    def hang(request: Received) -> tuple[int, dict[str, str], bytes]:
        if request.path == "/hangs":
            answered.wait(60)
        return 200, {}, b""

    receiver.respond = hang
    slow, quick = create(admin, receiver.url + "/hangs", name="slow"), create(admin, receiver.url + "/q", name="quick")
    trial = submit_trial(**naming("slow", "quick"))
    trial.send(*(Alert(f"a{n}", "", "INFO") for n in range(20)))
    receiver.wait(20, "/q")
    until_state(admin, quick, "DELIVERED")
    trial.send(MetricReport("training", 1, {"loss": 1.0}, 1.0))
    until(lambda: any("within 1 s" in (row["error"] or "") for row in deliveries(admin, slow)))
    assert len(receiver.at("/hangs")) < 20, "one failure pauses the webhook instead of 20 waits"
    answered.set()


def test_a_poisoned_event_does_not_hold_up_the_others(
    admin: Any, receiver: Receiver, clock: MovedClock, submit_trial: Callable[..., Tracked]
) -> None:
    receiver.respond = lambda r: (500, {}, b"") if b"poison" in r.body else (200, {}, b"")
    webhook_id = create(admin, receiver.url)
    submit_trial(**naming("mine")).send(Alert("poison", "", "INFO"), *(Alert(f"a{n}", "", "INFO") for n in range(15)))
    until(lambda: sum(row["state"] == "DELIVERY_STATE_DELIVERED" for row in deliveries(admin, webhook_id)) == 15)


def test_a_slow_batch_is_given_back_and_sent_in_turns(
    admin: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[int] = []
    release = webhook_delivery.release

    def release_noted(conn: Any, delivery_ids: Any) -> None:
        given_back.append(len(delivery_ids))
        release(conn, delivery_ids)

    monkeypatch.setattr(background, "_BATCH_S", 0.0)
    monkeypatch.setattr(webhook_delivery, "release", release_noted)
    webhook_id = create(admin, receiver.url)
    submit_trial(**naming("mine")).send(*(Alert(f"a{n}", "", "INFO") for n in range(3)))
    receiver.wait(3)
    until_state(admin, webhook_id, "DELIVERED")
    assert given_back[:2] == [2, 1] and len(receiver.received) == 3


@pytest.mark.parametrize("change", ["address", "webhook", "workspace"])
def test_what_is_claimed_already_follows_a_change(
    master: Any, admin: Any, receiver: Receiver, submit_trial: Callable[..., Tracked], change: str
) -> None:
    answered = threading.Event()

    def respond(request: Received) -> tuple[int, dict[str, str], bytes]:
        if request.path == "/old":
            answered.wait(60)
        return 200, {}, b""

    receiver.respond = respond
    workspace = admin.post("/api/v1/workspaces", {"name": "short"}).json["workspace"]["id"]
    webhook_id = create(admin, f"{receiver.url}/old")
    submit_trial(**naming("mine")).send(*(Alert(f"a{n}", "", "INFO") for n in range(3)))
    receiver.wait(1, "/old")
    if change == "address":
        assert admin.patch(f"/api/v1/webhooks/{webhook_id}", {"url": f"{receiver.url}/new"}).status == 200
    elif change == "webhook":
        assert admin.delete(f"/api/v1/webhooks/{webhook_id}").status == 200
    else:
        sql = f"UPDATE webhooks SET workspace_id = {workspace}"  # an event of another workspace cannot be queued for it
        write(master, lambda conn: conn.exec_driver_sql(sql))
        assert admin.delete(f"/api/v1/workspaces/{workspace}").status == 200
    answered.set()
    if change == "address":
        receiver.wait(2, "/new")
    else:
        create(admin, f"{receiver.url}/later", name="later")
        submit_trial(**naming("later")).send(Alert("later", "", "INFO"))
        receiver.wait(1, "/later")
    assert len(receiver.at("/old")) == 1, "the two behind it were claimed with it"


@pytest.mark.parametrize("answer_s", [0.0, 0.5], ids=["quick", "slow"])
def test_what_was_answered_is_not_sent_again_by_the_next_master(
    start_master: Callable[..., Any], db_url: str, engine: IdleEngine, receiver: Receiver, answer_s: float
) -> None:
    def respond(_: Received) -> tuple[int, dict[str, str], bytes]:
        time.sleep(answer_s)
        return 200, {}, b"ok"

    receiver.respond = respond
    count = 3 if answer_s else 30
    first = start_master(db_url, engine_factory=lambda _ctx: [engine], webhooks=LOOPBACK)
    admin = first.client("admin")
    webhook_id = create(admin, receiver.url)
    trial = submit(first, engine, **naming("mine"))
    trial.send(*(Alert(f"a{n}", "", "INFO") for n in range(count)))
    receiver.wait(1 if answer_s else 5)
    first.stop()
    second = start_master(db_url, engine_factory=lambda _ctx: [IdleEngine()], webhooks=LOOPBACK)
    until_state(second.client("admin"), webhook_id, "DELIVERED")
    events = [request.json["event_id"] for request in receiver.received]
    assert (len(events), len(set(events))) == (count, count), "none is lost, and an orderly stop doubles none"


def test_what_a_dead_master_had_claimed_is_sent_by_the_next(
    start_master: Callable[..., Any], db_url: str, engine: IdleEngine, receiver: Receiver
) -> None:
    first = start_master(db_url, engine_factory=lambda _ctx: [engine], webhooks=LOOPBACK)
    webhook_id = create(first.client("admin"), receiver.url)
    submit(first, engine, **naming("mine")).send(Alert("a", "", "INFO"))
    until_state(first.client("admin"), webhook_id, "DELIVERED")
    sql = "UPDATE webhook_deliveries SET state = 'SENDING', finished_at = NULL, claimed_by = 'dead'"
    write(first, lambda conn: conn.exec_driver_sql(sql))
    first.stop()
    second = start_master(db_url, engine_factory=lambda _ctx: [IdleEngine()], webhooks=LOOPBACK)
    until_state(second.client("admin"), webhook_id, "DELIVERED")
    events = [request.json["event_id"] for request in receiver.received]
    assert len(events) == 2 and len(set(events)) == 1, "with the same event_id"


def test_silent_trials_that_do_not_name_a_webhook_do_not_hide_those_that_do(
    admin: Any,
    master: Any,
    receiver: Receiver,
    clock: MovedClock,
    submit_trial: Callable[..., Tracked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lifecycle, "_SILENT_AT_ONCE", 1)
    create(admin, receiver.url, "METRIC_THRESHOLD_EXCEEDED", {"no_report_for": "30m"})
    trials = [submit_trial(), submit_trial(**naming("mine"))]
    for trial in trials:
        trial.send(Phase("RUNNING", 1.0), source="logs")
    clock.move(minutes=40)
    for _ in trials:
        write(master, lambda conn: lifecycle.queue_silences(conn, clock.now(), lifecycle.silence_triggers(conn)))
    assert one(master, "SELECT count(*) FROM webhook_deliveries") == 1
    (request,) = receiver.wait(1)
    assert request.json["event_data"]["metric"]["trial_id"] == trials[1].trial_id


def test_writer_gets_only_the_triggers_that_a_silent_trial_meets(
    admin: Any,
    master: Any,
    receiver: Receiver,
    clock: MovedClock,
    submit_trial: Callable[..., Tracked],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queued: list[float] = []
    queue = lifecycle.queue_silences

    def record(conn: Connection, now: datetime, triggers: Sequence[lifecycle.Silence]) -> bool:
        queued.extend(trigger.seconds for trigger in triggers)
        return queue(conn, now, triggers)

    monkeypatch.setattr(lifecycle, "queue_silences", record)
    for limit in ("30m", "50m", "70m"):
        create(admin, receiver.url, "METRIC_THRESHOLD_EXCEEDED", {"no_report_for": limit})
    clock.move(minutes=80)
    submit_trial(**naming("mine")).send(Phase("RUNNING", 1.0), source="logs")
    clock.move(minutes=40)
    receiver.wait(1)
    assert queued == [30 * 60]


def test_a_trial_that_falls_silent_is_told_of_once(
    admin: Any, master: Any, receiver: Receiver, clock: MovedClock, submit_trial: Callable[..., Tracked]
) -> None:
    webhook_id = create(admin, receiver.url, "METRIC_THRESHOLD_EXCEEDED", {"no_report_for": "30m"})
    trial = submit_trial(**naming("mine"))
    trial.send(Phase("RUNNING", 1.0), source="logs")
    clock.move(minutes=20)
    trial.send(MetricReport("training", 1, {"loss": 1.0}, 1.0))
    clock.move(minutes=20)
    trial.send(LogLine("still here", 1.0))
    until(lambda: one(master, "SELECT count(*) FROM trial_report_times") == 1)
    assert deliveries(admin, webhook_id) == []
    clock.move(minutes=15)
    (request,) = receiver.wait(1)
    told = request.json["event_data"]["metric"]
    assert told["trial_id"] == trial.trial_id and 30 * 60 <= told["silent_seconds"] < 40 * 60
    assert request.json["condition"] == {"no_report_for": "30m"}
    clock.move(hours=5)
    until_state(admin, webhook_id, "DELIVERED")
    assert len(receiver.received) == 1


def test_an_unmanaged_trial_is_silent_since_the_start_of_its_run(
    admin: Any, user: Any, master: Any, receiver: Receiver, clock: MovedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unmanaged, "SILENCE", timedelta(days=1))  # its signs of life are not what is tested
    webhook_id = create(admin, receiver.url, "METRIC_THRESHOLD_EXCEEDED", {"no_report_for": "30m"})
    waiting, trial = unmanaged_trial(user, **naming("mine")), unmanaged_trial(user, **naming("mine"))
    start_unmanaged(user, trial)
    clock.move(minutes=20)
    start_unmanaged(user, trial)
    clock.move(minutes=20)
    write(master, lambda conn: lifecycle.queue_silences(conn, clock.now(), lifecycle.silence_triggers(conn)))
    assert deliveries(admin, webhook_id) == [], "its second run is 20 minutes old"
    clock.move(minutes=15)
    (request,) = receiver.wait(1)
    told = request.json["event_data"]["metric"]
    assert told["trial_id"] == trial["id"] != waiting["id"]
    assert 30 * 60 <= told["silent_seconds"] < 40 * 60


def test_an_unmanaged_trial_that_comes_and_goes_is_told_of_once_unless_it_went_on(
    admin: Any, user: Any, master: Any, clock: MovedClock
) -> None:
    """Its machine loses the network again and again: the master takes it for dead, then a sign of life arrives."""
    hook = {"url": "http://127.0.0.1:9/", "name": "mine", "mode": "WEBHOOK_MODE_SPECIFIC"}
    states = [{"triggerType": "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE", "condition": {"state": s}} for s in STATES]
    webhook_id = admin.post("/api/v1/webhooks", {**hook, "triggers": states}).json["webhook"]["id"]
    trial = unmanaged_trial(user, **naming("mine"))
    metrics = {"trialId": trial["id"], "metrics": {"avgMetrics": {"loss": 1}}}

    def told() -> list[str]:
        rows = reversed(deliveries(admin, webhook_id))
        return [json.loads(row["payload"])["condition"]["state"] for row in rows]

    def fall_silent() -> None:
        clock.move(minutes=6)
        write(master, lambda conn: unmanaged.sweep(conn, clock.now(), clock.now() - timedelta(days=1)))
        assert user.get(f"/api/v1/trials/{trial['id']}").json["trial"]["state"] == "STATE_ERROR"

    def come_back() -> None:
        patch = {"trialId": trial["id"], "state": "STATE_RUNNING"}
        assert user.patch(f"/api/v1/trials/{trial['id']}", patch).json["trial"]["state"] == "STATE_RUNNING"

    def report(run: int, step: int) -> None:
        sent = {**metrics, "trialRunId": run, "stepsCompleted": step}
        assert user.post(f"/api/v1/trials/{trial['id']}/metrics", {"group": "training", "metrics": sent}).status == 200

    start_unmanaged(user, trial)
    fall_silent()
    assert told() == ["ACTIVE", "ERROR"]
    for _ in range(2):
        come_back()
        fall_silent()
    assert told() == ["ACTIVE", "ERROR"], "nothing new has happened"
    come_back()
    report(1, 1)
    fall_silent()
    assert told() == ["ACTIVE", "ERROR", "ERROR"], "it went on, and failed again"
    start_unmanaged(user, trial)
    fall_silent()
    assert told() == ["ACTIVE", "ERROR", "ERROR", "ACTIVE", "ERROR"], "another run"
