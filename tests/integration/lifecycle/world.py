"""One cluster in a test: submit, pause, report, exit, restart the master, and look at the rows."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from fake_engine import FakeEngine, Machine, make_node
from sqlalchemy import Connection, insert, select

from determined.config import generation, prepare
from determined.engines.model import Launch
from determined.master.bus import Bus
from determined.master.config import load_master_config
from determined.master.context import ClusterIdentity, MasterContext
from determined.master.db import schema
from determined.master.db.database import Database
from determined.master.db.log_filter import LogFilter
from determined.master.db.queries import log, search_queue
from determined.master.lifecycle import allocation, experiment, search_batches
from determined.master.lifecycle.reconciler import Reconciler
from determined.wire.report import Exit, ExitCause

T = TypeVar("T")
START = datetime(2026, 11, 15, 4, 0, tzinfo=UTC)


class FakeClock:
    """Stands still but for one microsecond a look, so that no two moments are equal; `advance` moves it.

    Several threads look at it: the loop, the writer, the test.
    """

    def __init__(self) -> None:
        self._now = START
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            self._now += timedelta(microseconds=1)
            return self._now

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += timedelta(seconds=seconds)


class World:
    def __init__(
        self,
        db_url: str,
        *,
        slots: int = 4,
        nodes: int = 1,
        pools: dict[str, int] | None = None,
        engine: type[FakeEngine] = FakeEngine,
        **config: Any,
    ) -> None:
        self.db_url = db_url
        self._engine_type = engine
        self.clock = FakeClock()
        self.machine = Machine([make_node(f"node{i}", slots) for i in range(nodes)], obey_kill=self._obey_kill)
        for pool, pool_slots in (pools or {}).items():
            self.machine.nodes.append(make_node(f"{pool}-node", pool_slots, pool))
        self.config = load_master_config({"data_dir": "unused", **config}, {}, {})
        self._opened = False
        # What the reconciler uses as its database; tests put one in between that dies at a chosen moment.
        self.guard_db: Callable[[Database], Any] = lambda db: db

    async def open(self) -> "World":
        """Start a master; after `close` the next one on the same data."""
        self.db = Database(self.db_url)
        if not self._opened:
            schema.metadata.create_all(self.db.engine)
            await self.db.write(_insert_people)
        identity = ClusterIdentity("cluster", "master", b"secret")
        self.ctx = MasterContext(self.guard_db(self.db), Bus(), self.clock, self.config, identity)
        self.engine = self._engine_type(self.machine)
        self.reconciler = Reconciler(self.ctx, [self.engine])
        await self.reconciler.open()
        self._opened = True
        return self

    async def close(self) -> None:
        if self._opened and not self.ctx.bus.closed:
            self.ctx.bus.close()
            await self.reconciler.close()
            await self.db.close()

    async def restart(self) -> None:
        await self.close()
        await self.open()

    async def write(self, run: Callable[..., T], *args: Any, **options: Any) -> T:
        """`run(conn, now, ...)` in a transaction, then wake the reconciler as services do."""
        result = await self.db.write(lambda conn: run(conn, self.clock.now(), *args, **options))
        self.ctx.bus.publish("schedule")
        return result

    async def submit(
        self, *, activate: bool = True, warm_start: str | None = None, unmanaged: bool = False, **config: Any
    ) -> int:
        """An experiment of the given (partial) config; the searcher is `single` unless given."""
        raw = {
            "name": "test",
            "entrypoint": "python3 train.py",
            "searcher": {"name": "single", "metric": "loss"},
            "hyperparameters": {},
            "max_restarts": 0,
            **config,
        }
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
            managed=not unmanaged,
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
            unmanaged=unmanaged,
            submitter_python=None,
            warm_start_checkpoint=warm_start,
        )
        experiment_id = await self.write(experiment.create, new)
        if activate and not unmanaged:
            await self.write(experiment.activate, experiment_id)
        return experiment_id

    async def finish_pieces(self) -> int:
        """Do what is left of large searches, as the master's loop does it; how many pieces that were."""
        done = 0
        while waiting := await self.db.read(search_queue.experiments):
            for experiment_id in waiting:
                await self.write(search_batches.go_on, experiment_id)
                done += 1
        return done

    async def running(self, n: int = 1) -> list[Launch]:
        """Wait until exactly `n` runners live, and let them start their entrypoints."""
        await self.until(lambda: len(self.machine.alive) == n)
        for resource_id in list(self.machine.alive):
            await self.write(allocation.joined, resource_id)
            await self.write(allocation.runner_phase, resource_id, "RUNNING")
        return list(self.machine.alive.values())

    async def exit(self, resource_id: str, code: int = 0, cause: ExitCause = ExitCause.EXITED) -> None:
        """The runner reports its exit as its last record and leaves."""

        def report(conn: Connection, now: datetime) -> None:
            allocation.runner_exited(conn, now, resource_id, Exit(cause, code, f"exit {code}", now.timestamp()))
            allocation.mark_drained(conn, resource_id)

        await self.db.write(lambda conn: report(conn, self.clock.now()))
        self.machine.alive.pop(resource_id, None)
        self.ctx.bus.publish("schedule")

    async def until(self, condition: Callable[[], Any], seconds: float = 60) -> None:
        """Bounded polling; an awaitable condition is awaited."""
        deadline = time.monotonic() + seconds
        while True:
            found = condition()
            if isinstance(found, Awaitable):
                found = await found
            if found:
                return
            assert time.monotonic() < deadline, "the condition did not come true in time"
            await asyncio.sleep(0.005)

    async def rows(self, table: str) -> list[dict[str, Any]]:
        chosen = schema.metadata.tables[table]
        first = next(iter(chosen.primary_key.columns))

        def read(conn: Connection) -> list[dict[str, Any]]:
            return [dict(row) for row in conn.execute(select(chosen).order_by(first)).mappings()]

        return await self.db.read(read)

    async def experiment(self, experiment_id: int = 1) -> dict[str, Any]:
        return next(e for e in await self.rows("experiments") if e["id"] == experiment_id)

    async def log(self, task_id: str) -> list[str]:
        """Read what the log of a task says."""
        page = await self.db.read(lambda conn: log.read_forward(conn, task_id, 0, LogFilter()))
        return [record.text for record in page.records]

    async def trial(self, trial_id: int = 1) -> dict[str, Any]:
        return next(t for t in await self.rows("trials") if t["id"] == trial_id)

    async def state(self, experiment_id: int = 1) -> str:
        return str((await self.experiment(experiment_id))["state"])

    async def until_state(self, wanted: str, experiment_id: int = 1) -> None:
        async def reached() -> bool:
            return await self.state(experiment_id) == wanted

        await self.until(reached)

    async def live_allocation(self, trial_id: int = 1) -> dict[str, Any] | None:
        found = [a for a in await self.rows("allocations") if a["trial_id"] == trial_id and a["ended_at"] is None]
        return found[0] if found else None

    async def _obey_kill(self, resource_id: str, force: bool) -> None:
        await self.exit(resource_id, 137, ExitCause.KILLED)


def _insert_people(conn: Connection) -> None:
    conn.execute(insert(schema.users).values(username="u", created_at=START, modified_at=START))
    conn.execute(insert(schema.workspaces).values(name="w", user_id=1, created_at=START))
    conn.execute(insert(schema.projects).values(workspace_id=1, user_id=1, name="p", notes=[], created_at=START))


WorldFactory = Callable[..., World]
