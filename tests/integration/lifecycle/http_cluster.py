"""A real master over HTTP with the engine in memory: submit by API, speak as the task with its own token."""

import time
from collections.abc import Callable
from typing import Any

import yaml
from fake_engine import FakeEngine, Machine, make_node

from determined.constants import ALLOCATION_TOKEN_HEADER
from determined.engines.model import Launch
from determined.master.context import MasterContext
from determined.wire.codec import to_msgpack
from determined.wire.report import Exit, ExitCause, Phase, ReportBatch, Segment


class HttpCluster:
    def __init__(
        self,
        start_master: Callable[..., Any],
        db_url: str,
        *,
        nodes: dict[str, int],
        pools: dict[str, str] | None = None,
        engine: type[FakeEngine] = FakeEngine,
        **config: Any,
    ) -> None:
        """`nodes`: slots of each. `pools`: the pool of each that is not in `default`."""
        places = pools or {}
        self._engine_type = engine
        self.machine = Machine([make_node(name, n, places.get(name, "default")) for name, n in nodes.items()])
        self.master = start_master(db_url, engine_factory=self._engines, **config)
        self.admin = self.master.client("admin")
        self.user = self.master.client("determined")

    def _engines(self, ctx: MasterContext) -> list[FakeEngine]:
        return [self._engine_type(self.machine)]

    def submit(self, *, activate: bool = True, **config: Any) -> int:
        raw = {
            "name": "test",
            "entrypoint": "python3 train.py",
            "searcher": {"name": "single", "metric": "loss"},
            "hyperparameters": {},
            "max_restarts": 0,
            **config,
        }
        body = {"config": yaml.safe_dump(raw), "activate": activate, "modelDefinition": []}
        answer = self.user.post("/api/v1/experiments", body)
        assert answer.status == 200, answer.raw
        return int(answer.json["experiment"]["id"])

    def launched(self, n: int = 1) -> list[Launch]:
        eventually(lambda: len(self.machine.launched) >= n)
        return list(self.machine.launched)

    def task(self, launch: Launch) -> Any:
        """A client with the token of that runner's allocation."""
        return type(self.user)(self.user.url, {ALLOCATION_TOKEN_HEADER: f"Bearer {launch.token}"})

    def report(self, launch: Launch, *records: Any, first: int = 1) -> Any:
        path = f"/api/v1/allocations/{launch.allocation_id}/resources/{launch.resource_id}/reports"
        batch = to_msgpack(ReportBatch([Segment("logs", first, list(records))]))
        return self.task(launch).post(path, batch, headers={"Content-Type": "application/msgpack"})

    def run(self, launch: Launch) -> None:
        answer = self.task(launch).get(resources(launch) + "/rendezvous")
        assert answer.status == 200, answer.raw
        assert self.report(launch, Phase("RUNNING", time.time())).status == 200

    def leave(self, launch: Launch, code: int = 0, cause: ExitCause = ExitCause.EXITED, first: int = 2) -> None:
        answer = self.report(launch, Exit(cause, code, f"exit {code}", time.time()), first=first)
        assert answer.status == 200, answer.raw


def allocation(launch: Launch) -> str:
    return f"/api/v1/allocations/{launch.allocation_id}"


def resources(launch: Launch) -> str:
    return f"{allocation(launch)}/resources/{launch.resource_id}"


def eventually(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)
