"""Models, versions and lineage: ids and numbers stay, also where numbers have gaps."""

from collections.abc import Container

from determined.master.db.rows.checkpoints import TrialSourceInfoValues
from determined.master.db.rows.models import ModelValues, ModelVersionValues
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.models import LineageRow, ModelRow, VersionRow

_FIRST_WORKSPACE = 1


def map_model(row: ModelRow, context: MappingContext) -> Mapped:
    created = row.creation_time or context.now
    values: ModelValues = {
        "id": row.id,
        "name": row.name,
        "description": row.description or "",
        "metadata": row.metadata if isinstance(row.metadata, dict) else {},
        "labels": row.labels or [],
        "notes": row.notes or "",
        "user_id": row.user_id,
        "workspace_id": row.workspace_id or _FIRST_WORKSPACE,
        "archived": bool(row.archived),
        "last_version": row.last_version,
        "created_at": created,
        "updated_at": row.last_updated_time or created,
    }
    return Mapped([("models", values)])


def map_version(row: VersionRow, context: MappingContext) -> Mapped:
    created = row.creation_time or context.now
    values: ModelVersionValues = {
        "id": row.id,
        "model_id": row.model_id,
        "version": row.version,
        "checkpoint_uuid": row.checkpoint_uuid,
        "user_id": row.user_id or 1,
        "name": row.name or "",
        "comment": row.comment or "",
        "notes": row.notes or "",
        "metadata": row.metadata if isinstance(row.metadata, dict) else {},
        "labels": row.labels or [],
        "created_at": created,
        "updated_at": row.last_updated_time or created,
    }
    return Mapped([("model_versions", values)])


def map_lineage(row: LineageRow, models: Container[int]) -> Mapped:
    """Map what a trial works with. `models`: those that are here; another of this id is not the trial's."""
    is_here = row.model_id in models
    values: TrialSourceInfoValues = {
        "trial_id": row.trial_id,
        "checkpoint_uuid": row.checkpoint_uuid,
        "type": row.type,
        "model_id": row.model_id if is_here else None,
        "model_version": row.model_version if is_here else None,
    }
    return Mapped([("trial_source_infos", values)])
