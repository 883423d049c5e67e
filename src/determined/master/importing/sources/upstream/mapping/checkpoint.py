"""Checkpoints and storages; the files stay where they are."""

import posixpath
from collections.abc import Mapping

from determined._json import JsonObject
from determined.master.db.rows.checkpoints import CheckpointValues
from determined.master.importing import shared_rules
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped, MappingContext
from determined.master.importing.sources.upstream.reading.checkpoints import CheckpointRow

_BEING_WRITTEN = "ACTIVE"


def map_checkpoint(row: CheckpointRow, storages: Mapping[int, int], context: MappingContext) -> Mapped:
    """Map a checkpoint. `storages`: our id of each of upstream's storages."""
    metadata = row.metadata if isinstance(row.metadata, dict) else {}
    resources = row.resources if isinstance(row.resources, dict) else {}
    values: CheckpointValues = {
        "uuid": row.uuid,
        "task_id": row.task_id or "",
        "allocation_id": row.allocation_id,
        "trial_id": row.trial_id,
        "experiment_id": row.experiment_id,
        "state": "ERROR" if row.state == _BEING_WRITTEN else row.state,
        "steps_completed": _steps(metadata),
        "metadata": metadata,
        "resources": {str(path): int(size) for path, size in resources.items() if isinstance(size, int | float)},
        "size": row.size or 0,
        "report_time": row.report_time or context.now,
        "storage_id": storages.get(row.storage_id) if row.storage_id is not None else None,
    }
    notes = [Note(shared_rules.CHECKPOINT_ACTIVE, row.uuid)] if row.state == _BEING_WRITTEN else []
    if row.storage_id is not None and row.storage_id not in storages:
        notes.append(Note(rules.STORAGE_GONE, f"{row.uuid} was in storage {row.storage_id}"))
    return Mapped([("checkpoints", values)], notes)


def map_storage(section: JsonObject) -> JsonObject:
    """Return our section. An absolute `storage_path` outside of `host_path` wins over it, as upstream has it."""
    kept = {key: value for key, value in section.items() if value is not None}
    path = kept.get("storage_path")
    if kept["type"] != "shared_fs" or not isinstance(path, str) or not path.startswith("/"):
        return kept
    rest = {key: value for key, value in kept.items() if key != "storage_path"}
    return {**rest, "host_path": posixpath.normpath(path)}


def _steps(metadata: JsonObject) -> int:
    steps = metadata.get("steps_completed", metadata.get("latest_batch", 0))
    return steps if isinstance(steps, int) and not isinstance(steps, bool) else 0
