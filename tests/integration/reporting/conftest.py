"""Masters that are reported to."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # importlib mode adds no folder to the path

from tracked import IdleEngine, Tracked, submit

from webhook_receiver import Receiver


@pytest.fixture
def engine() -> IdleEngine:
    return IdleEngine()


@pytest.fixture
def master(start_master: Callable[..., Any], db_url: str, engine: IdleEngine) -> Any:
    """A running master on each database in turn, with an engine that starts nothing."""
    return start_master(db_url, engine_factory=lambda _ctx: [engine])


@pytest.fixture
def submit_trial(master: Any, engine: IdleEngine) -> Callable[..., Tracked]:
    """`submit_trial(**config)`: a running trial whose runner is the test."""

    def run(**config: Any) -> Tracked:
        return submit(master, engine, **config)

    return run


@pytest.fixture
def trial(submit_trial: Callable[..., Tracked]) -> Tracked:
    return submit_trial()


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
