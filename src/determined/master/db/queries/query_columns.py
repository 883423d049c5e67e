"""Columns people may search and sort experiments and runs by: names of the web page to SQL."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Float, FromClause, Text, case, cast, func, select, type_coerce
from sqlalchemy.sql.elements import KeyedColumnElement

from determined.errors import InvalidArgument
from determined.master.db.dialects import JsonNumber, JsonText
from determined.master.db.queries.query_filter import Kind, Operand
from determined.master.db.schema import experiments, jobs, metric_summaries, projects, trials, users, workspaces
from determined.master.db.statements import AnyColumn
from determined.search.registry import searcher_names

_STATS = ("min", "max", "mean", "sum", "last", "count")


def experiment_column(name: str) -> Operand:
    """Return a column; hp.* and metrics: of the best trial. Raises InvalidArgument for an unknown name."""
    plain = _experiment_columns().get(name)
    if plain is not None:
        return plain
    best = trials.alias("best")
    if name == "externalTrialId":
        return Operand(_of_best_trial(best, best.c.external_id), Kind.TEXT)
    if name.startswith("hp."):
        text, number = _json(best.c.hparams, name[3:])
        return Operand(_of_best_trial(best, text), Kind.JSON, _of_best_trial(best, number))
    metric = _metric(name, best.c.id)
    if metric is not None:
        return Operand(_of_best_trial(best, metric), Kind.NUMBER)
    raise _unknown(name, [*_experiment_columns(), "hp.<name>"])


def run_column(name: str) -> Operand:
    plain = _run_columns().get(name)
    if plain is not None:
        return plain
    if name.startswith("hp."):
        return _json_operand(trials.c.hparams, name[3:])
    if name.startswith("metadata."):
        return _json_operand(trials.c.metadata, name[9:])
    metric = _metric(name, trials.c.id)
    if metric is not None:
        return Operand(metric, Kind.NUMBER)
    raise _unknown(name, [*_run_columns(), "hp.<name>", "metadata.<key>"])


def _experiment_columns() -> dict[str, Operand]:
    own = trials.c.experiment_id == experiments.c.id
    count = select(func.count()).where(own).scalar_subquery()
    low = select(func.min(trials.c.best_validation_value)).where(own).scalar_subquery()
    high = select(func.max(trials.c.best_validation_value)).where(own).scalar_subquery()
    sizes = {
        "checkpointCount": trials.c.checkpoint_count,
        "checkpointSize": trials.c.checkpoint_size,
    }
    return {
        **_shared_columns(),
        "id": Operand(experiments.c.id, Kind.NUMBER),
        "name": Operand(experiments.c.name, Kind.TEXT),
        "description": Operand(experiments.c.description, Kind.TEXT),
        "state": Operand(experiments.c.state, Kind.STATE),
        "progress": Operand(experiments.c.progress, Kind.NUMBER),
        "startTime": Operand(type_coerce(experiments.c.start_time, BigInteger), Kind.TIME),
        "endTime": Operand(type_coerce(experiments.c.end_time, BigInteger), Kind.TIME),
        "duration": _duration(experiments.c.start_time, experiments.c.end_time),
        "numTrials": Operand(count, Kind.NUMBER),
        "archived": Operand(experiments.c.archived, Kind.BOOLEAN),
        "searcherMetricsVal": Operand(case((experiments.c.smaller_is_better, low), else_=high), Kind.NUMBER),
        **{n: Operand(select(func.sum(c)).where(own).scalar_subquery(), Kind.NUMBER) for n, c in sizes.items()},
    }


def _run_columns() -> dict[str, Operand]:
    single_trial = searcher_names(lambda searcher: not searcher.is_multi_trial)
    return {
        **_shared_columns(),
        "id": Operand(trials.c.id, Kind.NUMBER),
        "experimentId": Operand(experiments.c.id, Kind.NUMBER),
        "name": Operand(experiments.c.name, Kind.TEXT),
        "experimentName": Operand(experiments.c.name, Kind.TEXT),
        "experimentDescription": Operand(experiments.c.description, Kind.TEXT),
        "experimentProgress": Operand(experiments.c.progress, Kind.NUMBER),
        "state": Operand(trials.c.state, Kind.STATE),
        "progress": Operand(trials.c.progress, Kind.NUMBER),
        "startTime": Operand(type_coerce(trials.c.start_time, BigInteger), Kind.TIME),
        "endTime": Operand(type_coerce(trials.c.end_time, BigInteger), Kind.TIME),
        "duration": _duration(trials.c.start_time, trials.c.end_time),
        "restarts": Operand(trials.c.restarts, Kind.NUMBER),
        "archived": Operand(trials.c.archived, Kind.BOOLEAN),
        "searcherMetricsVal": Operand(trials.c.best_validation_value, Kind.NUMBER),
        "checkpointCount": Operand(trials.c.checkpoint_count, Kind.NUMBER),
        "checkpointSize": Operand(trials.c.checkpoint_size, Kind.NUMBER),
        "externalRunId": Operand(trials.c.external_id, Kind.TEXT),
        "isExperimentMultitrial": Operand(_searcher_type().not_in(single_trial), Kind.BOOLEAN),
        "logPolicyMatched": Operand(trials.c.log_policy_label, Kind.TEXT),
    }


def _shared_columns() -> dict[str, Operand]:
    return {
        "user": Operand(users.c.username, Kind.TEXT),
        "userId": Operand(experiments.c.owner_id, Kind.NUMBER),
        "tags": Operand(cast(experiments.c.labels, Text), Kind.LABELS),
        "labels": Operand(cast(experiments.c.labels, Text), Kind.LABELS),
        "forkedFrom": Operand(experiments.c.parent_id, Kind.NUMBER),
        "resourcePool": Operand(jobs.c.pool, Kind.TEXT),
        "projectId": Operand(experiments.c.project_id, Kind.NUMBER),
        "projectName": Operand(projects.c.name, Kind.TEXT),
        "workspaceId": Operand(projects.c.workspace_id, Kind.NUMBER),
        "workspaceName": Operand(workspaces.c.name, Kind.TEXT),
        "searcherType": Operand(_searcher_type(), Kind.TEXT),
        "searcherMetric": Operand(experiments.c.searcher_metric, Kind.TEXT),
        "externalExperimentId": Operand(experiments.c.external_id, Kind.TEXT),
        "unmanaged": Operand(experiments.c.unmanaged, Kind.BOOLEAN),
    }


def _searcher_type() -> ColumnElement[str]:
    name: ColumnElement[str] = experiments.c.config[("searcher", "name")].as_string()
    return name


def _duration(start: AnyColumn, end: AnyColumn) -> Operand:
    """Seconds; rows that still run have none."""
    micros = type_coerce(end, BigInteger) - type_coerce(start, BigInteger)
    return Operand(type_coerce(micros, Float) / 1_000_000.0, Kind.NUMBER)


def _of_best_trial(best: FromClause, value: AnyColumn) -> AnyColumn:
    """SQLite cannot order a subquery by a column of the outer one, so there is a subquery for each direction."""
    column = best.c.best_validation_value
    low, high = (
        select(value)
        .select_from(best)
        .where(best.c.experiment_id == experiments.c.id)
        .order_by(order.nulls_last(), best.c.id)
        .limit(1)
        .correlate(experiments)
        .scalar_subquery()
        for order in (column.asc(), column.desc())
    )
    return case((experiments.c.smaller_is_better, low), else_=high)


def _json(column: KeyedColumnElement[Any], path: str) -> tuple[ColumnElement[str], ColumnElement[float]]:
    keys = tuple(path.split("."))
    return JsonText(column, *keys), JsonNumber(column, *keys)


def _json_operand(column: KeyedColumnElement[Any], path: str) -> Operand:
    text, number = _json(column, path)
    return Operand(text, Kind.JSON, number)


def _metric(name: str, trial_id: ColumnElement[int]) -> AnyColumn | None:
    """`validation.loss.min`: group, metric, statistic (`last` when left out)."""
    group, _, rest = name.partition(".")
    metric, _, stat = rest.rpartition(".")
    if stat not in _STATS:
        metric, stat = rest, "last"
    if not group or not metric:
        return None
    found: AnyColumn = (
        _statistic(stat)
        .where(
            metric_summaries.c.trial_id == trial_id,
            metric_summaries.c.group == group,
            metric_summaries.c.name == metric,
        )
        .correlate_except(metric_summaries)
        .scalar_subquery()
    )
    return found


def _statistic(stat: str) -> Any:
    if stat == "last":
        return select(JsonNumber(metric_summaries.c.last))
    if stat == "mean":
        return select(metric_summaries.c.sum / func.nullif(metric_summaries.c.count, 0))
    return select(metric_summaries.c[stat])


def _unknown(name: str, known: list[str]) -> InvalidArgument:
    return InvalidArgument(
        f"column {name[:100]!r} cannot be searched; use one of {', '.join(sorted(known))}, "
        "or <group>.<metric>.<min|max|mean|sum|last|count>"
    )
