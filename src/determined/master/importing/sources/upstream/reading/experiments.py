"""Upstream's experiments; their code is read apart, because it may be tens of megabytes each."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined.master.importing.options import Selection
from determined.master.importing.sources.upstream.source import Source


class ExperimentRow(msgspec.Struct, frozen=True):
    id: int
    state: str
    config: str | None  # JSON text
    original_config: str | None
    start_time: datetime
    end_time: datetime | None
    archived: bool
    parent_id: int | None
    owner_id: int
    progress: float | None
    notes: str | None
    job_id: str | None
    project_id: int
    best_trial_id: int | None
    unmanaged: bool
    external_id: str | None


_EXPERIMENTS = """
SELECT id, state::text, config::text, original_config, start_time, end_time, archived, parent_id, owner_id, progress,
       notes, job_id, project_id, best_trial_id, unmanaged, external_experiment_id
FROM experiments WHERE id = ANY(%(ids)s) ORDER BY id
"""
_IDS = """
SELECT e.id FROM experiments e JOIN projects p ON p.id = e.project_id
WHERE (%(workspaces)s::int[] IS NULL OR p.workspace_id = ANY(%(workspaces)s))
  AND (%(since)s::timestamptz IS NULL OR e.start_time >= %(since)s)
ORDER BY e.id
"""


def ids(source: Source, selection: Selection, workspace_ids: Sequence[int] | None) -> list[int]:
    """List the experiments to take, in order. `workspace_ids`: only of these; None: of all."""
    rows = source.tuples(
        _IDS, {"workspaces": None if workspace_ids is None else list(workspace_ids), "since": selection.since}
    )
    return [id_ for (id_,) in rows if selection.takes_experiment(id_)]


def read(source: Source, experiment_ids: Sequence[int]) -> list[ExperimentRow]:
    return source.rows(_EXPERIMENTS, ExperimentRow, {"ids": list(experiment_ids)})


def code_sizes(source: Source, experiment_ids: Sequence[int]) -> list[tuple[int, int]]:
    """List (experiment, bytes of its code) of those that have code."""
    query = """
    SELECT id, octet_length(model_definition) FROM experiments
    WHERE id = ANY(%(ids)s) AND octet_length(model_definition) > 0 ORDER BY id
    """
    return [(id_, size) for id_, size in source.tuples(query, {"ids": list(experiment_ids)})]


def code(source: Source, experiment_ids: Sequence[int]) -> list[tuple[int, bytes]]:
    query = "SELECT id, model_definition FROM experiments WHERE id = ANY(%(ids)s) ORDER BY id"
    return [(id_, bytes(packed)) for id_, packed in source.tuples(query, {"ids": list(experiment_ids)})]
