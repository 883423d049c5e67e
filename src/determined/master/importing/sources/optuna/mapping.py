"""Studies of Optuna as tracked experiments: parameters decoded, values as validation metrics, states that are over."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from determined.master.importing.clean import parse_json
from determined.master.importing.notes import Note, Outcome, Rule
from determined.master.importing.sources.optuna.reading import address_of, open_studies
from determined.master.importing.sources.optuna.stored import StoredStudy, StoredTrial
from determined.master.importing.tracked import TrackedExperiment, TrackedReport, TrackedTrial
from determined.master.lifecycle.states import State

LIVE = Rule("optuna_running", Outcome.CHANGED, "Trials that were RUNNING are CANCELED; they are not taken up again.")
WAITING = Rule("optuna_waiting", Outcome.LEFT_OUT, "Trials that were WAITING: they have not begun.")
OBJECTIVES = Rule(
    "optuna_objectives",
    Outcome.CHANGED,
    "Studies with several objectives: the first is the metric of the experiment; all are stored as value_0, value_1...",
)
DAMAGED = Rule("optuna_damaged", Outcome.LEFT_OUT, "Lines or attributes of the storage that could not be read.")
RULES = {rule.name: rule for rule in (LIVE, WAITING, OBJECTIVES, DAMAGED)}

_STATES = {"COMPLETE": State.COMPLETED, "PRUNED": State.COMPLETED, "FAIL": State.ERROR, "RUNNING": State.CANCELED}
_INTERMEDIATE = "intermediate_value"
_INTEGERS = frozenset({"IntDistribution", "IntUniformDistribution", "IntLogUniformDistribution", "int"})


class OptunaSource:
    """Storage of Optuna: `source` is the URL of a database or the path of a journal file."""

    kind, title = "optuna", "Optuna"
    rules = RULES

    def __init__(self, source: str) -> None:
        self._source = source
        self.address = self.identity = address_of(source)

    def experiments(self) -> Iterator[TrackedExperiment]:
        """Yield an experiment for each study, in the order in which they were created. Raises DeterminedError."""
        with open_studies(self._source) as studies:
            yield from map(experiment, studies)


def experiment(study: StoredStudy) -> TrackedExperiment:
    """Map a study; its name is also that of the project."""
    begun = [trial for trial in study.trials if trial.state in _STATES]
    return TrackedExperiment(
        external_id=study.name,
        name=study.name,
        project=study.name,
        state=_state(begun),
        trials=[_trial(study, trial) for trial in begun],
        notes="\n".join(f"{key}: {json.dumps(value)}" for key, value in study.user_attrs.items()),
        is_search=len(begun) > 1,
        metric=_metrics(study)[0],
        smaller_is_better=study.directions[:1] != ["MAXIMIZE"],
        findings=list(_findings(study)),
    )


def parameter(internal: float, distribution: str) -> Any:
    """Return the value that the objective got: choices are stored by their index, integers as floats."""
    try:
        described = parse_json(distribution)
        attributes = described.get("attributes", described)
        if "choices" in attributes:
            return attributes["choices"][int(internal)]
        is_integer = (described.get("name") or described.get("type")) in _INTEGERS
        return int(internal) if is_integer else internal
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return internal


def _trial(study: StoredStudy, trial: StoredTrial) -> TrackedTrial:
    about = {"number": trial.number, "system_attrs": trial.system_attrs}
    return TrackedTrial(
        external_id=f"{study.name}/{trial.number}",
        state=_STATES[trial.state],
        started_at=trial.started_at,
        ended_at=trial.ended_at,
        hparams={name: parameter(*stored) for name, stored in trial.params.items()},
        metadata={**trial.user_attrs, "optuna": about},
        early_stopped=trial.state == "PRUNED",
        is_live=trial.state == "RUNNING",
        reports=partial(_reports, _metrics(study), trial),
    )


def _reports(metrics: list[str], trial: StoredTrial) -> Iterator[TrackedReport]:
    """Yield the intermediate values, then the final ones a step later; a pruned trial's is its last intermediate.

    They have different names: the best trial of a study is the one with the best final value.
    """
    for step, value in sorted(trial.intermediate_values.items()):
        yield TrackedReport("validation", step, None, {_INTERMEDIATE: value})
    if trial.values and not (trial.state == "PRUNED" and trial.intermediate_values):
        step = max(trial.intermediate_values, default=-1) + 1
        yield TrackedReport("validation", step, trial.ended_at, dict(zip(metrics, trial.values, strict=False)))


def _metrics(study: StoredStudy) -> list[str]:
    count = len(study.directions)
    return [f"value_{number}" for number in range(count)] if count > 1 else ["value"]


def _state(trials: Iterable[StoredTrial]) -> State:
    """Return the state of a study, which Optuna does not have: it is over, and failed where every trial did."""
    states = {_STATES[trial.state] for trial in trials}
    if not states or State.COMPLETED in states:
        return State.COMPLETED
    return State.ERROR if State.ERROR in states else State.CANCELED


def _findings(study: StoredStudy) -> Iterator[Note]:
    for trial in study.trials:
        if trial.state == "RUNNING":
            yield Note(LIVE, f"study {study.name!r}, trial {trial.number}")
        elif trial.state not in _STATES:
            yield Note(WAITING, f"study {study.name!r}, trial {trial.number}")
    if len(study.directions) > 1:
        yield Note(OBJECTIVES, f"study {study.name!r}: {len(study.directions)} objectives")
    yield from (Note(DAMAGED, f"study {study.name!r}: {text}") for text in study.damage)
