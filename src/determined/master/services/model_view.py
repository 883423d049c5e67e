"""Models and versions as the wire shows them."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from determined.master.db.queries import model_alias, model_list
from determined.master.db.queries.model import ModelDetail
from determined.master.db.queries.model_version import VersionDetail
from determined.master.services import checkpoint_view
from determined.wire.checkpoint import Checkpoint
from determined.wire.codec import plain, rfc3339
from determined.wire.model import Model
from determined.wire.model_version import ModelVersion

Aliases = Mapping[str, int]  # version by alias


def models(conn: Connection, rows: Sequence[ModelDetail]) -> list[Model]:
    aliases = model_alias.of_models(conn, [row.id for row in rows])
    return [_model(row, aliases.get(row.id, {})) for row in rows]


def model(conn: Connection, row: ModelDetail) -> Model:
    return models(conn, [row])[0]


def versions(conn: Connection, rows: Sequence[VersionDetail]) -> list[ModelVersion]:
    """Show versions of any models with their models and checkpoints, in a fixed number of queries."""
    model_ids = list(dict.fromkeys(row.model_id for row in rows))
    owners = {m.id: m for m in models(conn, model_list.load(conn, model_ids))}
    uuids = list(dict.fromkeys(row.checkpoint_uuid for row in rows))
    checkpoints = {c.uuid: c for c in checkpoint_view.load(conn, uuids)}
    return [_version(row, owners[row.model_id], checkpoints[row.checkpoint_uuid]) for row in rows]


def version(conn: Connection, row: VersionDetail) -> ModelVersion:
    return versions(conn, [row])[0]


def _model(row: ModelDetail, aliases: Aliases) -> Model:
    return Model(
        archived=row.archived,
        creation_time=rfc3339(row.created_at),
        id=row.id,
        last_updated_time=rfc3339(row.updated_at),
        metadata=plain(row.metadata),
        name=row.name,
        num_versions=row.num_versions,
        user_id=row.user_id,
        username=row.username,
        workspace_id=row.workspace_id,
        description=row.description,
        labels=row.labels,
        notes=row.notes,
        workspace_name=row.workspace_name,
        aliases=dict(aliases),
    )


def _version(row: VersionDetail, owner: Model, checkpoint: Checkpoint) -> ModelVersion:
    return ModelVersion(
        checkpoint=checkpoint,
        creation_time=rfc3339(row.created_at),
        id=row.id,
        last_updated_time=rfc3339(row.updated_at),
        model=owner,
        version=row.version,
        comment=row.comment,
        labels=row.labels,
        metadata=plain(row.metadata),
        name=row.name,
        notes=row.notes,
        user_id=row.user_id,
        username=row.username,
        aliases=[alias for alias, number in (owner.aliases or {}).items() if number == row.version],
    )
