"""Runs of MLflow as tracked experiments: a run with its children is a search, parameters are hyperparameters."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter

from determined._json import JsonObject
from determined.config.secret_names import mask_logins
from determined.master.importing.notes import Note, Outcome, Rule
from determined.master.importing.sources.mlflow.database import Database
from determined.master.importing.sources.mlflow.directory import Directory
from determined.master.importing.sources.mlflow.server import Server
from determined.master.importing.sources.mlflow.stored import Point, Store, StoredExperiment, StoredRun, moment
from determined.master.importing.tracked import TrackedExperiment, TrackedReport, TrackedTrial
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.lifecycle.states import State

LIVE = Rule("mlflow_running", Outcome.CHANGED, "Runs that had not ended are CANCELED.")
STEPS = Rule(
    "mlflow_steps", Outcome.CHANGED, "Metrics that were logged without steps are numbered in the order of their times."
)
DELETED = Rule("mlflow_deleted", Outcome.LEFT_OUT, "Runs that were deleted.")
MODELS = Rule(
    "mlflow_models",
    Outcome.BY_HAND,
    "Registered models: their versions are artifacts, which are no checkpoints. Upload those that you need as a "
    "checkpoint, and register it: `det model create NAME`, `det model register-version`.",
)
ARTIFACTS = Rule(
    "mlflow_artifacts", Outcome.BY_HAND, "Artifacts stay where they are; the metadata of a trial has their address."
)
DAMAGED = Rule("mlflow_damaged", Outcome.LEFT_OUT, "Files or lines that could not be read; the others are taken.")
RULES = {rule.name: rule for rule in (LIVE, STEPS, DELETED, MODELS, ARTIFACTS, DAMAGED)}

_STATES = {"FINISHED": State.COMPLETED, "FAILED": State.ERROR, "KILLED": State.CANCELED}
_PARENT, _NOTE, _NAME = "mlflow.parentRunId", "mlflow.note.content", "mlflow.runName"
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,30})")
_FLOAT = re.compile(r"-?(?:[0-9]{1,400}\.[0-9]{0,400}|\.[0-9]{1,400}|[0-9]{1,20}(?=[eE]))(?:[eE][-+]?[0-9]{1,4})?")
_WORDS = {"true": True, "false": False}


class MlflowSource:
    """Tracking store of MLflow: `source` is the path of its directory, or the URL of its database or server."""

    kind, title = "mlflow", "MLflow"
    rules = RULES

    def __init__(self, source: str, choice: MetricChoice | None = None) -> None:
        self._store = _store(source)
        self._choice = choice or MetricChoice()
        self.address = self.identity = self._store.address

    def experiments(self) -> Iterator[TrackedExperiment]:
        """Yield an experiment for each run without a parent, with its children. Raises DeterminedError."""
        general = [Note(MODELS, name) for name in self._store.registered_models()]  # told with the next experiment
        for stored in self._store.experiments():
            general += [Note(DAMAGED, text) for text in stored.damage]
            general += [Note(DELETED, f"experiment {stored.name}")] * stored.deleted_runs
            for runs in searches(stored.runs):
                yield _experiment(stored, runs, self._choice, general)
                general = []


def _store(source: str) -> Store:
    if source.lower().startswith(("http://", "https://")):
        return Server(source)
    return Database(source) if "://" in source else Directory(source)


def searches(runs: Sequence[StoredRun]) -> list[list[StoredRun]]:
    """Group runs by the ancestor that has no parent among them, which comes first."""
    by_id = {run.id: run for run in runs}
    groups: dict[str, list[StoredRun]] = {}
    for run in runs:
        groups.setdefault(_root(run, by_id), []).append(run)
    return [sorted(group, key=lambda run, root=root: run.id != root) for root, group in groups.items()]  # type: ignore[misc]


def value_of(text: str) -> bool | int | float | str | None:
    """Return a parameter as what it was before MLflow made text of it.

    What no number is written like stays text: `0123`, `1_000`, and `12e4567`, which is a commit. So does `none`, which
    many libraries take as a word; Python's None is written `None`.
    """
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 19 else text
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return None if text == "None" else _WORDS.get(text.lower(), text)


def numbered(points: Sequence[Point]) -> Sequence[Point]:
    """Number the points of one metric by their times where all were logged without a step."""
    if len(points) < 2 or any(point.step for point in points):
        return points
    return [point._replace(step=n) for n, point in enumerate(sorted(points, key=attrgetter("time")))]


def _root(run: StoredRun, by_id: Mapping[str, StoredRun]) -> str:
    seen = {run.id}
    while (parent := by_id.get(run.tags.get(_PARENT, ""))) is not None and parent.id not in seen:
        run = parent
        seen.add(run.id)
    return run.id


def _experiment(
    stored: StoredExperiment, runs: Sequence[StoredRun], choice: MetricChoice, general: Sequence[Note]
) -> TrackedExperiment:
    root, *children = runs
    trials = [root, *children] if root.metric_names or not children else children
    metric, smaller_is_better = choice.compared({name for run in trials for name in run.metric_names})
    return TrackedExperiment(
        external_id=root.id,
        name=_name(root),
        project=stored.name,
        state=_state(root),
        trials=[_trial(run, choice) for run in trials],
        notes=root.tags.get(_NOTE, ""),
        is_search=bool(children),
        metric=metric,
        smaller_is_better=smaller_is_better,
        findings=[*general, *(note for run in runs for note in _findings(run))],
    )


def _trial(run: StoredRun, choice: MetricChoice) -> TrackedTrial:
    about: JsonObject = {"run_id": run.id, "name": _name(run), "artifact_uri": _artifacts(run), "user": run.user}
    # of `mlflow.source.git.repoURL` and others; metadata is seen by everybody
    tags = {key: mask_logins(value) for key, value in run.tags.items() if key not in (_NOTE, _NAME)}
    return TrackedTrial(
        external_id=run.id,
        state=_state(run),
        started_at=moment(run.start),
        ended_at=moment(run.end),
        hparams={name: value_of(text) for name, text in run.params.items()},
        is_live=run.status not in _STATES,
        metadata={"mlflow": {key: value for key, value in about.items() if value}, "tags": tags},
        reports=partial(_reports, run, choice),
    )


def _reports(run: StoredRun, choice: MetricChoice) -> Iterator[TrackedReport]:
    for name, points in groupby(run.points(), key=attrgetter("name")):
        group = choice.group(name)
        for point in sorted(numbered(list(points)), key=attrgetter("step", "time")):
            yield TrackedReport(group, point.step, moment(point.time), {name: point.value})


def _name(run: StoredRun) -> str:
    return run.name or run.tags.get(_NAME) or run.id


def _artifacts(run: StoredRun) -> str:
    """Return the address of the artifacts; that of an FTP server has a password in it."""
    return mask_logins(run.artifact_uri)


def _state(run: StoredRun) -> State:
    return _STATES.get(run.status, State.CANCELED)


def _findings(run: StoredRun) -> Iterator[Note]:
    if run.status not in _STATES:
        yield Note(LIVE, f"run {run.id} was {run.status or 'without a status'}")
    if run.artifact_uri:
        yield Note(ARTIFACTS, f"run {run.id}: {_artifacts(run)}")
