"""Commands, notebooks, shells, TensorBoards: launched, listed, killed. Generic tasks are in generic_task.py."""

import asyncio
import random
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, random_name
from determined.config.engine_sections import engine_options
from determined.config.job import GenericTaskConfig, JobConfig, TaskConfig, prepare_job
from determined.config.task_kinds import TaskKind
from determined.errors import InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.lifecycle import submitted_task as lifecycle
from determined.master.lifecycle import topics
from determined.master.lifecycle.pools import container_defaults, engine_traits, engine_type, pools_of
from determined.master.services import isolation, pool, task_template
from determined.master.services.naming import checked_text
from determined.master.services.paging import window
from determined.master.services.submitted_task_place import TaskPlace, place_of, require_workspace
from determined.rundir.context import pack_files
from determined.schema.unused import unused_remarks
from determined.wire.base import Pagination
from determined.wire.submitted_task import LaunchRequest, ListSubmittedTasks

UNFULFILLABLE = (
    "failed to prepare launch params: validating resources: request unfulfillable, please try requesting less slots"
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Experiments and trials that a TensorBoard shows. `inherited` is laid under its config."""

    experiment_ids: list[int] = field(default_factory=list)
    trial_ids: list[int] = field(default_factory=list)
    inherited: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked submission that has not been stored. `from_template`: places of its config."""

    new: lifecycle.NewTask
    messages: list[str]
    from_template: list[str] | None


async def launch(
    ctx: MasterContext,
    caller: Caller,
    kind: TaskKind,
    asked: LaunchRequest,
    sources: Sources | None = None,
) -> tuple[TaskDetail, list[str]]:
    """Store a new task and queue it; return it with remarks on its config."""
    prepared = await prepare(ctx, caller, kind, asked, sources)
    now = ctx.clock.now()

    def write(conn: Connection) -> TaskDetail:
        return _existing(conn, kind, lifecycle.create(conn, now, prepared.new))

    task = await ctx.db.write(write)
    ctx.bus.publish(topics.SCHEDULE, "jobs", "tasks")
    return task, prepared.messages


async def prepare(
    ctx: MasterContext,
    caller: Caller,
    kind: TaskKind,
    asked: LaunchRequest,
    sources: Sources | None = None,
) -> Prepared:
    """Merge, check and resolve a submission. Raises InvalidConfig, InvalidArgument, NotFound, FailedPrecondition."""
    raw = asked.config or {}
    template = await task_template.part(ctx, kind, asked.template_name)
    slots = slots_of(kind, raw)
    place = await ctx.db.read(lambda conn: place_of(conn, ctx.config, asked.workspace_id or 0, raw, slots))
    sources = sources or Sources()
    layers = raw, JobConfig.merge(template or {}, JobConfig.canonical(sources.inherited))
    config = await asyncio.to_thread(_merged, ctx, kind, layers, place, slots, bool(asked.files))
    await check_resources(ctx, caller, place, slots, single_node=True, config=config)
    context = await asyncio.to_thread(pack_files, asked.files) if asked.files else None
    new = replace(
        new_task(ctx, caller, kind, place, config, description=config.description or "", submitted_config=raw),
        template=asked.template_name or None,
        context=context,
        submitter_python=asked.submitter_python,
        experiment_ids=sources.experiment_ids or None,
        trial_ids=sources.trial_ids or None,
    )
    messages = unused_remarks(JobConfig.schema, raw, engine_traits(ctx.config, place.pool))
    return Prepared(new, messages, task_template.places(JobConfig, raw, template))


def new_task(
    ctx: MasterContext,
    caller: Caller,
    kind: TaskKind,
    place: TaskPlace,
    config: JobConfig | GenericTaskConfig,
    *,
    description: str,
    submitted_config: JsonObject,
) -> lifecycle.NewTask:
    """Return a task with what all kinds have."""
    resources = config.resources
    return lifecycle.NewTask(
        kind=kind,
        owner_id=caller.user_id,
        workspace_id=place.workspace_id,
        pool=place.pool,
        slots=resources.slots,
        priority=resources.priority or pools_of(ctx.config)[place.pool].default_priority,
        weight=resources.weight,
        max_slots=resources.max_slots,
        single_node=resources.is_single_node is not False,
        description=description,
        config=config.raw,
        submitted_config=submitted_config,
    )


async def check_resources(
    ctx: MasterContext, caller: Caller, place: TaskPlace, slots: int, *, single_node: bool, config: TaskConfig
) -> list[str]:
    """Refuse whom we must not run and what the pool can never run; return warnings."""
    await ctx.db.read(lambda conn: isolation.require(conn, ctx.config, caller.user_id, place.workspace_id))
    options = engine_options(config, engine_type(ctx.config, place.pool))
    try:
        return await pool.check_capacity(ctx, place.pool, slots, single_node, options)
    except InvalidArgument as e:
        raise InvalidArgument(f"{UNFULFILLABLE}: {e.message}") from e


async def list_tasks(
    ctx: MasterContext, kind: TaskKind, params: ListSubmittedTasks
) -> tuple[list[TaskDetail], Pagination]:
    def read(conn: Connection) -> tuple[list[TaskDetail], Pagination]:
        if params.workspace_id:
            require_workspace(conn, params.workspace_id)
        shown = window(submitted_tasks.count(conn, kind.name, params), params.limit, params.offset)
        start, end = shown.start_index or 0, shown.end_index or 0
        return submitted_tasks.find_page(conn, kind.name, params, limit=end - start, offset=start), shown

    return await ctx.db.read(read)


async def get(ctx: MasterContext, kind: TaskKind, task_id: str) -> TaskDetail:
    return await ctx.db.read(lambda conn: _existing(conn, kind, task_id))


async def kill(ctx: MasterContext, caller: Caller, kind: TaskKind, task_id: str) -> TaskDetail:
    """Kill a task; one that has ended stays as it is."""
    now = ctx.clock.now()

    def write(conn: Connection) -> TaskDetail:
        _own(conn, caller, kind, task_id)
        lifecycle.kill(conn, now, task_id)
        return _existing(conn, kind, task_id)

    return await _changed(ctx, await ctx.db.write(write))


async def set_priority(
    ctx: MasterContext, caller: Caller, kind: TaskKind, task_id: str, priority: int | None
) -> TaskDetail:
    if priority is None:
        raise InvalidArgument("priority is missing; give a number between 1 and 99")

    def write(conn: Connection) -> TaskDetail:
        _own(conn, caller, kind, task_id)
        lifecycle.set_resources(conn, task_id, {"priority": priority})
        return _existing(conn, kind, task_id)

    return await _changed(ctx, await ctx.db.write(write))


async def report_use(ctx: MasterContext, caller: Caller, kind: TaskKind, task_id: str, *, idle: bool) -> None:
    """Renew the time of a task that is in use; a report that it is idle changes nothing."""
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        _own(conn, caller, kind, task_id)
        if not idle:
            submitted_tasks.update_row(conn, task_id, {"last_active": now})

    await ctx.db.write(write)


def shown_config(task: TaskDetail) -> JsonObject:
    """Return the config of a task without its secrets."""
    return mask_secrets(task.config, JobConfig)


async def _changed(ctx: MasterContext, task: TaskDetail) -> TaskDetail:
    ctx.bus.publish(topics.SCHEDULE, "jobs", "tasks", f"allocation:{task.allocation_id}", f"task_logs:{task.task_id}")
    return task


def _existing(conn: Connection, kind: TaskKind, task_id: str) -> TaskDetail:
    task = submitted_tasks.detail(conn, task_id)
    if task is None or task.type != kind.name:
        raise NotFound(f"{kind.noun} '{task_id}' not found")
    return task


def _own(conn: Connection, caller: Caller, kind: TaskKind, task_id: str) -> TaskDetail:
    task = _existing(conn, kind, task_id)
    require_owner(caller, task.owner_id, f"{kind.noun} {task_id}")
    return task


def slots_of(kind: TaskKind, raw: JsonObject) -> int:
    """Read the slots of the request's own config: a template's do not count. Its type is checked later."""
    if kind.fixed_slots is not None:
        return kind.fixed_slots
    resources = raw.get("resources")
    slots = resources.get("slots", 1) if isinstance(resources, dict) else 1
    return slots if isinstance(slots, int) else 1


def _merged(
    ctx: MasterContext,
    kind: TaskKind,
    layers: tuple[JsonObject, JsonObject],
    place: TaskPlace,
    slots: int,
    has_context: bool,
) -> JobConfig:
    raw, inherited = layers
    if not kind.program and not (raw.get("entrypoint") or inherited.get("entrypoint")):
        raise InvalidArgument("invalid command config: entrypoint must be non-empty; name the program to run")
    config = prepare_job(
        raw,
        template=inherited,
        container_defaults=container_defaults(ctx.config, place.pool).raw,
        default_priority=pools_of(ctx.config)[place.pool].default_priority,
        has_context=has_context,
    )
    if config.description:
        checked_text(config.description, "description")
    words = random_name(random.Random())
    filled = {
        **config.raw,
        "description": config.description or kind.description.format(words=words),
        "resources": {**config.raw["resources"], "slots": slots, "resource_pool": place.pool},
    }
    return JobConfig.load(filled)
