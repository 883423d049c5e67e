"""Tasks: what they are, what they hold, the files they start from."""

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, task_kinds
from determined.config.job import GenericTaskConfig
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import checkpoint as checkpoints
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import runner as runners
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries.allocation import LiveAllocation
from determined.master.db.queries.task import AllocationAccelerators
from determined.master.db.rows.allocations import Runner
from determined.master.db.rows.submitted_tasks import SubmittedTask
from determined.master.lifecycle import containers, task_services
from determined.master.lifecycle.pools import pools_of
from determined.master.services import allocation as allocation_service
from determined.rundir.container import RESOURCES_TYPE
from determined.wire import task as wire
from determined.wire.agent import Device, DeviceType
from determined.wire.allocation import AcceleratorData
from determined.wire.codec import convert, rfc3339, rfc3339_or_none, to_json
from determined.wire.report import Service

_COLLECTION_SHOWN = timedelta(seconds=5)


async def get(ctx: MasterContext, task_id: str) -> wire.Task:
    def read(conn: Connection) -> wire.Task:
        row = tasks.get(conn, task_id)
        held = [allocation_service.to_wire(a) for a in allocations.of_task(conn, task_id)]
        submitted = submitted_tasks.find(conn, task_id)
        return wire.Task(
            task_id=task_id,
            task_type=task_kinds.KINDS[row.type].type,
            start_time=rfc3339(row.start_time),
            end_time=rfc3339_or_none(row.end_time),
            allocations=held,
            **_generic(submitted),
        )

    return await ctx.db.read(read)


def _generic(task: SubmittedTask | None) -> JsonObject:
    """Return the fields that only a generic task has."""
    if task is None or task.state is None:
        return {}
    return {
        "task_state": wire.GenericTaskState(f"GENERIC_TASK_STATE_{task.state}"),
        "config": to_json(mask_secrets(task.submitted_config, GenericTaskConfig)).decode(),
        "parent_id": task.parent_id,
        "forked_from": task.forked_from,
        "no_pause": task.no_pause,
    }


async def summaries(ctx: MasterContext) -> dict[str, wire.AllocationSummary]:
    """Return every live allocation by id."""
    schedulers = {name: pool.scheduler.value for name, pool in pools_of(ctx.config).items()}

    def read(conn: Connection) -> dict[str, wire.AllocationSummary]:
        held: dict[str, list[Runner]] = {}
        for row in runners.of_live_allocations(conn):
            held.setdefault(row.allocation_id, []).append(row)
        ports = task_services.of_live_tasks(conn)
        return {
            row.id: _summary(ctx.config, row, held.get(row.id, []), schedulers, ports.get(row.task_id, []))
            for row in allocations.live_with_job(conn)
        }

    return await ctx.db.read(read)


async def legacy_summaries(ctx: MasterContext) -> JsonObject:
    """Return the same for clients of the older raw path: snake_case keys, devices as plain lists; and file deletions.

    Those were tasks there, whose end scripts wait for. Here the master deletes by itself, in less time than they take
    to look, so each is shown for a while.
    """
    now = ctx.clock.now()
    collected = await ctx.db.read(lambda conn: checkpoints.being_collected(conn, now - _COLLECTION_SHOWN))
    found = {key: _legacy(summary) for key, summary in (await summaries(ctx)).items()}
    return found | {one["allocation_id"]: one for one in (_collection(ctx.config, *each) for each in collected)}


async def counts(ctx: MasterContext) -> wire.GetActiveTasksCountResponse:
    active = await ctx.db.read(tasks.active_counts)
    counted = {kind.counted_as: active.get(name, 0) for name, kind in task_kinds.KINDS.items() if kind.counted_as}
    return wire.GetActiveTasksCountResponse(**counted)


async def context_directory(ctx: MasterContext, task_id: str) -> str:
    """Return the packed files a task starts from, base64; empty when it has none."""

    def read(conn: Connection) -> str:
        tasks.get(conn, task_id)
        packed = experiments.model_definition_of_task(conn, task_id) or submitted_tasks.context(conn, task_id)
        return base64.b64encode(packed or b"").decode()

    return await ctx.db.read(read)


async def accelerators(ctx: MasterContext, task_id: str) -> list[AcceleratorData]:
    def read(conn: Connection) -> Sequence[AllocationAccelerators]:
        tasks.get(conn, task_id)
        return tasks.accelerators(conn, task_id)

    rows = await ctx.db.read(read)
    return [convert(one, AcceleratorData) for row in rows for one in row.accelerators]


def name_of(row: LiveAllocation) -> str:
    title = task_kinds.KINDS[row.task_type].title
    columns = {name: getattr(row, name) for name in ("task_id", "trial_id", "experiment_id", "description")}
    return title.format(**columns)


def _collection(config: MasterConfig, experiment_id: int, since: datetime) -> JsonObject:
    pool = config.resource_manager.default_aux_resource_pool
    return {
        "allocation_id": f"gc.{experiment_id}.1",
        "task_id": f"gc.{experiment_id}",
        "name": task_kinds.CHECKPOINT_GC.title.format(experiment_id=experiment_id),
        "registered_time": rfc3339(since),
        "resource_pool": pool,
        "slots_needed": 0,
        "priority": None,
        "scheduler_type": pools_of(config)[pool].scheduler.value if config.pool(pool) else None,
        "resources": [],
    }


def _summary(
    config: MasterConfig,
    row: LiveAllocation,
    held: list[Runner],
    schedulers: dict[str, str],
    declared: Sequence[Service],
) -> wire.AllocationSummary:
    services = [*task_services.of_kind(task_kinds.KINDS[row.task_type]), *declared]
    return wire.AllocationSummary(
        allocation_id=row.id,
        task_id=row.task_id,
        name=name_of(row),
        registered_time=rfc3339(row.requested_at),
        resource_pool=row.pool,
        slots_needed=row.slots,
        priority=row.priority,
        scheduler_type=schedulers.get(row.pool),
        proxy_ports=[_proxy_port(row.task_id, service) for service in services],
        resources=[_resources(config, runner) for runner in held],
        task_type=task_kinds.KINDS[row.task_type].type,
        state=allocation_service.to_wire(row).state,
        experiment_id=row.experiment_id,
        trial_id=row.trial_id,
        username=row.username,
    )


def _proxy_port(task_id: str, service: Service) -> wire.ProxyPortConfig:
    return wire.ProxyPortConfig(
        port=service.port,
        proxy_tcp=service.tcp,
        service_id=f"{task_id}:{service.id}" if service.id else task_id,
        unauthenticated=service.unauthenticated,
    )


def _resources(config: MasterConfig, runner: Runner) -> wire.ResourcesSummary:
    kind = DeviceType(f"TYPE_{runner.device.upper()}")
    devices = [Device(id=slot, type=kind) for slot in runner.slot_ids]
    return wire.ResourcesSummary(
        resources_id=runner.resource_id,
        allocation_id=runner.allocation_id,
        container_id=runner.container_id,
        resources_type=RESOURCES_TYPE if containers.runs_containers(config, runner.engine) else "process",
        agent_devices={runner.node_id: wire.ResourcesSummaryDevices(devices=devices)},
    )


def _legacy(summary: wire.AllocationSummary) -> JsonObject:
    return {
        "allocation_id": summary.allocation_id,
        "task_id": summary.task_id,
        "name": summary.name,
        "registered_time": summary.registered_time,
        "resource_pool": summary.resource_pool,
        "slots_needed": summary.slots_needed,
        "priority": summary.priority,
        "scheduler_type": summary.scheduler_type,
        "resources": [
            {
                "resources_id": r.resources_id,
                "allocation_id": r.allocation_id,
                "container_id": r.container_id,
                "agent_devices": {
                    agent: [{"id": d.id} for d in held.devices or []] for agent, held in (r.agent_devices or {}).items()
                },
            }
            for r in summary.resources or []
        ],
    }
