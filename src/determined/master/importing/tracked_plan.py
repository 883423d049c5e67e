"""Plan of an import from another tracker: what is new, counted, and what is to be said about it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.master.db.queries.imported import TrackedHere
from determined.master.importing.clean import clean_text
from determined.master.importing.notes import Outcome, Rule, Tally
from determined.master.importing.tracked import TrackedExperiment, TrackedSource, TrackedTrial
from determined.master.importing.tracked_metrics import METRIC, MetricChoice
from determined.master.importing.tracked_rows import external_id

REPEATED = Rule("repeated", Outcome.LEFT_OUT, "Runs whose id another run of the store has; the first one is taken.")
KNOWN = Rule("known", Outcome.LEFT_OUT, "Runs that are here already: of an earlier import.")
EMPTY = Rule("empty", Outcome.LEFT_OUT, "Stores that hold no runs: there is nothing to take.")
RULES = {rule.name: rule for rule in (REPEATED, KNOWN, EMPTY, METRIC)}
EXPERIMENTS, TRIALS, WORKSPACES, PROJECTS = "experiments", "trials", "workspaces", "projects"


@dataclass(frozen=True, slots=True)
class New:
    """Experiment of the source with the trials that earlier imports have not stored."""

    experiment: TrackedExperiment
    trials: list[TrackedTrial]
    is_known: bool  # earlier imports have stored the experiment


@dataclass(slots=True)
class TrackedSurvey:
    counts: dict[str, int] = field(default_factory=lambda: {EXPERIMENTS: 0, TRIALS: 0})
    stored_trials: int = 0  # trials of earlier imports
    tally: Tally = field(default_factory=Tally)

    def totals(self) -> dict[str, int]:
        return self.counts

    def to_json(self) -> JsonObject:
        return {"counts": self.counts, "known_trials": self.stored_trials}


def new_of(
    source: TrackedSource, stored_experiments: Mapping[str, TrackedHere], tally: Tally | None = None
) -> Iterator[New]:
    """Yield what earlier imports have not stored, in the order of the source; `tally` hears of the others.

    Raises DeterminedError.
    """
    seen: set[str] = set()
    for experiment in source.experiments():
        id_ = external_id(source.identity, experiment.external_id)
        if id_ in seen:
            _note(tally, REPEATED, experiment.external_id)
            continue
        seen.add(id_)
        stored = stored_experiments.get(id_)
        trials = _new_trials(experiment, stored.trials if stored else {}, tally)
        if stored is None or trials:
            yield New(experiment, trials, stored is not None)


def look(
    source: TrackedSource, stored_experiments: Mapping[str, TrackedHere], choice: MetricChoice | None = None
) -> TrackedSurvey:
    """Count what is new. `choice`: that of the source, which may name a metric that no run has.

    Raises DeterminedError.
    """
    survey = TrackedSurvey(stored_trials=sum(len(stored.trials) for stored in stored_experiments.values()))
    for new in new_of(source, stored_experiments, survey.tally):
        survey.counts[EXPERIMENTS] += not new.is_known
        survey.counts[TRIALS] += len(new.trials)
        survey.tally.add(new.experiment.findings)
    if not any(survey.counts.values()) and KNOWN.name not in survey.tally.counts:
        survey.tally.add_many(EMPTY, 1, source.address)
    survey.tally.add(choice.findings() if choice else ())
    return survey


def _new_trials(
    experiment: TrackedExperiment, stored_trials: Mapping[str, int], tally: Tally | None
) -> list[TrackedTrial]:
    new: dict[str, TrackedTrial] = {}
    for trial in experiment.trials:
        id_ = clean_text(trial.external_id)
        if id_ in new:
            _note(tally, REPEATED, f"{trial.external_id} of {experiment.external_id}")
        elif id_ in stored_trials:
            _note(tally, KNOWN, trial.external_id)
        else:
            new[id_] = trial
    return list(new.values())


def _note(tally: Tally | None, rule: Rule, example: str) -> None:
    if tally is not None:
        tally.add_many(rule, 1, example)
