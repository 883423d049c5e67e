"""Runs of TensorBoard as tracked experiments: runs in one directory are the trials of one experiment."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from determined.master.importing.clean import clean_text
from determined.master.importing.notes import Note, Outcome, Rule
from determined.master.importing.sources.tensorboard.reading import Run, read_runs, scalars
from determined.master.importing.tracked import TrackedExperiment, TrackedReport, TrackedTrial
from determined.master.importing.tracked_metrics import MetricChoice
from determined.master.lifecycle.states import State

DAMAGED = Rule("tensorboard_damaged", Outcome.LEFT_OUT, "Event files that are damaged: what comes before is taken.")
NO_SCALARS = Rule(
    "tensorboard_no_scalars", Outcome.LEFT_OUT, "Runs without scalars: images, texts and graphs stay out."
)
RULES = {rule.name: rule for rule in (DAMAGED, NO_SCALARS)}

_STATES = {2: State.ERROR, 3: State.CANCELED}  # of the hparams plugin: failure, running


class TensorBoardSource:
    """Log directory of TensorBoard."""

    kind, title = "tensorboard", "TensorBoard"
    rules = RULES

    def __init__(self, source: str, choice: MetricChoice | None = None) -> None:
        self._path, self._choice = Path(source), choice or MetricChoice()
        self.address = self.identity = clean_text(str(self._path.resolve()))

    def experiments(self) -> Iterator[TrackedExperiment]:
        """Yield an experiment for each directory that holds runs. Raises DeterminedError."""
        groups: dict[str, list[Run]] = {}
        for run in read_runs(self._path):
            groups.setdefault(str(PurePosixPath(run.name).parent), []).append(run)
        for folder, runs in groups.items():
            yield self._experiment(folder, runs)

    def _experiment(self, folder: str, runs: Sequence[Run]) -> TrackedExperiment:
        root = self._path.resolve().name or "TensorBoard"
        metric, smaller_is_better = self._choice.compared({tag for run in runs for _, tag in run.tags})
        taken = [run for run in runs if run.tags or run.hparams]
        return TrackedExperiment(
            external_id=folder,
            name=root if folder == "." else folder,
            project=root,
            state=_state(runs),
            trials=[_trial(run, self._choice) for run in taken],
            is_search=len(taken) > 1,
            metric=metric,
            smaller_is_better=smaller_is_better,
            findings=list(_findings(runs)),
        )


def _trial(run: Run, choice: MetricChoice) -> TrackedTrial:
    return TrackedTrial(
        external_id=run.name,
        state=_run_state(run),
        started_at=_moment(run.first),
        ended_at=_moment(run.last),
        hparams=run.hparams,
        metadata={"tensorboard": {"run": run.name}},
        reports=partial(_reports, run, choice),
    )


def _reports(run: Run, choice: MetricChoice) -> Iterator[TrackedReport]:
    for group, scalar in scalars(run):
        moment = _moment(scalar.time)
        yield TrackedReport(group or choice.group(scalar.tag), scalar.step, moment, {scalar.tag: scalar.value})


def _run_state(run: Run) -> State:
    return _STATES.get(run.status or 0, State.COMPLETED)


def _state(runs: Sequence[Run]) -> State:
    states = {_run_state(run) for run in runs}
    return next(state for state in (State.COMPLETED, State.ERROR, State.CANCELED) if state in states)


def _findings(runs: Sequence[Run]) -> Iterator[Note]:
    for run in runs:
        if not run.tags and not run.hparams:
            yield Note(NO_SCALARS, run.name)
        yield from (Note(DAMAGED, text) for text in run.damaged)


def _moment(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
