"""Workspaces: created by everybody, changed by their owner or an administrator."""

from msgspec import UNSET, UnsetType
from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import mask_secrets, parse_checkpoint_storage, restore_secrets
from determined.errors import AlreadyExists, FailedPrecondition, NotFound
from determined.master.auth.identity import Caller, require_admin, require_owner
from determined.master.context import MasterContext
from determined.master.db.queries import workspace as workspaces
from determined.master.db.queries.place_deletion import Place
from determined.master.db.queries.workspace import WorkspaceDetail
from determined.master.db.rows.workspaces import WorkspaceValues
from determined.master.lifecycle import topics, webhook_triggers
from determined.master.services import agent_user, place_deletion
from determined.master.services.config_secrets import require_unmasked
from determined.master.services.model import refuse_to_delete_workspace
from determined.master.services.naming import checked_name
from determined.wire.codec import rfc3339_or_none
from determined.wire.project import WorkspaceState
from determined.wire.user import AgentUserGroup
from determined.wire.workspace import PatchWorkspace, PostWorkspaceRequest, Workspace

_STORAGE = "checkpoint_storage"
_LINK = "set agentUserGroup, the OS user that tasks of a workspace run as"


def to_wire(row: WorkspaceDetail) -> Workspace:
    return Workspace(
        id=row.id,
        name=row.name,
        archived=row.archived,
        immutable=row.immutable,
        user_id=row.user_id,
        username=row.username,
        num_projects=row.num_projects,
        num_experiments=row.num_experiments,
        pinned=row.pinned_at is not None,
        pinned_at=rfc3339_or_none(row.pinned_at),
        state=WorkspaceState(f"WORKSPACE_STATE_{row.state}"),
        error_message=row.error_message,
        agent_user_group=agent_user.to_wire(row),
        checkpoint_storage_config=mask_secrets(_section(row.checkpoint_storage))[_STORAGE],
        default_compute_pool=row.default_compute_pool,
        default_aux_pool=row.default_aux_pool,
    )


async def get(ctx: MasterContext, caller: Caller, workspace_id: int) -> Workspace:
    return to_wire(await ctx.db.read(lambda conn: existing(conn, caller, workspace_id)))


async def list_all(ctx: MasterContext, caller: Caller) -> list[Workspace]:
    rows = await ctx.db.read(lambda conn: workspaces.list_all(conn, caller.user_id))
    return [to_wire(row) for row in rows]


async def create(ctx: MasterContext, caller: Caller, request: PostWorkspaceRequest) -> Workspace:
    """Create a workspace, pinned by its creator. Only an administrator says whom its tasks run as."""
    name, link = checked_name(request.name, "workspace"), agent_user.of_workspace(request.agent_user_group)
    if any(value is not None for value in link.values()):
        require_admin(caller, _LINK)
    values: WorkspaceValues = {
        "name": name,
        "user_id": caller.user_id,
        "default_compute_pool": request.default_compute_pool or None,
        "default_aux_pool": request.default_aux_pool or None,
        "checkpoint_storage": _with_secrets(_checked_storage(request.checkpoint_storage_config), None),
        **link,
    }
    now = ctx.clock.now()

    def write(conn: Connection) -> WorkspaceDetail:
        _refuse_taken(conn, name)
        workspace_id = workspaces.create(conn, now, values)
        workspaces.pin(conn, now, workspace_id, caller.user_id)
        return existing(conn, caller, workspace_id)

    return to_wire(await ctx.db.write(write))


async def patch(ctx: MasterContext, caller: Caller, workspace_id: int, request: PatchWorkspace) -> Workspace:
    changes = _changes(request)

    def write(conn: Connection) -> WorkspaceDetail:
        before = _changeable(conn, caller, workspace_id)
        _require_may_link(caller, before, changes)
        if before.archived:
            raise FailedPrecondition(f"workspace '{before.name}' is archived; unarchive it to change it")
        if changes.get("name", before.name) != before.name:
            _refuse_taken(conn, changes["name"])
        if changes.get("checkpoint_storage"):
            changes["checkpoint_storage"] = _with_secrets(changes["checkpoint_storage"], before.checkpoint_storage)
        workspaces.change(conn, workspace_id, changes)
        return existing(conn, caller, workspace_id)

    return to_wire(await ctx.db.write(write))


async def set_archived(ctx: MasterContext, caller: Caller, workspace_id: int, archived: bool) -> None:
    def write(conn: Connection) -> None:
        _changeable(conn, caller, workspace_id)
        workspaces.change(conn, workspace_id, {"archived": archived})

    await ctx.db.write(write)


async def set_pinned(ctx: MasterContext, caller: Caller, workspace_id: int, pinned: bool) -> None:
    """Set a pin. It is the caller's own and needs no right over the workspace."""
    now = ctx.clock.now()

    def write(conn: Connection) -> None:
        existing(conn, caller, workspace_id)
        if pinned:
            workspaces.pin(conn, now, workspace_id, caller.user_id)
        else:
            workspaces.unpin(conn, workspace_id, caller.user_id)

    await ctx.db.write(write)


async def delete(ctx: MasterContext, caller: Caller, workspace_id: int) -> bool:
    """Delete a workspace; False where it goes later, with the experiments in it (services/place_deletion.py)."""
    now = ctx.clock.now()

    def write(conn: Connection) -> bool:
        what = f"workspace '{_changeable(conn, caller, workspace_id).name}'"
        refuse_to_delete_workspace(conn, workspace_id, what)
        place_deletion.end_tasks(conn, now, caller, workspace_id, what)
        empty = place_deletion.begin(conn, caller, Place(workspace_id=workspace_id), what)
        if empty:
            workspaces.remove(conn, workspace_id)
        return empty

    completed = await ctx.db.write(write)
    webhook_triggers.forget(ctx.db.engine)
    ctx.bus.publish("deletion", topics.SCHEDULE, "tasks", "jobs")
    return completed


def existing(conn: Connection, caller: Caller, workspace_id: int) -> WorkspaceDetail:
    row = workspaces.get(conn, workspace_id, caller.user_id)
    if row is None:
        raise NotFound(f"there is no workspace with id {workspace_id}; `det workspace list` shows all")
    return row


def _changeable(conn: Connection, caller: Caller, workspace_id: int) -> WorkspaceDetail:
    row = existing(conn, caller, workspace_id)
    require_owner(caller, row.user_id, f"workspace '{row.name}'")
    if row.immutable:
        raise FailedPrecondition(f"workspace '{row.name}' is built in and cannot be changed")
    return row


def _require_may_link(caller: Caller, before: WorkspaceDetail, changes: WorkspaceValues) -> None:
    """A link to an OS user is a key to that user's files, and its absence may be one to root's."""
    link = {name: value for name, value in changes.items() if name in agent_user.COLUMNS}
    if any(getattr(before, name) != value for name, value in link.items()):
        require_admin(caller, _LINK)


def _refuse_taken(conn: Connection, name: str) -> None:
    if workspaces.by_name(conn, name) is not None:
        raise AlreadyExists(f"there is already a workspace '{name}'; pick another name")


def _changes(request: PatchWorkspace) -> WorkspaceValues:
    changes: WorkspaceValues = {}
    if request.name is not None:
        changes["name"] = checked_name(request.name, "workspace")
    if request.checkpoint_storage_config is not UNSET:
        changes["checkpoint_storage"] = _checked_storage(request.checkpoint_storage_config)
    if request.agent_user_group is not UNSET:
        changes.update(agent_user.of_workspace(request.agent_user_group or AgentUserGroup()))
    compute = _first_sent(request.default_compute_pool, request.default_compute_resource_pool)
    if compute is not UNSET:
        changes["default_compute_pool"] = compute or None
    aux = _first_sent(request.default_aux_pool, request.default_aux_resource_pool)
    if aux is not UNSET:
        changes["default_aux_pool"] = aux or None
    return changes


def _first_sent(name: str | UnsetType | None, older_name: str | UnsetType | None) -> str | UnsetType | None:
    return older_name if name is UNSET else name


def _with_secrets(given: JsonObject | None, before: JsonObject | None) -> JsonObject | None:
    """Put the stored secrets where a config that was read from us and comes back has masks."""
    section = restore_secrets(_section(given), _section(before))
    storage: JsonObject | None = require_unmasked(section)[_STORAGE]
    return storage


def _section(storage: JsonObject | None) -> JsonObject:
    """Wrap a storage as an experiment's config has it, where it is known which fields are secret."""
    return {_STORAGE: storage}


def _checked_storage(config: JsonObject | None) -> JsonObject | None:
    if not config:
        return None
    parse_checkpoint_storage(config)
    return config
