"""MLflow's tracking server, read over its REST API: the same runs as in its database, which may be out of reach."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from determined.master.importing.clean import clean_text
from determined.master.importing.sources.mlflow import answers
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
        pages = self._rest.pages("experiments/search", answers.Experiments, **search)
        for row in [row for page in pages for row in page.experiments or ()]:
            id_ = _text(row.experiment_id)
            experiment = StoredExperiment(id_, _text(row.name) or id_)
            experiment.runs = [self._run(run) for run in self._runs(id_, _ACTIVE)]
            experiment.runs.sort(key=lambda run: (run.start or 0, run.id))
            experiment.deleted_runs = sum(1 for _ in self._runs(experiment.id, _DELETED))
            yield experiment

    def registered_models(self) -> list[str]:
        """Return the names of models; none where the server has no registry."""
        try:
            (page, *_) = islice(self._rest.get_pages("registered-models/search", answers.Models, max_results="1000"), 1)
        except MlflowRefused:
            return []
        return [_text(model.name) for model in page.registered_models or ()]

    def _runs(self, experiment_id: str, view: str) -> Iterator[answers.Run]:
        search = {"experiment_ids": [experiment_id], "run_view_type": view, "max_results": _PAGE}
        pages = self._rest.pages("runs/search", answers.Runs, **search, order_by=["attributes.start_time ASC"])
        return (run for page in pages for run in page.runs or ())

    def _run(self, row: answers.Run) -> StoredRun:
        info, data = row.info or answers.Info(), row.data or answers.Data()
        run_id = _text(info.run_id or info.run_uuid)
        names = {_text(metric.key) for metric in data.metrics or ()}
        return StoredRun(
            id=run_id,
            name=_text(info.run_name),
            status=_text(info.status),
            start=_number(info.start_time),
            end=_number(info.end_time),
            artifact_uri=_text(info.artifact_uri),
            user=_text(info.user_id),
            params=_pairs(data.params),
            tags=_pairs(data.tags),
            metric_names=names,
            points=partial(self._points, run_id, sorted(names)),
        )

    def _points(self, run_id: str, names: list[str]) -> Iterator[Point]:
        """Yield the history of metrics. Pages of it are not asked for: a server on files refuses them."""
        for name in names:
            for page in self._rest.get_pages("metrics/get-history", answers.History, run_id=run_id, metric_key=name):
                yield from (point for row in page.metrics or () if (point := _point(name, row)) is not None)


def _point(name: str, row: answers.Value) -> Point | None:
    """Return a point; None for what is none. NaN is a text."""
    time, step = _number(row.timestamp), _number(row.step or 0)
    if time is None or step is None or row.value is None:
        return None
    try:
        return Point(name, time, unbounded(float(row.value)), step)
    except (ValueError, OverflowError):
        return None


def _pairs(listed: Sequence[answers.Pair] | None) -> dict[str, str]:
    return {_text(pair.key): _text(pair.value) for pair in listed or ()}


def _text(word: answers.Word) -> str:
    return "" if word is None else str(word)


def _number(value: answers.Number) -> int | None:
    try:
        return None if value is None else int(value)
    except (ValueError, OverflowError):
        return None
