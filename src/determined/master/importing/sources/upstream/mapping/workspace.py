"""Workspaces with their pins and pools."""

from determined.master.db.rows.workspaces import WorkspaceValues
from determined.master.importing import shared_rules
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream.mapping.mapped import Mapped
from determined.master.importing.sources.upstream.reading.workspaces import WorkspaceRow

PLAIN = "UNSPECIFIED"


def map_workspace(row: WorkspaceRow) -> Mapped:
    values: WorkspaceValues = {
        "id": row.id,
        "name": row.name,
        "user_id": row.user_id,
        "archived": row.archived,
        "immutable": row.immutable,
        "agent_uid": row.agent_uid,
        "agent_user": row.agent_user,
        "agent_gid": row.agent_gid,
        "agent_group": row.agent_group,
        "checkpoint_storage": row.checkpoint_storage,
        "default_compute_pool": row.default_compute_pool or None,
        "default_aux_pool": row.default_aux_pool or None,
        "created_at": row.created_at,
    }
    return Mapped([("workspaces", values)], deletion_notes(row.state, f"workspace {row.id} ({row.name})"))


def deletion_notes(state: str | None, what: str) -> list[Note]:
    """Note that something was being deleted; here it is as if nobody had asked."""
    return [Note(shared_rules.DELETION, f"{what} was {state}")] if (state or PLAIN) != PLAIN else []
