"""The columns a project's table of experiments or runs can show, and what they hold."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from determined.master.context import MasterContext
from determined.master.db.queries import experiment_list, metric_range
from determined.master.db.queries import project_columns as rows
from determined.master.services import project as projects
from determined.master.services.column_digest import MAX_VALUES, Facts, digest
from determined.wire.codec import plain
from determined.wire.project import (
    ColumnType,
    GetProjectColumnsResponse,
    ListProjectColumns,
    LocationType,
    ProjectColumn,
    TableType,
)

_TEXT, _NUMBER, _DATE = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.DATE

_EXPERIMENT = (
    ("id", "ID", _NUMBER),
    ("name", "Name", _TEXT),
    ("description", "Description", _TEXT),
    ("tags", "Tags", _TEXT),
    ("forkedFrom", "Forked", _NUMBER),
    ("startTime", "Start time", _DATE),
    ("duration", "Duration", _NUMBER),
    ("numTrials", "Trials", _NUMBER),
    ("state", "State", _TEXT),
    ("searcherType", "Searcher", _TEXT),
    ("resourcePool", "Resource pool", _TEXT),
    ("progress", "Progress", _NUMBER),
    ("checkpointSize", "Checkpoint size", _NUMBER),
    ("checkpointCount", "Checkpoints", _NUMBER),
    ("user", "User", _TEXT),
    ("searcherMetric", "Searcher metric", _TEXT),
    ("searcherMetricsVal", "Searcher metric value", _NUMBER),
    ("externalExperimentId", "External experiment ID", _TEXT),
    ("externalTrialId", "External trial ID", _TEXT),
)

_RUN = (
    ("id", "Global run ID", _NUMBER),
    ("state", "State", _TEXT),
    ("startTime", "Start time", _DATE),
    ("endTime", "End time", _DATE),
    ("duration", "Duration", _NUMBER),
    ("checkpointSize", "Checkpoint size", _NUMBER),
    ("checkpointCount", "Checkpoints", _NUMBER),
    ("externalRunId", "External run ID", _TEXT),
    ("experimentName", "Search name", _TEXT),
    ("experimentId", "Search ID", _NUMBER),
    ("searcherMetric", "Searcher metric", _TEXT),
    ("searcherMetricsVal", "Searcher metric value", _NUMBER),
    ("user", "User", _TEXT),
    ("tags", "Tags", _TEXT),
    ("searcherType", "Searcher", _TEXT),
    ("resourcePool", "Resource pool", _TEXT),
    ("experimentDescription", "Search description", _TEXT),
    ("experimentProgress", "Search progress", _NUMBER),
    ("forkedFrom", "Forked", _NUMBER),
    ("isExperimentMultitrial", "Part of search", _TEXT),
    ("externalExperimentId", "External experiment ID", _TEXT),
    ("restarts", "Restarts", _NUMBER),
    ("archived", "Archived", _TEXT),
    ("logPolicyMatched", "Log policy matched", _TEXT),
)

_LISTED = frozenset(
    {"name", "state", "user", "tags", "searcherType", "searcherMetric", "resourcePool", "experimentName",
     "logPolicyMatched"}
)  # fmt: skip
_METRIC_LOCATION = {"validation": LocationType.VALIDATIONS, "training": LocationType.TRAINING}
_STATISTICS = ("last", "max", "mean", "min")
_REMEMBERED = 64


async def list_columns(ctx: MasterContext, project_id: int, params: ListProjectColumns) -> GetProjectColumnsResponse:
    """Fixed columns first, then hyperparameters, metadata of runs, and metrics of numbers. Raises NotFound."""
    await projects.get(ctx, project_id)
    hparams = await _hparams(ctx, project_id)

    def read(conn: Connection) -> GetProjectColumnsResponse:
        found = _fixed(params) + _user_data("hp.", hparams, params)
        if _of_run(params):
            found += _user_data("metadata.", digest(rows.metadata(conn, project_id)), params)
        for group, name in metric_range.names_of_project(conn, project_id):
            found += _metric(group, name)
        matching = [column for column in found if _matches(column, params.search.lower())]
        shown = matching[: params.limit] if params.limit and params.limit > 0 else matching
        for column in shown:
            _list_values(conn, project_id, column, params)
        return GetProjectColumnsResponse(columns=shown, total=len(matching))

    return await ctx.db.read(read)


async def metadata_values(ctx: MasterContext, project_id: int, key: str) -> list[str]:
    """List the texts that runs of a project have under a key of their metadata. Raises NotFound."""
    await projects.get(ctx, project_id)
    facts = await ctx.db.read(lambda conn: digest(rows.metadata(conn, project_id)).get(key.removeprefix("metadata.")))
    return [value for value in facts.shown() if isinstance(value, str)] if facts else []


async def _hparams(ctx: MasterContext, project_id: int) -> dict[str, Facts]:
    """Return the facts of all trials of the project, kept until there are others. Only the event loop touches them."""
    mark = await ctx.db.read(lambda conn: rows.mark(conn, project_id))
    key = ctx.cluster.cluster_id, project_id, *mark
    if key not in _recent:
        _recent[key] = await ctx.db.read(lambda conn: digest(rows.hparams(conn, project_id)))
    _recent.move_to_end(key)
    while len(_recent) > _REMEMBERED:
        _recent.popitem(last=False)
    return _recent[key]


_recent: OrderedDict[tuple[object, ...], dict[str, Facts]] = OrderedDict()


def _of_run(params: ListProjectColumns) -> bool:
    return params.table_type == TableType.RUN


def _fixed(params: ListProjectColumns) -> list[ProjectColumn]:
    fixed, place = (_RUN, LocationType.RUN) if _of_run(params) else (_EXPERIMENT, LocationType.EXPERIMENT)
    return [ProjectColumn(column=name, display_name=shown, type=kind, location=place) for name, shown, kind in fixed]


def _user_data(prefix: str, facts_by_name: dict[str, Facts], params: ListProjectColumns) -> list[ProjectColumn]:
    place = _PLACES[prefix, _of_run(params)]
    return [
        ProjectColumn(
            column=prefix + path,
            display_name=path,
            type=_NUMBER if facts.numeric else _TEXT,
            location=place,
            values=plain(facts.shown()) if params.values else None,
            more_values=facts.more if params.values else None,
        )
        for path, facts in facts_by_name.items()
    ]


_PLACES = {
    ("hp.", True): LocationType.RUN_HYPERPARAMETERS,
    ("hp.", False): LocationType.HYPERPARAMETERS,
    ("metadata.", True): LocationType.RUN_METADATA,
}


def _metric(group: str, name: str) -> list[ProjectColumn]:
    """Make a column of each statistic; the last value goes by the metric's own name."""
    location = _METRIC_LOCATION.get(group, LocationType.CUSTOM_METRIC)
    path = f"{group}.{name}"
    shown = {statistic: f"{path}.{statistic}" for statistic in _STATISTICS} | {"last": path}
    return [
        ProjectColumn(column=f"{path}.{statistic}", display_name=label, type=_NUMBER, location=location)
        for statistic, label in shown.items()
    ]


def _matches(column: ProjectColumn, text: str) -> bool:
    return text in column.column.lower() or text in (column.display_name or "").lower()


def _list_values(conn: Connection, project_id: int, column: ProjectColumn, params: ListProjectColumns) -> None:
    if not params.values or column.column not in _LISTED:
        return
    values = _VALUES.get(column.column, _distinct)(conn, project_id, column.column, params)
    column.values, column.more_values = list(values[:MAX_VALUES]), len(values) > MAX_VALUES


def _distinct(conn: Connection, project_id: int, name: str, params: ListProjectColumns) -> Sequence[object]:
    return rows.distinct(conn, project_id, name, MAX_VALUES + 1, of_run=_of_run(params))


def _labels(conn: Connection, project_id: int, _name: str, _params: ListProjectColumns) -> Sequence[object]:
    return experiment_list.labels_by_popularity(conn, project_id)


def _states(conn: Connection, project_id: int, name: str, params: ListProjectColumns) -> Sequence[object]:
    return [f"STATE_{state}" for state in _distinct(conn, project_id, name, params)]


_VALUES: dict[str, Callable[[Connection, int, str, ListProjectColumns], Sequence[object]]] = {
    "tags": _labels,
    "state": _states,
}
