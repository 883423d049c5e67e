"""kill -9 of the master in the middle of deliveries: no event is lost, and only what was on its way may come twice."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import urllib3

from cluster import Client, Cluster, eventually, write_experiment
from webhook_receiver import Received, Receiver

pytestmark = pytest.mark.timeout(600)

EVENTS, KILLS = 300, 5


class Answers:
    """Answers that take a moment; those of requests that come during a `hold` wait for its end."""

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()
        self.held = threading.Event()

    def __call__(self, _: Received) -> tuple[int, dict[str, str], bytes]:
        time.sleep(0.01)
        if not self._free.is_set():
            self.held.set()
            self._free.wait(60)
        return 200, {}, b""

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Wait until a request waits for its answer; it gets one when the context is left."""
        self._free.clear()
        try:
            assert self.held.wait(60), "no request has come"
            yield
        finally:
            self._free.set()


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/1.1"], ids=["closes", "keeps_open"])
def test_five_kills_in_the_middle_of_deliveries_lose_none(tmp_path: Path, protocol: str) -> None:
    answers = Answers()
    receiver = Receiver(answers, protocol=protocol)
    cluster = Cluster(tmp_path / "cluster", config={"webhooks": {"allowed_networks": ["127.0.0.0/8"]}})
    cluster.start()
    try:
        acknowledged = _alert_while_killing(cluster, receiver, answers, tmp_path)
        eventually(lambda: acknowledged <= _titles(receiver).keys())
        events = Counter(request.json["event_id"] for request in receiver.received)
        doubled = [event for event, count in events.items() if count > 1]
        assert len(doubled) <= KILLS, "each kill may double the one request that was on its way"
        assert max(events.values()) == 2, "the request that waited for its answer at the last kill comes again"
    finally:
        cluster.stop()
        cluster.end_runners()
        receiver.close()


def _titles(receiver: Receiver) -> Counter[str]:
    return Counter(request.json["event_data"]["custom_data"]["title"] for request in receiver.received)


def _alert_while_killing(cluster: Cluster, receiver: Receiver, answers: Answers, tmp_path: Path) -> set[str]:
    """Send alerts and kill the master now and then, at last while it waits for an answer.

    Return the titles that it has acknowledged.
    """
    admin = Client(cluster.url, "admin")
    hook = {"url": receiver.url, "name": "mine", "mode": "WEBHOOK_MODE_SPECIFIC"}
    admin.post("/api/v1/webhooks", {**hook, "triggers": [{"triggerType": "TRIGGER_TYPE_CUSTOM"}]})
    choice = {"integrations": {"webhooks": {"webhook_name": ["mine"]}}}
    experiment = admin.submit(write_experiment(tmp_path / "model", "print(1)", choice))
    admin.wait_state(experiment, "COMPLETED")
    acknowledged: set[str] = set()
    sending = threading.Thread(target=_send_all, args=(admin, experiment, acknowledged))
    sending.start()
    chance = random.Random(5)
    for kill in range(KILLS):
        receiver.wait(20 * (kill + 1), seconds=180)
        time.sleep(chance.uniform(0, 0.05))
        with answers.hold() if kill == KILLS - 1 else nullcontext():
            cluster.kill()
        cluster.start()
    sending.join()
    return acknowledged


def _send_all(admin: Client, experiment: int, acknowledged: set[str]) -> None:
    for n in range(EVENTS):
        body: dict[str, Any] = {"experimentId": experiment, "data": {"title": f"event {n}"}}
        while f"event {n}" not in acknowledged:
            try:
                admin.post("/api/v1/webhooks/custom", body)
                acknowledged.add(f"event {n}")
            except (urllib3.exceptions.HTTPError, AssertionError, OSError):
                time.sleep(0.05)  # the master is away; what it may have stored is another event
