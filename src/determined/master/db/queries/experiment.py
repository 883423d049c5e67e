"""Rows of experiments and their model definitions: get, insert, update, delete. Lists live in experiment_list.py."""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, tuple_, update

from determined.master.db import fetch
from determined.master.db.prepared import prepare
from determined.master.db.rows.experiments import Experiment, ExperimentValues
from determined.master.db.schema import (
    experiments,
    log_chunks,
    metric_chunks,
    metric_ranges,
    metric_summaries,
    model_definitions,
    search_events,
    search_history,
    tasks,
    trials,
)

# Statements that every trial needs are built once: building one costs more than running it.
_GET = prepare(select(experiments).where(experiments.c.id == bindparam("this")))
_UPDATE = prepare(update(experiments).where(experiments.c.id == bindparam("this")))
_SMALL_MODEL_DEFINITION = prepare(
    select(model_definitions.c.tgz).where(
        model_definitions.c.experiment_id == bindparam("experiment"),
        func.length(model_definitions.c.tgz) <= bindparam("most"),
    )
)
_MODEL_DEFINITION = prepare(
    select(model_definitions.c.tgz)
    .join(tasks, tasks.c.experiment_id == model_definitions.c.experiment_id)
    .where(tasks.c.id == bindparam("task"))
)


def get(conn: Connection, experiment_id: int) -> Experiment:
    """Return the experiment. Raises NotFound."""
    return fetch.existing(
        fetch.row(conn, _GET, Experiment, {"this": experiment_id}), f"experiment {experiment_id} not found"
    )


def insert_row(conn: Connection, values: ExperimentValues) -> int:
    return int(conn.execute(insert(experiments).values(**values).returning(experiments.c.id)).scalar_one())


def update_row(conn: Connection, experiment_id: int, values: ExperimentValues) -> None:
    fetch.change(conn, _UPDATE, {"this": experiment_id, **values})


def delete_row(conn: Connection, experiment_id: int) -> None:
    """Remove the experiment and, by cascade, trials, tasks, allocations, metrics, logs and checkpoints."""
    conn.execute(delete(experiments).where(experiments.c.id == experiment_id))


def delete_some(conn: Connection, experiment_id: int, limit: int) -> bool:
    """Remove about `limit` rows of what is large in an experiment; False when only `delete_row` is left to do."""
    own_trials = select(trials.c.id).where(trials.c.experiment_id == experiment_id)
    own_tasks = select(tasks.c.id).where(tasks.c.experiment_id == experiment_id)
    for table, key, owned in (
        (metric_chunks, metric_chunks.c.trial_id, own_trials),
        (metric_ranges, metric_ranges.c.experiment_id, [experiment_id]),
        (metric_summaries, metric_summaries.c.trial_id, own_trials),
        (log_chunks, log_chunks.c.task_id, own_tasks),
        (search_history, search_history.c.experiment_id, [experiment_id]),
        (search_events, search_events.c.experiment_id, [experiment_id]),
    ):
        keys = list(table.primary_key.columns)
        some = select(*keys).where(key.in_(owned)).limit(limit)
        if conn.execute(delete(table).where(tuple_(*keys).in_(some))).rowcount:
            return True
    # each takes its tasks, allocations and checkpoints along
    few = conn.execute(own_trials.limit(max(1, limit // 10))).scalars().all()
    conn.execute(delete(trials).where(trials.c.id.in_(few)))
    return bool(few)


def put_model_definition(conn: Connection, experiment_id: int, tgz: bytes) -> None:
    conn.execute(insert(model_definitions).values(experiment_id=experiment_id, tgz=tgz))


def model_definition_of_task(conn: Connection, task_id: str) -> bytes | None:
    """Return the packed context directory of the experiment a task belongs to; None when it has none."""
    return fetch.scalar(conn, _MODEL_DEFINITION, {"task": task_id})


def small_model_definition(conn: Connection, experiment_id: int, most: int) -> bytes | None:
    """Return the packed context directory of an experiment; None for one of more than `most` bytes, or none."""
    return fetch.scalar(conn, _SMALL_MODEL_DEFINITION, {"experiment": experiment_id, "most": most})


def in_states(conn: Connection, states: Sequence[str]) -> list[Experiment]:
    statement = select(experiments).where(experiments.c.state.in_(states)).order_by(experiments.c.id)
    return fetch.rows(conn, statement, Experiment)


def has_live_trial(conn: Connection, experiment_id: int, terminal: Sequence[str]) -> bool:
    """`exit_reported` adds no condition (a live trial's never is): it leads to the index of open trials."""
    chosen = (
        trials.c.experiment_id == experiment_id,
        trials.c.exit_reported.is_(False),
        trials.c.state.not_in(list(terminal)),
    )
    statement = select(exists().where(*chosen))
    return bool(conn.execute(statement).scalar_one())
