"""MLflow's tracking server, read over its REST API: the same runs as in its database, which may be out of reach."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from determined._json import JsonObject
from determined.master.importing.clean import clean_text
from determined.master.importing.sources.mlflow.rest import MlflowRefused, RestClient
from determined.master.importing.sources.mlflow.stored import Point, StoredExperiment, StoredRun, unbounded

_PAGE = 1000  # the most that a server gives at once
_ACTIVE, _DELETED = "ACTIVE_ONLY", "DELETED_ONLY"


class Server:
    def __init__(self, source: str) -> None:
        self._rest = RestClient(source)
        self.address = clean_text(self._rest.address)

    def experiments(self) -> Iterator[StoredExperiment]:
        """Yield the experiments that are not deleted. Raises DeterminedError."""
        search = {"view_type": _ACTIVE, "max_results": _PAGE, "order_by": ["experiment_id ASC"]}
        for row in list(self._rest.pages("experiments/search", "experiments", **search)):
            id_ = str(row.get("experiment_id"))
            experiment = StoredExperiment(id_, str(row.get("name") or id_))
            experiment.runs = [self._run(found) for found in self._runs(id_, _ACTIVE)]
            experiment.runs.sort(key=lambda run: (run.start or 0, run.id))
            experiment.deleted_runs = sum(1 for _ in self._runs(experiment.id, _DELETED))
            yield experiment

    def registered_models(self) -> list[str]:
        """Return the names of models; none where the server has no registry."""
        try:
            answer = self._rest.get("registered-models/search", max_results="1000")
        except MlflowRefused:
            return []
        return [str(model.get("name")) for model in answer.get("registered_models") or ()]

    def _runs(self, experiment_id: str, view: str) -> Iterator[JsonObject]:
        search = {"experiment_ids": [experiment_id], "run_view_type": view, "max_results": _PAGE}
        return self._rest.pages("runs/search", "runs", **search, order_by=["attributes.start_time ASC"])

    def _run(self, row: JsonObject) -> StoredRun:
        info, data = row.get("info") or {}, row.get("data") or {}
        run_id = str(info.get("run_id") or info.get("run_uuid"))
        names = {str(metric.get("key")) for metric in data.get("metrics") or ()}
        return StoredRun(
            id=run_id,
            name=str(info.get("run_name") or ""),
            status=str(info.get("status") or ""),
            start=_number(info.get("start_time")),
            end=_number(info.get("end_time")),
            artifact_uri=str(info.get("artifact_uri") or ""),
            user=str(info.get("user_id") or ""),
            params=_pairs(data.get("params")),
            tags=_pairs(data.get("tags")),
            metric_names=names,
            points=partial(self._points, run_id, sorted(names)),
        )

    def _points(self, run_id: str, names: list[str]) -> Iterator[Point]:
        """Yield the history of metrics. Pages of it are not asked for: a server on files refuses them."""
        for name in names:
            fields = {"run_id": run_id, "metric_key": name}
            while True:
                answer = self._rest.get("metrics/get-history", **fields)
                yield from (point for row in answer.get("metrics") or () if (point := _point(name, row)) is not None)
                if not answer.get("next_page_token") or answer["next_page_token"] == fields.get("page_token"):
                    break
                fields["page_token"] = str(answer["next_page_token"])


def _point(name: str, row: JsonObject) -> Point | None:
    """Return a point; None for what is none. JSON of protobuf may have integers as texts, and has NaN as one."""
    try:
        return Point(name, int(row["timestamp"]), unbounded(float(row["value"])), int(row.get("step") or 0))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _pairs(listed: Any) -> dict[str, str]:
    return {str(pair.get("key")): str(pair.get("value", "")) for pair in listed or ()}


def _number(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
