"""Upstream's checkpoints and the storages that they lie in."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined._json import JsonObject
from determined.master.importing.sources.upstream.source import Source


class CheckpointRow(msgspec.Struct, frozen=True):
    trial_id: int
    experiment_id: int
    uuid: str
    task_id: str | None
    allocation_id: str | None
    report_time: datetime | None
    state: str
    resources: object  # JSON
    metadata: object  # JSON
    size: int | None
    storage_id: int | None


# A checkpoint that several runs have belongs to the first of them.
_CHECKPOINTS = """
SELECT rc.run_id, r.experiment_id, c.uuid::text, c.task_id, c.allocation_id, c.report_time, c.state::text, c.resources,
       c.metadata, c.size, c.storage_id
FROM run_checkpoints rc JOIN checkpoints_v2 c ON c.uuid = rc.checkpoint_id JOIN runs r ON r.id = rc.run_id
WHERE rc.run_id = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM run_checkpoints o WHERE o.checkpoint_id = rc.checkpoint_id AND o.run_id < rc.run_id)
ORDER BY rc.run_id, c.report_time, c.uuid
"""
_KINDS = {
    "shared_fs": ("host_path", "storage_path", "propagation"),
    "s3": ("bucket", "access_key", "secret_key", "endpoint_url", "prefix"),
    "gcs": ("bucket", "prefix"),
    "azure": ("container", "connection_string", "account_url", "credential"),
    "directory": ("container_path",),
}


def trials(source: Source) -> list[int]:
    """List the trials that have checkpoints."""
    return [id_ for (id_,) in source.tuples("SELECT DISTINCT run_id FROM run_checkpoints ORDER BY run_id")]


def count(source: Source, trial_ids: Sequence[int]) -> int:
    query = """
    SELECT count(DISTINCT checkpoint_id) FROM run_checkpoints rc JOIN checkpoints_v2 c ON c.uuid = rc.checkpoint_id
    WHERE run_id = ANY(%(ids)s)
    """
    return int(source.value(query, {"ids": list(trial_ids)}))


def total(source: Source) -> int:
    return int(source.value("SELECT count(*) FROM checkpoints_v2"))


def read(source: Source, trial_ids: Sequence[int]) -> list[CheckpointRow]:
    return source.rows(_CHECKPOINTS, CheckpointRow, {"ids": list(trial_ids)})


def storages(source: Source) -> dict[int, JsonObject]:
    """Return the `checkpoint_storage` section of each storage by its id, as upstream stores it."""
    sections: dict[int, JsonObject] = {}
    for kind, columns in _KINDS.items():
        table = f"storage_backend_{kind}"
        if not source.has_table(table):
            table = kind
        if source.has_table(table):
            chosen = ", ".join(f"k.{column}" for column in columns)
            query = f"SELECT b.id, {chosen} FROM storage_backend b JOIN {table} k ON k.id = b.{kind}_id"
            for id_, *values in source.tuples(query):
                sections[id_] = {"type": kind, **dict(zip(columns, values, strict=True))}
    return sections
