"""Clashes: ids and keys of the bundle that things of this cluster have. Found before anything is written."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection

from determined.bundle.layout import CheckpointEntry
from determined.bundle.reader import Bundle
from determined.errors import FailedPrecondition
from determined.master.db.queries import imported
from determined.master.importing.notes import shown
from determined.master.importing.sources.bundle.plan import (
    EXPERIMENTS,
    TRIALS,
    Plan,
    checkpoint_entries,
    experiment_entry,
)

_SHOWN = 5


def require_none(conn: Connection, bundle: Bundle, plan: Plan) -> None:
    """Refuse what would take the place of something that is here.

    Raises:
        FailedPrecondition: naming the first few of each noun.
    """
    problems = [
        *_problems(EXPERIMENTS, sorted(imported.existing_ids(conn, EXPERIMENTS, plan.experiments))),
        *_problems(TRIALS, sorted(imported.existing_ids(conn, TRIALS, plan.trials))),
        *(problem for id_ in plan.experiments for problem in _keys(conn, bundle, id_)),
    ]
    if problems:
        raise FailedPrecondition(
            f"this cluster has things with ids of the bundle: {'; '.join(problems[:_SHOWN])}. Ids are kept, so that "
            "old links work: import into an empty cluster (another --data-dir or database). Nothing was written"
        )


def _keys(conn: Connection, bundle: Bundle, experiment_id: int) -> Iterator[str]:
    entry = experiment_entry(bundle, experiment_id)
    tasks = [task.id for trial in bundle.trials(experiment_id) for task in trial.tasks]
    allocations = [one.id for trial in bundle.trials(experiment_id) for one in trial.allocations]
    uuids = [one.uuid for one in checkpoint_entries(bundle, experiment_id, CheckpointEntry)]
    external = [entry.external_id] if entry.external_id else []
    for what, table, column, keys in (
        ("external ids", EXPERIMENTS, "external_id", external),
        ("jobs", "jobs", "id", [entry.job_id]),
        ("tasks", "tasks", "id", tasks),
        ("allocations", "allocations", "id", allocations),
        ("checkpoints", "checkpoints", "uuid", uuids),
    ):
        yield from _problems(what, sorted(imported.existing_keys(conn, table, column, keys)))


def _problems(noun: str, taken: Sequence[int] | Sequence[str]) -> list[str]:
    return [f"{noun} {shown(taken, _SHOWN)}"] if taken else []
