"""A master whose engine starts nothing: tests are the runners and post journals with the tokens it hands out."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection

from determined.config import generation, prepare
from determined.engines.base import Engine
from determined.engines.model import Device, EngineEvent, Launch, Node, Slot
from determined.master.context import MasterContext
from determined.master.lifecycle import experiment
from determined.wire.report import Record, ReportBatch, Segment

T = TypeVar("T")


class IdleEngine(Engine):
    """Accepts every runner and leaves the rest to the test."""

    name = "idle"

    def __init__(self, slots: int = 64) -> None:
        self.launches: dict[str, Launch] = {}
        self._slots = tuple(Slot(i, Device.CPU, f"cpu-{i}") for i in range(slots))

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def nodes(self) -> Sequence[Node]:
        return [Node("node0", "default", self._slots)]

    async def start(self, launch: Launch) -> None:
        self.launches[launch.resource_id] = launch

    async def kill(self, resource_id: str, *, force: bool) -> None: ...

    async def forget(self, resource_id: str) -> None: ...

    async def running(self) -> Sequence[str]:
        return list(self.launches)

    async def events(self) -> AsyncIterator[EngineEvent]:
        await asyncio.Event().wait()
        yield  # type: ignore[misc]


@dataclass
class Tracked:
    """One running trial and the journal of its runner."""

    master: Any
    launch: Launch
    experiment_id: int
    trial_id: int
    task_id: str
    positions: dict[str, int] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/api/v1/allocations/{self.launch.allocation_id}/resources/{self.launch.resource_id}/reports"

    def send(self, *records: Record, source: str = "user-1", expect: int = 200) -> Any:
        """Append records to a journal and ship them; answers the decoded response."""
        first = self.positions.get(source, 0) + 1
        answer = self.post(Segment(source, first, list(records)))
        assert answer.status == expect, answer.raw
        if answer.status == 200:
            self.positions[source] = first + len(records) - 1
            assert answer.json["positions"][source] == self.positions[source]
        return answer.json

    def post(self, *segments: Segment) -> Any:
        return self.post_raw(msgspec.msgpack.encode(ReportBatch(list(segments))))

    def post_raw(self, raw: bytes, content_type: str = "application/msgpack") -> Any:
        headers = {"Grpc-Metadata-x-allocation-token": f"Bearer {self.launch.token}", "Content-Type": content_type}
        return self.master.anonymous.post(self.path, raw, headers=headers)


def submit(master: Any, engine: IdleEngine, **config: Any) -> Tracked:
    """A running trial of an experiment with this (partial) config."""
    raw = {
        "name": "test",
        "entrypoint": "python3 train.py",
        "searcher": {"name": "single", "metric": "loss"},
        "hyperparameters": {},
        "max_restarts": 0,
        **config,
    }
    before = set(engine.launches)
    experiment_id = write(master, lambda conn: _create(conn, raw))
    master.ctx.bus.publish("schedule")
    until(lambda: set(engine.launches) - before)
    launch = engine.launches[(set(engine.launches) - before).pop()]
    trial_id = one(master, f"SELECT id FROM trials WHERE experiment_id = {experiment_id}")
    task_id = one(master, f"SELECT task_id FROM trials WHERE id = {trial_id}")
    return Tracked(master, launch, experiment_id, trial_id, task_id)


def write(master: Any, run: Callable[[Connection], T]) -> T:
    """A transaction of the master's own writer, from the test's thread."""
    ctx: MasterContext = master.ctx
    result: T = asyncio.run(ctx.db.write(run))
    return result


def one(master: Any, sql: str) -> Any:
    ctx: MasterContext = master.ctx
    with ctx.db.engine.connect() as conn:
        return conn.exec_driver_sql(sql).scalar_one()


def until(condition: Callable[[], Any], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.005)


def _create(conn: Connection, raw: dict[str, Any]) -> int:
    now = datetime.now(UTC)
    prepared = prepare(
        raw,
        template=None,
        pool_tcd=None,
        cluster_tcd=None,
        workspace_storage=None,
        master_storage={"type": "shared_fs", "host_path": "/tmp"},
        default_priority=42,
        invariants=[],
        seed=7,
        name="a-b-c",
        managed=True,
    )
    new = experiment.NewExperiment(
        owner_id=1,
        project_id=1,
        workspace_id=1,
        parent_id=None,
        config=prepared.config,
        active=prepared.active,
        original_config="",
        model_definition=b"tgz",
        template=None,
        generation=generation(prepared.active),
        unmanaged=False,
        submitter_python=None,
        warm_start_checkpoint=None,
    )
    experiment_id = experiment.create(conn, now, new)
    experiment.activate(conn, now, experiment_id)
    return experiment_id


class MovedClock:
    """The real time, moved by what a test says."""

    def __init__(self) -> None:
        self.moved = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.moved

    def move(self, **by: float) -> None:
        self.moved += timedelta(**by)
