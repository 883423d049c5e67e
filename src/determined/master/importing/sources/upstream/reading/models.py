"""Upstream's models, their versions, and which checkpoints trials said they work with."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined.master.importing.sources.upstream.source import Source


class ModelRow(msgspec.Struct, frozen=True):
    id: int
    name: str
    description: str | None
    creation_time: datetime | None
    last_updated_time: datetime | None
    metadata: object  # JSON
    labels: list[str] | None
    user_id: int
    archived: bool | None
    notes: str | None
    workspace_id: int | None
    last_version: int  # highest number


class VersionRow(msgspec.Struct, frozen=True):
    id: int
    model_id: int
    version: int
    checkpoint_uuid: str
    creation_time: datetime | None
    last_updated_time: datetime | None
    name: str | None
    comment: str | None
    notes: str | None
    labels: list[str] | None
    metadata: object  # JSON
    user_id: int | None


class LineageRow(msgspec.Struct, frozen=True):
    trial_id: int
    checkpoint_uuid: str
    type: str
    model_id: int | None
    model_version: int | None
    experiment_id: int | None  # of the checkpoint


# The import gives a checkpoint of several trials to the first of them.
_EXPERIMENT_OF_CHECKPOINT = """
(SELECT r.experiment_id FROM run_checkpoints rc JOIN checkpoints_v2 c ON c.uuid = rc.checkpoint_id
 JOIN runs r ON r.id = rc.run_id WHERE rc.checkpoint_id = {uuid} ORDER BY rc.run_id LIMIT 1)
"""
_MODELS = """
SELECT m.id, m.name, m.description, m.creation_time, m.last_updated_time, m.metadata, m.labels, m.user_id, m.archived,
       m.notes, m.workspace_id, COALESCE((SELECT max(v.version) FROM model_versions v WHERE v.model_id = m.id), 0)
FROM models m WHERE m.id = ANY(%(ids)s) ORDER BY m.id
"""
_VERSIONS = """
SELECT v.id, v.model_id, v.version, v.checkpoint_uuid::text, v.creation_time, v.last_updated_time, v.name, v.comment,
       v.notes, v.labels, v.metadata, COALESCE(v.user_id, m.user_id)
FROM model_versions v JOIN models m ON m.id = v.model_id WHERE v.id = ANY(%(ids)s) ORDER BY v.id
"""
_PLACES_OF_VERSIONS = f"""
SELECT v.id, v.model_id, v.version, {_EXPERIMENT_OF_CHECKPOINT.format(uuid="v.checkpoint_uuid")}
FROM model_versions v ORDER BY v.id
"""
_LINEAGE = f"""
SELECT DISTINCT ON (s.trial_id, s.checkpoint_uuid) s.trial_id, s.checkpoint_uuid::text, s.type::text, s.model_id,
       s.model_version, {_EXPERIMENT_OF_CHECKPOINT.format(uuid="s.checkpoint_uuid")}
FROM trial_source_infos s WHERE s.trial_id = ANY(%(ids)s) ORDER BY s.trial_id, s.checkpoint_uuid
"""


def names(source: Source) -> list[tuple[int, str, int | None]]:
    """List (id, name, workspace) of all models."""
    rows = source.tuples("SELECT id, name, workspace_id FROM models ORDER BY id")
    return [(id_, str(name), workspace) for id_, name, workspace in rows]


def read(source: Source, model_ids: Sequence[int]) -> list[ModelRow]:
    return source.rows(_MODELS, ModelRow, {"ids": list(model_ids)})


def places_of_versions(source: Source) -> list[tuple[int, int, int, int | None]]:
    """List (id, model, number, experiment of its checkpoint) of all versions."""
    rows = source.tuples(_PLACES_OF_VERSIONS)
    return [(id_, model, version, experiment) for id_, model, version, experiment in rows]


def versions(source: Source, version_ids: Sequence[int]) -> list[VersionRow]:
    return source.rows(_VERSIONS, VersionRow, {"ids": list(version_ids)})


def trials_with_lineage(source: Source) -> list[int]:
    return [id_ for (id_,) in source.tuples("SELECT DISTINCT trial_id FROM trial_source_infos ORDER BY trial_id")]


def lineage(source: Source, trial_ids: Sequence[int]) -> list[LineageRow]:
    return source.rows(_LINEAGE, LineageRow, {"ids": list(trial_ids)})
