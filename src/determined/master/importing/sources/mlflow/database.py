"""MLflow's tracking database, where NaN is 0 with a mark."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from determined.master.importing.read_only_database import connected, rows, shown_address, text_of
from determined.master.importing.sources.mlflow.stored import Point, StoredExperiment, StoredRun, unbounded

_EXPERIMENTS = """
SELECT experiment_id, name FROM experiments WHERE lifecycle_stage = 'active' ORDER BY experiment_id
"""
_DELETED = "SELECT count(*) FROM runs WHERE experiment_id = :experiment AND lifecycle_stage <> 'active'"
_RUNS = """
SELECT run_uuid, name, status, start_time, end_time, artifact_uri, user_id FROM runs
WHERE experiment_id = :experiment AND lifecycle_stage = 'active' ORDER BY start_time, run_uuid
"""
_OF_RUNS = """
SELECT x.run_uuid, x.key, x.value FROM {table} x JOIN runs r ON r.run_uuid = x.run_uuid
WHERE r.experiment_id = :experiment AND r.lifecycle_stage = 'active'
"""
_PARAMS, _TAGS = _OF_RUNS.format(table="params"), _OF_RUNS.format(table="tags")
_NAMES = """
SELECT DISTINCT m.run_uuid, m.key FROM {table} m JOIN runs r ON r.run_uuid = m.run_uuid
WHERE r.experiment_id = :experiment AND r.lifecycle_stage = 'active'
"""
_POINTS = "SELECT key, timestamp, value, step, is_nan FROM metrics WHERE run_uuid = :run ORDER BY key, timestamp, step"
_MODELS = "SELECT name FROM registered_models ORDER BY name"


class Database:
    def __init__(self, source: str) -> None:
        self._source = source
        self.address = shown_address(source)

    def experiments(self) -> Iterator[StoredExperiment]:
        """Yield the experiments that are not deleted. Raises DeterminedError."""
        with connected(self._source, "MLflow") as connection:
            for experiment_id, name in rows(connection, _EXPERIMENTS):
                yield self._experiment(connection, experiment_id, name)

    def registered_models(self) -> list[str]:
        with connected(self._source, "MLflow") as connection:
            return [text_of(name) for (name,) in rows(connection, _MODELS)]

    def _experiment(self, connection: Connection, experiment_id: int, name: str) -> StoredExperiment:
        runs = {
            row[0]: StoredRun(
                id=text_of(row[0]),
                name=text_of(row[1]),
                status=text_of(row[2]),
                start=_whole(row[3]),
                end=_whole(row[4]),
                artifact_uri=text_of(row[5]),
                user=text_of(row[6]),
            )
            for row in rows(connection, _RUNS, experiment=experiment_id)
        }
        for run_id, key, value in rows(connection, _PARAMS, experiment=experiment_id):
            if run_id in runs:  # a server may have added runs since
                runs[run_id].params[text_of(key)] = text_of(value)
        for run_id, key, value in rows(connection, _TAGS, experiment=experiment_id):
            if run_id in runs:
                runs[run_id].tags[text_of(key)] = text_of(value)
        for run_id, key in self._names(connection, experiment_id):
            if run_id in runs:
                runs[run_id].metric_names.add(text_of(key))
        for run_id, run in runs.items():
            run.points = partial(self._points, run_id)
        ((deleted,),) = rows(connection, _DELETED, experiment=experiment_id)
        return StoredExperiment(text_of(experiment_id), text_of(name), list(runs.values()), deleted)

    def _names(self, connection: Connection, experiment_id: int) -> list[tuple[str, str]]:
        try:
            with connection.begin_nested():
                return rows(connection, _NAMES.format(table="latest_metrics"), experiment=experiment_id)
        except SQLAlchemyError:  # older versions have no such table
            return rows(connection, _NAMES.format(table="metrics"), experiment=experiment_id)

    def _points(self, run_id: str) -> Iterator[Point]:
        with connected(self._source, "MLflow") as connection:
            for row in rows(connection, _POINTS, run=run_id):
                if (point := _point(*row)) is not None:
                    yield point


def _point(key: object, time: Any, value: Any, step: Any, is_nan: object) -> Point | None:
    """Return a point; None for what is none: SQLite stores anything in any column."""
    try:
        return Point(text_of(key), int(time), math.nan if is_nan else unbounded(float(value)), int(step))
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
