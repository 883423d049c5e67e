"""Generic tasks: created, forked, paused, unpaused, killed with their descendants."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, parse_yaml, random_name
from determined.config.job import GenericTaskConfig, prepare_generic_task
from determined.config.task_kinds import GENERIC
from determined.errors import Conflict, InvalidArgument, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db import fetch
from determined.master.db.queries import submission
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.lifecycle import submitted_task as lifecycle
from determined.master.lifecycle import topics
from determined.master.lifecycle.pools import container_defaults, pools_of
from determined.master.lifecycle.states import GENERIC_ENDS, GenericState
from determined.master.services import task_template
from determined.master.services.submitted_task import check_resources, new_task, slots_of
from determined.master.services.submitted_task_place import TaskPlace, place_of
from determined.rundir.context import pack_files
from determined.wire.codec import to_json
from determined.wire.generic_task import CreateGenericTaskRequest

_UNCATEGORIZED = 1


async def create(ctx: MasterContext, caller: Caller, asked: CreateGenericTaskRequest) -> tuple[str, list[str]]:
    """Store a new task and queue it; return its id and warnings."""
    if not asked.config and not asked.forked_from:
        raise InvalidArgument("No config file nor forked task provided")
    raw = await asyncio.to_thread(_read, asked.config)
    forked_config, forked_template = await ctx.db.read(lambda conn: _forked(conn, caller, asked.forked_from))
    raw = {**forked_config, **raw}
    template_name = asked.template_name or forked_template
    template = await task_template.part(ctx, GENERIC, template_name)
    slots = slots_of(GENERIC, raw)
    workspace_id = await ctx.db.read(lambda conn: _workspace(conn, asked.project_id or _UNCATEGORIZED))
    place = await ctx.db.read(lambda conn: place_of(conn, ctx.config, workspace_id, raw, slots))
    context = await _context(ctx, caller, asked)
    config = await asyncio.to_thread(_merged, ctx, (raw, template or {}), place, slots, context is not None)
    single = config.resources.is_single_node
    warnings = await check_resources(ctx, caller, place, slots, single_node=single, config=config)
    description = GENERIC.description.format(words=random_name(random.Random()))
    new = replace(
        new_task(ctx, caller, GENERIC, place, config, description=description, submitted_config=raw),
        template=template_name,
        context=context,
        submitter_python=asked.submitter_python,
        project_id=asked.project_id or _UNCATEGORIZED,
        parent_id=asked.parent_id or None,
        forked_from=asked.forked_from or None,
        no_pause=bool(asked.no_pause),
    )
    now = ctx.clock.now()
    task_id = await ctx.db.write(lambda conn: lifecycle.create(conn, now, new))
    ctx.bus.publish(topics.SCHEDULE, "jobs", "tasks")
    return task_id, warnings


async def config_text(ctx: MasterContext, task_id: str) -> str:
    """Return the submitted config as JSON text; empty for tasks of other kinds."""

    def read(conn: Connection) -> str:
        kind = tasks.get(conn, task_id).type
        if kind != GENERIC.name:
            return ""
        return to_json(mask_secrets(submitted_tasks.get(conn, task_id).submitted_config, GenericTaskConfig)).decode()

    return await ctx.db.read(read)


async def kill(ctx: MasterContext, caller: Caller, task_id: str, *, from_root: bool) -> None:
    """Kill a task with its live descendants; `from_root`: and with its ancestors and theirs."""

    def write(conn: Connection, now: datetime) -> list[str]:
        task = _own(conn, caller, task_id)
        if task.state in GENERIC_ENDS and not from_root:
            raise Conflict(f"cannot cancel task {task_id} as it is in state '{task.state}'")
        root = submitted_tasks.topmost(conn, task_id) if from_root else task_id
        family = [root, *submitted_tasks.descendants(conn, root)]
        killed = [one for one in family if submitted_tasks.get(conn, one).state not in GENERIC_ENDS]
        for one in killed:
            lifecycle.kill(conn, now, one)
        return killed

    await _change(ctx, write)


async def pause(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    """Pause a task with those of its descendants that are active and may be paused."""

    def write(conn: Connection, now: datetime) -> list[str]:
        _own(conn, caller, task_id)
        lifecycle.pause(conn, now, task_id)
        below = [one for one in submitted_tasks.descendants(conn, task_id) if _is_pausable(conn, one)]
        for one in below:
            lifecycle.pause(conn, now, one)
        return [task_id, *below]

    await _change(ctx, write)


async def unpause(ctx: MasterContext, caller: Caller, task_id: str) -> None:
    """Start a paused task again, with its paused descendants."""

    def write(conn: Connection, now: datetime) -> list[str]:
        _own(conn, caller, task_id)
        lifecycle.unpause(conn, now, task_id)
        family = submitted_tasks.descendants(conn, task_id)
        below = [one for one in family if submitted_tasks.get(conn, one).state == GenericState.PAUSED]
        for one in below:
            lifecycle.unpause(conn, now, one)
        return [task_id, *below]

    await _change(ctx, write)


async def _change(ctx: MasterContext, change: Callable[[Connection, datetime], list[str]]) -> None:
    def write(conn: Connection) -> set[str]:
        changed = change(conn, ctx.clock.now())
        newest = (submitted_tasks.detail(conn, task_id) for task_id in changed)
        return {name for one in newest if one is not None for name in topics.of_allocation(conn, one.allocation_id)}

    ctx.bus.publish(*await ctx.db.write(write), topics.SCHEDULE, "jobs", "tasks")


def _own(conn: Connection, caller: Caller, task_id: str) -> TaskDetail:
    if tasks.get(conn, task_id).type != GENERIC.name:
        raise InvalidArgument(f"task {task_id} is not a generic task; use the command of its own kind")
    task = fetch.existing(submitted_tasks.detail(conn, task_id), f"task '{task_id}' not found")
    require_owner(caller, task.owner_id, f"task {task_id}")
    return task


def _is_pausable(conn: Connection, task_id: str) -> bool:
    task = submitted_tasks.get(conn, task_id)
    return task.state == GenericState.ACTIVE and not task.no_pause


def _read(text: str | None) -> JsonObject:
    return parse_yaml(text) if text and text.strip() else {}


def _forked(conn: Connection, caller: Caller, forked_from: str | None) -> tuple[JsonObject, str | None]:
    """Return the submitted config and the template of the task that is forked; its secrets are for its owner."""
    if not forked_from:
        return {}, None
    source = _own(conn, caller, forked_from)
    return source.submitted_config, source.template


async def _context(ctx: MasterContext, caller: Caller, asked: CreateGenericTaskRequest) -> bytes | None:
    """Return the packed files: the request's own, the parent's if asked for, else those of the forked task."""
    if asked.parent_id:
        parent = asked.parent_id
        await ctx.db.read(lambda conn: _own(conn, caller, parent))
    if asked.inherit_context:
        if not asked.parent_id:
            raise InvalidArgument("inheritContext needs parentId: the task whose files are taken")
        source: str | None = asked.parent_id
    elif asked.context_directory:
        return await asyncio.to_thread(pack_files, asked.context_directory)
    else:
        source = asked.forked_from
    if not source:
        return None
    origin = source
    return await ctx.db.read(lambda conn: submitted_tasks.context(conn, origin))


def _workspace(conn: Connection, project_id: int) -> int:
    project = submission.project_by_id(conn, project_id)
    if project is None or project.archived:
        raise NotFound(f"project '{project_id}' not found")
    return project.workspace_id


def _merged(
    ctx: MasterContext, layers: tuple[JsonObject, JsonObject], place: TaskPlace, slots: int, has_context: bool
) -> GenericTaskConfig:
    raw, template = layers
    if not (raw.get("entrypoint") or template.get("entrypoint")):
        raise InvalidArgument("invalid config: entrypoint must be non-empty; name the program to run")
    config = prepare_generic_task(
        raw,
        template=template,
        container_defaults=container_defaults(ctx.config, place.pool).raw,
        default_priority=pools_of(ctx.config)[place.pool].default_priority,
        has_context=has_context,
    )
    resources = {**config.raw["resources"], "slots": slots, "resource_pool": place.pool}
    return GenericTaskConfig.load({**config.raw, "resources": resources})
