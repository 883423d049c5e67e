"""Templates: seen, used and made by everybody; changed by their owner, who made them, or an administrator.

What is in one reaches every task that is started with it and runs there as the user who starts the task.
"""

import asyncio
import difflib

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, restore_secrets
from determined.config.pipeline import checked_template
from determined.config.templates import check_storable
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, InvalidConfig, NotFound
from determined.master.auth.identity import Caller, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import template as templates
from determined.master.db.queries.template import TemplateDetail
from determined.master.db.queries.workspace import DEFAULT_ID
from determined.master.db.rows.workspaces import TemplateValues
from determined.master.services.config_secrets import require_unmasked
from determined.master.services.naming import checked_name
from determined.master.services.paging import window
from determined.master.services.submitted_task_place import require_workspace
from determined.wire.base import Pagination
from determined.wire.codec import rfc3339, to_json
from determined.wire.template import ListTemplates, PatchTemplateNameRequest, PostTemplateRequest, Template

_MOST = 2000  # a list without a limit answers all of them
_LARGEST = 64 * 1024  # bytes of a config as JSON


async def get(ctx: MasterContext, name: str) -> Template:
    return await _shown(await ctx.db.read(lambda conn: _existing(conn, name)))


async def list_templates(ctx: MasterContext, params: ListTemplates) -> tuple[list[Template], Pagination]:
    def read(conn: Connection) -> tuple[list[TemplateDetail], Pagination]:
        shown = window(templates.count(conn, params), params.limit, params.offset)
        start, end = shown.start_index or 0, shown.end_index or 0
        return templates.find_page(conn, params, limit=end - start, offset=start), shown

    rows, pagination = await ctx.db.read(read)
    return await asyncio.to_thread(lambda: [to_wire(row) for row in rows]), pagination


async def create(ctx: MasterContext, caller: Caller, name: str, request: PostTemplateRequest) -> Template:
    """Store a new template. Raises AlreadyExists, NotFound for its workspace, InvalidConfig."""
    values: TemplateValues = {**_new(ctx, name, await _checked(request.config, {})), "user_id": caller.user_id}
    return await _shown(await ctx.db.write(lambda conn: _create(conn, values, request.workspace_id)))


async def put(ctx: MasterContext, caller: Caller, name: str, request: PostTemplateRequest) -> Template:
    """Create a template, or change the config, the workspace or both of one that exists."""
    stored_config = await ctx.db.read(lambda conn: templates.config_of(conn, name))
    if stored_config is None or request.config is not None:
        values = _new(ctx, name, await _checked(request.config, stored_config or {}))
    else:
        values = _now(ctx)

    def write(conn: Connection) -> TemplateDetail:
        if templates.config_of(conn, name) is None:
            return _create(conn, {**values, "user_id": caller.user_id}, request.workspace_id)
        place = require_workspace(conn, request.workspace_id).id if request.workspace_id else None
        return _change(conn, caller, name, values if place is None else {**values, "workspace_id": place})

    return await _shown(await ctx.db.write(write))


async def replace_config(ctx: MasterContext, caller: Caller, name: str, config: JsonObject) -> Template:
    """Replace the whole config. Masks in it stand for the secrets that the template has at the same place."""
    stored = await ctx.db.read(lambda conn: _existing(conn, name))
    changes: TemplateValues = {**_now(ctx), "config": await _checked(config, stored.config)}
    return await _shown(await ctx.db.write(lambda conn: _change(conn, caller, name, changes)))


async def rename(ctx: MasterContext, caller: Caller, request: PatchTemplateNameRequest) -> Template:
    new_name = _checked_name(request.new_name)

    def write(conn: Connection) -> TemplateDetail:
        _changeable(conn, caller, request.old_name)
        if new_name != request.old_name:
            _refuse_taken(conn, new_name)
        templates.change(conn, request.old_name, {**_now(ctx), "name": new_name})
        return _existing(conn, new_name)

    return await _shown(await ctx.db.write(write))


async def remove(ctx: MasterContext, caller: Caller, name: str) -> None:
    def write(conn: Connection) -> None:
        _changeable(conn, caller, name)
        templates.remove(conn, name)

    await ctx.db.write(write)


async def config_of(ctx: MasterContext, name: str | None) -> JsonObject | None:
    """Return the config of the template that a request names, with its secrets; None where it names none."""
    return None if not name else await ctx.db.read(lambda conn: _config(conn, name))


async def for_experiment(ctx: MasterContext, name: str | None) -> JsonObject | None:
    """Return the config of a template that experiments can use. Raises NotFound, or InvalidConfig that names it."""
    config = await config_of(ctx, name)
    if config is not None:
        await asyncio.to_thread(_require_for_experiments, name, config)
    return config


def to_wire(row: TemplateDetail) -> Template:
    return Template(
        name=row.name,
        workspace_id=row.workspace_id,
        config=mask_secrets(row.config),
        updated_at=rfc3339(row.updated_at),
        username=row.username,
    )


async def _shown(row: TemplateDetail) -> Template:
    return await asyncio.to_thread(to_wire, row)


def _create(conn: Connection, values: TemplateValues, workspace_id: int | None) -> TemplateDetail:
    name = values["name"]
    _refuse_taken(conn, name)
    if len(templates.list_names(conn)) >= _MOST:
        raise FailedPrecondition(f"there are {_MOST} templates already; remove some first")
    workspace = require_workspace(conn, workspace_id or DEFAULT_ID)
    templates.create(conn, {**values, "workspace_id": workspace.id})
    return _existing(conn, name)


def _change(conn: Connection, caller: Caller, name: str, changes: TemplateValues) -> TemplateDetail:
    _changeable(conn, caller, name)
    templates.change(conn, name, changes)
    return _existing(conn, name)


def _new(ctx: MasterContext, name: str, config: JsonObject) -> TemplateValues:
    return {**_now(ctx), "name": _checked_name(name), "config": config}


def _now(ctx: MasterContext) -> TemplateValues:
    return {"updated_at": ctx.clock.now()}


def _changeable(conn: Connection, caller: Caller, name: str) -> TemplateDetail:
    """Return a template that the caller may change: others' tasks would run what a stranger puts into it."""
    row = _existing(conn, name)
    require_owner(caller, row.user_id, f"template '{row.name}'")
    return row


def _existing(conn: Connection, name: str) -> TemplateDetail:
    row = templates.get(conn, name)
    if row is None:
        raise NotFound(_absent(conn, name))
    return row


def _config(conn: Connection, name: str) -> JsonObject:
    config = templates.config_of(conn, name)
    if config is None:
        raise NotFound(_absent(conn, name))
    return config


def _absent(conn: Connection, name: str) -> str:
    near = difflib.get_close_matches(name[:200], templates.list_names(conn), n=1)
    advice = f"did you mean '{near[0]}'?" if near else "list them with: det template list"
    return f"template '{name[:200]}' not found; {advice}"


def _refuse_taken(conn: Connection, name: str) -> None:
    if templates.config_of(conn, name) is not None:
        raise AlreadyExists(f"there is already a template '{name}'; pick another name, or change that one")


def _checked_name(name: str) -> str:
    if not name.strip():
        raise InvalidArgument("name is required; give the template one")
    name = checked_name(name, "template")
    if "/" in name or "\\" in name or not name.strip("."):
        raise InvalidArgument(f"the template name {name!r} cannot stand in an address; use no slash, and not only dots")
    return name


async def _checked(config: JsonObject | None, known: JsonObject) -> JsonObject:
    """Return a config to store. `known`: the stored one, for the secrets behind its masks."""
    if config is None:
        raise InvalidArgument("config is missing; send the fields of the template as an object")
    return await asyncio.to_thread(_storable, config, known)


def _storable(config: JsonObject, known: JsonObject) -> JsonObject:
    check_storable(config)
    size = len(to_json(config))
    if size > _LARGEST:
        raise InvalidArgument(f"the template has {size} bytes; at most {_LARGEST} are kept")
    return require_unmasked(restore_secrets(config, known))


def _require_for_experiments(name: str | None, config: JsonObject) -> None:
    try:
        checked_template(config)
    except InvalidConfig as e:
        raise InvalidConfig(f"template '{name}' is not a valid experiment configuration", e.violations) from None
