"""Plan of an import from another tracker: what is new, counted, and what is to be said about it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from determined._json import JsonObject
from determined.master.db.queries.imported import TrackedHere
from determined.master.importing.clean import clean_text
from determined.master.importing.notes import Tally
from determined.master.importing.tracked import TrackedExperiment, TrackedSource, TrackedTrial
from determined.master.importing.tracked_rows import external_id

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
    known: int = 0  # trials of earlier imports
    tally: Tally = field(default_factory=Tally)

    def totals(self) -> dict[str, int]:
        return self.counts

    def to_json(self) -> JsonObject:
        return {"counts": self.counts, "known_trials": self.known}


def new_of(source: TrackedSource, known: Mapping[str, TrackedHere]) -> Iterator[New]:
    """Yield what earlier imports have not stored, in the order of the source. Raises DeterminedError."""
    for experiment in source.experiments():
        here = known.get(external_id(source.identity, experiment.external_id))
        trials = [
            trial for trial in experiment.trials if here is None or clean_text(trial.external_id) not in here.trials
        ]
        if here is None or trials:
            yield New(experiment, trials, here is not None)


def look(source: TrackedSource, known: Mapping[str, TrackedHere]) -> TrackedSurvey:
    """Count what is new. Raises DeterminedError."""
    survey = TrackedSurvey(known=sum(len(here.trials) for here in known.values()))
    for new in new_of(source, known):
        survey.counts[EXPERIMENTS] += not new.is_known
        survey.counts[TRIALS] += len(new.trials)
        survey.tally.add(new.experiment.findings)
    return survey
