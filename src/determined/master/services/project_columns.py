"""The columns a project's table of experiments or runs can show. Pure."""

from collections.abc import Sequence

from determined.wire.project import ColumnType, LocationType, MetricsRange, ProjectColumn, TableType

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
)

_METRIC_LOCATION = {"validation": LocationType.VALIDATIONS, "training": LocationType.TRAINING}


def columns(metrics: Sequence[MetricsRange], table: TableType | None) -> list[ProjectColumn]:
    """Fixed columns first, then one for each metric of the project."""
    fixed, place = (_RUN, LocationType.RUN) if table == TableType.RUN else (_EXPERIMENT, LocationType.EXPERIMENT)
    general = [ProjectColumn(column=name, display_name=shown, type=kind, location=place) for name, shown, kind in fixed]
    return general + [_metric(one.metrics_name) for one in metrics]


def _metric(name: str) -> ProjectColumn:
    group = name.partition(".")[0]
    location = _METRIC_LOCATION.get(group, LocationType.CUSTOM_METRIC)
    return ProjectColumn(column=f"{name}.last", display_name=name, type=ColumnType.NUMBER, location=location)
