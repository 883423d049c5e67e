"""Experiments of other trackers in one form: readers make it, and one writer stores it.

Reports and logs are callables, so that a reader opens a run's files only when the writer has come to it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from determined._json import JsonObject
from determined.master.importing.notes import Note, Rule
from determined.master.lifecycle.states import State


@dataclass(frozen=True, slots=True)
class TrackedReport:
    """Metrics of one step. Several reports of one step and group are joined; the later value wins."""

    group: str
    step: int
    time: datetime | None
    metrics: JsonObject


@dataclass(frozen=True, slots=True)
class TrackedLog:
    """Line of a log, without its newline."""

    time: datetime | None
    text: str


def _nothing() -> Iterable[object]:
    return ()


@dataclass(frozen=True, slots=True)
class TrackedTrial:
    """Run that has ended here. `external_id` is the source's own id: a second import leaves the trial alone by it.

    `is_live`: in the source it goes on, and may have more when it is read again.
    """

    external_id: str
    state: State
    started_at: datetime | None
    ended_at: datetime | None
    hparams: JsonObject = field(default_factory=dict)
    metadata: JsonObject = field(default_factory=dict)
    early_stopped: bool = False
    is_live: bool = False
    reports: Callable[[], Iterable[TrackedReport]] = _nothing  # type: ignore[assignment]
    logs: Callable[[], Iterable[TrackedLog]] = _nothing  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class TrackedExperiment:
    """Experiment of one or many trials. `project` is made in the workspace of the import where it is missing."""

    external_id: str
    name: str
    project: str
    state: State
    trials: Sequence[TrackedTrial]
    description: str = ""
    notes: str = ""
    labels: Sequence[str] = ()
    is_search: bool = False
    metric: str = "validation_loss"
    smaller_is_better: bool = True
    findings: Sequence[Note] = ()


class TrackedSource(Protocol):
    """Reader of one store. `identity` is the same whenever the same store is read; `address` has no secrets.

    `title` names the workspace where nobody says another.
    """

    kind: str
    title: str
    identity: str
    address: str
    rules: dict[str, Rule]

    def experiments(self) -> Iterator[TrackedExperiment]:
        """Yield the experiments in an order that is the same in every run. Raises DeterminedError."""
