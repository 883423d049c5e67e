"""Runs of W&B as tracked experiments: history, system statistics, config, output, end."""

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.master.importing.clean import clean_text
from determined.master.importing.notes import Note, Outcome, Rule
from determined.master.importing.sources.wandb import records
from determined.master.importing.sources.wandb.reading import Run, log_records, read_runs, store_of
from determined.master.importing.sources.wandb.records import DamagedRecord, Message, items, moment_of
from determined.master.importing.tracked import TrackedExperiment, TrackedLog, TrackedReport, TrackedTrial
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.lifecycle.states import State

MEDIA = Rule("wandb_media", Outcome.LEFT_OUT, "Media of the history (images, tables, histograms), counted per run.")
UNENDED = Rule("wandb_unended", Outcome.CHANGED, "Runs whose log has no end are CANCELED.")
DAMAGED = Rule("wandb_damaged", Outcome.LEFT_OUT, "Records of a log that could not be read; the others are taken.")
RULES = {rule.name: rule for rule in (MEDIA, UNENDED, DAMAGED)}

_TEXT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class WandbSource:
    """Directory `wandb` that W&B wrote beside a script, its parent, or the directory of one run."""

    kind, title = "wandb", "W&B"
    rules = RULES

    def __init__(self, source: str, choice: MetricChoice | None = None) -> None:
        self._path, self._choice = Path(source), choice or MetricChoice()
        self.address = clean_text(str(self._path.resolve()))
        self.identity = clean_text(str(store_of(self._path)))

    def experiments(self) -> Iterator[TrackedExperiment]:
        """Yield an experiment for each run outside a sweep and for each sweep. Raises DeterminedError."""
        groups: dict[str, list[Run]] = {}
        for run in read_runs(self._path):
            groups.setdefault(f"sweep/{run.sweep}" if run.sweep else run.id, []).append(run)
        yield from (experiment(name, runs, self._choice) for name, runs in groups.items())


def experiment(external_id: str, runs: list[Run], choice: MetricChoice) -> TrackedExperiment:
    """Map the runs of a sweep, or one run."""
    first = runs[0]
    project = first.project or "uncategorized"
    metric, smaller_is_better = choice.compared({name for run in runs for name in _metric_names(run)})
    return TrackedExperiment(
        external_id=f"{project}/{external_id}",
        name=f"sweep {first.sweep}" if first.sweep else first.name or first.id,
        project=project,
        state=_experiment_state(runs),
        trials=[_trial(project, run, choice) for run in runs],
        notes=first.notes,
        labels=sorted({tag for run in runs for tag in run.tags}),
        is_search=bool(first.sweep),
        metric=metric,
        smaller_is_better=smaller_is_better,
        findings=[note for run in runs for note in _findings(run)],
    )


def _trial(project: str, run: Run, choice: MetricChoice) -> TrackedTrial:
    about = {"id": run.id, "name": run.name, "group": run.group, "job_type": run.job_type, "host": run.host}
    return TrackedTrial(
        external_id=f"{project}/{run.id}",
        state=_state(run),
        started_at=run.started_at,
        ended_at=run.ended_at or run.started_at,
        hparams={key: value for key, value in run.config.items() if key != "_wandb"},
        metadata={"wandb": {key: value for key, value in about.items() if value}, "summary": _summary(run)},
        is_live=run.exit_code is None,
        reports=partial(reports, run, choice),
        logs=partial(logs, run),
    )


def reports(run: Run, choice: MetricChoice) -> Iterator[TrackedReport]:
    """Yield history by its step, and system statistics by whole seconds of the run as `system`."""
    for number, message in log_records(run):
        if number == records.HISTORY:
            yield from _history(message, choice)
        elif number == records.STATS and (report := _statistics(run, message)) is not None:
            yield report


def logs(run: Run) -> Iterator[TrackedLog]:
    """Yield the lines of output. Text comes in pieces, and those of stdout and stderr are joined apart."""
    rest: dict[int, str] = {}
    time: datetime | None = None
    for number, message in log_records(run):
        if number in (records.OUTPUT, records.OUTPUT_LINE):
            try:
                stream, time, text = message.number(1), message.time(2), message.text(3)
            except DamagedRecord:
                continue  # named as damage when the run was read
            *lines, rest[stream] = (rest.get(stream, "") + text).split("\n")
            yield from (TrackedLog(time, _shown(line)) for line in lines)
    yield from (TrackedLog(time, _shown(line)) for line in rest.values() if line)


def _shown(line: str) -> str:
    """Return a line as a terminal shows it: a progress bar writes over itself."""
    return line.rstrip("\r").rpartition("\r")[2]


def _history(message: Message, choice: MetricChoice) -> Iterator[TrackedReport]:
    try:
        row = items(message, 1)
        step = int(row.get("_step", message.message(2).number(1)))
    except (DamagedRecord, TypeError, ValueError, OverflowError):
        return  # named as damage when the run was read
    groups: dict[str, JsonObject] = {}
    for name, value in _flat({key: value for key, value in row.items() if not key.startswith("_")}):
        groups.setdefault(choice.group(name), {})[name] = value
    for group, metrics in groups.items():
        yield TrackedReport(group, step, moment_of(row.get("_timestamp")), metrics)


def _statistics(run: Run, message: Message) -> TrackedReport | None:
    try:
        time, values = message.time(2), dict(_flat(items(message, 3)))
    except DamagedRecord:
        return None
    if time is None or run.started_at is None or not values:
        return None
    return TrackedReport("system", max(0, int((time - run.started_at).total_seconds())), time, values)


def _flat(values: JsonObject, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield numbers and texts by their names joined with `.`; media and lists are no metrics."""
    for key, value in values.items():
        if isinstance(value, dict) and "_type" not in value:
            yield from _flat(value, f"{prefix}{key}.")
        elif isinstance(value, str):
            yield f"{prefix}{key}", _TEXT_NUMBERS.get(value, value)
        elif isinstance(value, bool | int | float):
            yield f"{prefix}{key}", value


def _metric_names(run: Run) -> set[str]:
    """Return the names of the history, and of the summary, which a run that was cut off does not have."""
    return run.logged | {name for name, _ in _flat(_summary(run))}


def _summary(run: Run) -> JsonObject:
    return {
        key: value
        for key, value in run.summary.items()
        if not key.startswith("_") and not (isinstance(value, dict) and "_type" in value)
    }


def _state(run: Run) -> State:
    if run.exit_code is None:
        return State.CANCELED
    return State.COMPLETED if run.exit_code == 0 else State.ERROR


def _experiment_state(runs: Iterable[Run]) -> State:
    """Return the state of a run or sweep: one with a completed run is completed, as a search here would be."""
    states = {_state(run) for run in runs}
    return next(state for state in (State.COMPLETED, State.ERROR, State.CANCELED) if state in states)


def _findings(run: Run) -> Iterator[Note]:
    if run.media:
        yield Note(MEDIA, f"run {run.id}: {run.media}")
    if run.exit_code is None:
        yield Note(UNENDED, f"run {run.id}")
    yield from (Note(DAMAGED, text) for text in run.damage)
