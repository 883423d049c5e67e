"""Custom searches over HTTP: waiting for events, answering them once, what is refused, who may."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from determined.master import app
from determined.master.lifecycle import searchers
from determined.master.services import long_poll

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "22222222-2222-4222-8222-222222222222"
CUSTOM = {"name": "custom", "metric": "loss", "smaller_is_better": True, "unit": "batches"}


class Search:
    """One custom experiment and the calls its client makes."""

    def __init__(self, client: Any, submit: Callable[..., dict[str, Any]], *, activate: bool = True) -> None:
        self.client = client
        self.id = int(submit(client, activate=activate, searcher=CUSTOM)["experiment"]["id"])
        self.path = f"/api/v1/experiments/{self.id}"

    def events(self, client: Any = None, seconds: float = 0) -> list[dict[str, Any]]:
        answer = (client or self.client).get(f"{self.path}/searcher_events", fields={"timeoutSeconds": seconds})
        assert answer.status == 200, answer.raw
        found: list[dict[str, Any]] = answer.json["searcherEvents"]
        return found

    def post(self, event_id: Any, *operations: dict[str, Any], client: Any = None) -> Any:
        body = {"searcherOperations": list(operations), "triggeredByEvent": event_id}
        return (client or self.client).post(f"{self.path}/searcher_operations", body)

    def trials(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get(f"{self.path}/trials").json["trials"]
        return found

    def state(self) -> str:
        return str(self.client.get(self.path).json["experiment"]["state"])


def create(request_id: str = ONE, hyperparams: str = '{"lr": 0.5, "net": {"width": 8}}') -> dict[str, Any]:
    return {"createTrial": {"requestId": request_id, "hyperparams": hyperparams}}


def validate_after(length: Any, request_id: str = ONE) -> dict[str, Any]:
    return {"trialOperation": {"validateAfter": {"requestId": request_id, "length": length}}}


def close(request_id: str = ONE) -> dict[str, Any]:
    return {"closeTrial": {"requestId": request_id}}


def kind(event: dict[str, Any]) -> str:
    return next(key for key in event if key != "id")


@pytest.fixture
def search(user: Any, submit: Callable[..., dict[str, Any]]) -> Search:
    return Search(user, submit)


def test_a_search_goes_from_its_first_event_to_its_shutdown(search: Search, user: Any) -> None:
    assert search.events() == [{"id": 1, "initialOperations": {}}]
    assert search.post({"id": 1, "initialOperations": {}}, create(), validate_after("10")).status == 200
    assert search.events() == [{"id": 2, "trialCreated": {"requestId": ONE}}]
    [trial] = search.trials()
    assert trial["hparams"] == {"lr": 0.5, "net": {"width": 8}}
    operation = user.get(f"/api/v1/trials/{trial['id']}/searcher/operation").json
    assert operation["op"]["validateAfter"]["length"] == 10 and not operation["completed"]

    done = {"op": {"length": "10"}, "searcherMetric": {"loss": 0.5, "curve": [2, 1]}}
    assert user.post(f"/api/v1/trials/{trial['id']}/searcher/completed_operation", done).status == 200
    [_, event] = search.events()
    told = {"requestId": ONE, "metric": {"loss": 0.5, "curve": [2, 1]}, "validateAfterLength": "10"}
    assert event == {"id": 3, "validationCompleted": told}

    assert search.post(3, close(), {"setSearcherProgress": {"progress": 0.75}}).status == 200
    assert user.get(search.path).json["experiment"]["progress"] == 0.75
    assert [kind(e) for e in search.events()] == ["trialClosed"]
    assert search.state() == "STATE_QUEUED", "a custom search ends when its client says so"
    assert search.post(4, {"shutDown": {}}).status == 200
    assert search.state() == "STATE_COMPLETED"
    assert search.events() == [{"id": -1, "experimentInactive": {"experimentState": "STATE_COMPLETED"}}]


@pytest.mark.parametrize(
    ("how", "state"), [({}, "COMPLETED"), ({"cancel": True}, "CANCELED"), ({"failure": True}, "ERROR")]
)
def test_a_shutdown_says_how_the_experiment_ends(search: Search, how: dict[str, bool], state: str) -> None:
    search.post(1, create(), validate_after(5))
    assert search.post(2, {"shutDown": how}).status == 200
    assert search.state() == f"STATE_{state}"


def test_an_answer_sent_twice_is_carried_out_once(search: Search) -> None:
    assert search.post(1, create()).status == 200
    assert search.post(1, create()).status == 200
    assert search.post("1", create(TWO)).status == 200
    assert len(search.trials()) == 1
    search.post(2, {"shutDown": {}})
    assert search.post(2, {"shutDown": {}}).status == 200, "the answer to the last post may have been lost"
    assert search.state() == "STATE_COMPLETED"


@pytest.mark.parametrize(
    ("event_id", "operations", "message"),
    [
        (99, [], "triggeredByEvent 99 was never sent"),
        (1, [create(TWO), create(TWO)], r"searcherOperations[1]: createTrial: request id"),
        (1, [create(TWO, "{")], r"searcherOperations[0]: createTrial: hyperparams are not JSON"),
        (1, [create(TWO, '{"a":' * 600 + "1" + "}" * 600)], "nested deeper than 100 levels"),
        (1, [create(TWO, r'{"a": "\ud800"}')], "half a surrogate pair"),
        (1, [create(TWO), close(ONE)], r"searcherOperations[1]: closeTrial: no trial has request id"),
        (1, [create(TWO), {"what": {}}], r"searcherOperations[1]"),
        (1, [create(TWO), validate_after(7, TWO), validate_after(6, TWO)], r"searcherOperations[2]: validateAfter"),
        (1, [create(TWO), {"closeTrial": {"requestId": 5}}], "searcherOperations[1]"),
    ],
)
def test_a_bad_operation_is_named_and_nothing_of_its_post_is_done(
    search: Search, event_id: int, operations: list[dict[str, Any]], message: str
) -> None:
    answer = search.post(event_id, *operations)
    assert answer.status == 400
    assert message in answer.message
    assert search.trials() == []
    assert search.events() == [{"id": 1, "initialOperations": {}}]
    assert search.post(1, create()).status == 200, "the search goes on"
    assert len(search.trials()) == 1


def test_a_paused_experiment_says_so_and_still_takes_answers(search: Search, user: Any) -> None:
    user.post(f"{search.path}/pause")
    assert search.events() == [{"id": -1, "experimentInactive": {"experimentState": "STATE_PAUSED"}}]
    assert search.post(1, create(), validate_after(3)).status == 200
    assert [trial["state"] for trial in search.trials()] == ["STATE_PAUSED"]
    user.post(f"{search.path}/activate")
    assert [kind(e) for e in search.events()] == ["trialCreated"]


def test_a_trial_that_was_never_told_to_train_ends_when_it_is_closed(search: Search) -> None:
    search.post(1, create(), close())
    assert [trial["state"] for trial in search.trials()] == ["STATE_COMPLETED"]
    assert [kind(e) for e in search.events()] == ["trialCreated", "trialClosed"]


def test_a_killed_trial_is_told_as_canceled_and_later_operations_on_it_are_harmless(search: Search, user: Any) -> None:
    search.post(1, create(), validate_after(3))
    user.post(f"/api/v1/trials/{search.trials()[0]['id']}/kill")
    [_, early, closed] = search.events()
    assert early["trialExitedEarly"] == {"requestId": ONE, "exitedReason": "EXITED_REASON_USER_CANCELED"}
    assert kind(closed) == "trialClosed"
    assert search.post(2, validate_after(9), close()).status == 200
    assert [trial["state"] for trial in search.trials()] == ["STATE_CANCELED"]


def until_it_waits(search: Search, master: Any) -> None:
    deadline = time.monotonic() + 60
    while not master.ctx.bus._waiters.get(f"experiment:{search.id}"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_waiting_client_hears_of_an_event_at_once(
    search: Search, user: Any, master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Woken by the report: there is no look now and then."""
    monkeypatch.setattr(long_poll, "_REREAD_SECONDS", 3600.0)
    search.post(1, create(), validate_after(3))
    search.post(2)
    trial = search.trials()[0]["id"]
    heard: list[Any] = []
    waiter = threading.Thread(target=lambda: heard.extend(search.events(seconds=600)))
    waiter.start()
    until_it_waits(search, master)
    body = {"op": {"length": 3}, "searcherMetric": 1.5}
    assert user.post(f"/api/v1/trials/{trial}/searcher/completed_operation", body).status == 200
    waiter.join(60)
    assert [kind(e) for e in heard] == ["validationCompleted"]


def test_a_waiting_client_is_let_go_when_the_master_stops(
    search: Search, master: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "_ANSWER_SECONDS", 60)  # however slow, it gets its answer
    master._server.config.timeout_graceful_shutdown = 60
    search.post(1)
    answers: list[Any] = []
    waiter = threading.Thread(target=lambda: answers.append(search.events(seconds=600)))
    waiter.start()
    until_it_waits(search, master)
    master.stop()
    waiter.join(60)
    assert answers == [[]]


def test_looking_at_events_leaves_the_searcher_of_the_writer_alone(search: Search) -> None:
    search.post(1, create())
    held = dict(searchers._cache._held)
    assert [kind(e) for e in search.events()] == ["trialCreated"]
    assert searchers._cache._held == held


def test_the_queue_is_the_same_when_it_is_rebuilt_from_the_database(
    search: Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searchers, "SNAPSHOT_EVERY", 3)
    search.post(1, create(), create(TWO), validate_after(3), validate_after(4, TWO))
    for length in range(5, 12):
        search.post(None, validate_after(length, TWO))
        searchers._cache._held.clear()
    assert [e["id"] for e in search.events()] == [2, 3]
    assert search.post(1, create()).status == 200, "acknowledged before, ignored now"
    assert len(search.trials()) == 2


def test_only_the_owner_and_administrators_steer_a_search(search: Search, admin: Any, master: Any) -> None:
    admin.post("/api/v1/users", {"user": {"username": "eve", "active": True, "admin": False}})
    eve = master.client("eve")
    assert eve.get(f"{search.path}/searcher_events").status == 403
    assert search.post(1, create(), client=eve).status == 403
    assert search.trials() == []
    assert [kind(e) for e in search.events(admin)] == ["initialOperations"]
    assert search.post(1, create(), client=admin).status == 200
    assert master.anonymous.get(f"{search.path}/searcher_events").status == 401


def test_an_experiment_with_a_searcher_of_its_own_has_no_events(user: Any, submit: Callable[..., Any]) -> None:
    other = int(submit(user)["experiment"]["id"])
    answer = user.get(f"/api/v1/experiments/{other}/searcher_events")
    assert answer.status == 400 and "'single' decides by itself" in answer.message
    assert user.post(f"/api/v1/experiments/{other}/searcher_operations", {}).status == 400
    assert user.get("/api/v1/experiments/999/searcher_events").status == 404


def test_a_managed_experiment_is_submitted_once_under_an_external_id(user: Any, config: Callable[..., Any]) -> None:
    body = {"config": json.dumps(config(searcher=CUSTOM)), "activate": True}
    first = user.put("/api/v1/experiments/by-external-id/mine", body)
    again = user.put("/api/v1/experiments/by-external-id/mine", body)
    assert first.status == again.status == 200
    assert first.json["experiment"]["id"] == again.json["experiment"]["id"]
    assert not first.json["experiment"].get("unmanaged")
    assert user.get("/api/v1/experiments").json["pagination"]["total"] == 1
