"""Experiment: submit-side handle to steer, wait for and read one."""

import base64
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from determined.api import experiment as api
from determined.api import hp_analysis, project
from determined.api.session import Session
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import ExperimentState, OrderBy, TrialSortBy
from determined.sdk.experiment_deprecated import DeprecatedExperimentMethods
from determined.sdk.numbered import Numbered
from determined.sdk.trial import Trial
from determined.wire.base import OrderBy as WireOrderBy
from determined.wire.checkpoint import Checkpoint as WireCheckpoint
from determined.wire.checkpoint import ListCheckpoints
from determined.wire.experiment import Experiment as WireExperiment
from determined.wire.experiment import GetExperimentTrialsRequestSortBy, ListTrials, PatchExperiment

_TERMINAL = {ExperimentState.COMPLETED, ExperimentState.CANCELED, ExperimentState.DELETED, ExperimentState.ERROR}


class Experiment(Numbered, DeprecatedExperimentMethods):
    """Attributes are those of the last `reload()`; None before the first."""

    _kind = "Experiment"

    def __init__(self, experiment_id: int, session: Session) -> None:
        self._id = experiment_id
        self._session = session
        self.config: dict[str, Any] | None = None
        self.state: ExperimentState | None = None
        self.labels: set[str] | None = None
        self.archived: bool | None = None
        self.name: str | None = None
        self.progress: float | None = None
        self.description: str | None = None
        self.notes: str | None = None
        self.project_id: int | None = None
        self.workspace_id: int | None = None

    @property
    def id(self) -> int:
        return self._id

    def reload(self) -> None:
        self._load(api.get(self._session, self.id))

    def activate(self) -> None:
        self._act("activate")

    def pause(self) -> None:
        self._act("pause")

    def cancel(self) -> None:
        self._act("cancel")

    def kill(self) -> None:
        self._act("kill")

    def archive(self) -> None:
        self._act("archive")
        self.archived = True

    def unarchive(self) -> None:
        self._act("unarchive")
        self.archived = False

    def delete(self) -> None:
        """Ask the master to delete it with all it made; it does so in its own time."""
        api.delete(self._session, self.id)

    def set_name(self, name: str) -> None:
        self._patch(PatchExperiment(name=name))
        self.name = name

    def set_description(self, description: str) -> None:
        self._patch(PatchExperiment(description=description))
        self.description = description

    def set_notes(self, notes: str) -> None:
        self._patch(PatchExperiment(notes=notes))
        self.notes = notes

    def set_labels(self, labels: set[str]) -> None:
        self._patch(PatchExperiment(labels=sorted(labels)))
        self.labels = set(labels)

    def add_label(self, label: str) -> None:
        self.set_labels(self._current_labels() | {label})

    def remove_label(self, label: str) -> None:
        self.set_labels(self._current_labels() - {label})

    def move_to_project(self, workspace_name: str, project_name: str) -> None:
        target = project.by_name(self._session, workspace_name, project_name)
        api.move(self._session, self.id, target.id)

    def delete_tensorboard_files(self) -> None:
        api.delete_tensorboard_files(self._session, self.id)

    def get_pachyderm_config(self) -> dict[str, Any]:
        """Return the Pachyderm section. Raises ValueError when the experiment reads nothing from Pachyderm."""
        if self.config is None:
            self.reload()
        section = ((self.config or {}).get("integrations") or {}).get("pachyderm")
        if not section:
            raise ValueError(f"experiment {self.id} has no integrations.pachyderm in its config")
        return dict(section)

    def download_code(self, output_dir: str | None = None) -> str:
        """Write `exp-<id>_model_def.tar.gz` and return its path."""
        target = Path(output_dir or ".") / f"exp-{self.id}_model_def.tar.gz"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(base64.b64decode(api.model_definition(self._session, self.id)))
        return str(target)

    def iter_trials(
        self,
        sort_by: TrialSortBy = TrialSortBy.ID,
        order_by: OrderBy = OrderBy.ASCENDING,
        limit: int | None = None,
    ) -> Iterator[Trial]:
        """Lazily; `limit` is the size of a page."""
        params = ListTrials(
            limit=limit or None,
            sort_by=GetExperimentTrialsRequestSortBy(sort_by.value),
            order_by=WireOrderBy(order_by.value),
        )
        for row in api.trials(self._session, self.id, params):
            yield Trial._from_wire(self._session, row)

    def list_trials(self, sort_by: TrialSortBy = TrialSortBy.ID, order_by: OrderBy = OrderBy.ASCENDING) -> list[Trial]:
        return list(self.iter_trials(sort_by, order_by))

    def await_first_trial(self, interval: float = 0.1) -> Trial:
        """Wait for the first trial. Raises RuntimeError when the experiment ends without one."""
        while True:
            trial = next(self.iter_trials(limit=1), None)
            if trial is not None:
                return trial
            self.reload()
            if self.state in _TERMINAL:
                raise RuntimeError(f"experiment {self.id} ended ({self.state}) before a trial began")
            time.sleep(interval)

    def wait(self, interval: float = 5.0) -> ExperimentState:
        """Wait for the end. Raises ValueError when the experiment is paused, for that may be for ever."""
        began = time.monotonic()
        minutes = 0
        while True:
            self.reload()
            if self.state is not None and self.state in _TERMINAL:
                return self.state
            if self.state is ExperimentState.PAUSED:
                raise ValueError(f"experiment {self.id} is paused; activate it, then wait again")
            if (time.monotonic() - began) // 60 > minutes:
                minutes += 1
                sys.stderr.write(f"Waiting for experiment {self.id} for {minutes} minute(s)\n")
            time.sleep(interval)

    def pareto_front(self, metrics: Sequence[str] = (), smaller_is_better: Sequence[bool] = ()) -> list[Trial]:
        """Return completed trials that no other beats in every metric; by default over the metrics of the search."""
        answer = hp_analysis.pareto_front(self._session, self.id, metrics, smaller_is_better)
        return [Trial(trial_id, self._session) for trial_id in answer.front]

    def hp_importance(self, metric: str | None = None, smaller_is_better: bool | None = None) -> dict[str, float]:
        """Return the importance of each hyperparameter by dotted name, the largest first; empty with few trials."""
        answer = hp_analysis.hp_importance(self._session, self.id, metric, smaller_is_better)
        return {one.name: one.importance for one in answer.importances}

    def _checkpoints(self, params: ListCheckpoints) -> Iterable[WireCheckpoint]:
        return api.checkpoints(self._session, self.id, params)

    @classmethod
    def _from_wire(cls, session: Session, row: WireExperiment) -> "Experiment":
        return cls(row.id, session)._load(row)

    def _load(self, row: WireExperiment) -> Self:
        self.config, self.state = row.config, ExperimentState(str(row.state))
        self.labels, self.archived = set(row.labels or []), row.archived
        self.name, self.progress = row.name, row.progress
        self.description, self.notes = row.description, row.notes
        self.project_id, self.workspace_id = row.project_id, row.workspace_id
        return self

    def _act(self, verb: str) -> None:
        api.act(self._session, self.id, verb)

    def _patch(self, changes: PatchExperiment) -> None:
        api.patch(self._session, self.id, changes)

    def _current_labels(self) -> set[str]:
        self.reload()
        return set(self.labels or [])


class ExperimentReference(Experiment):
    """Deprecated: Experiment."""

    def __init__(self, experiment_id: int, session: Session) -> None:
        warn_deprecated("ExperimentReference", "Experiment")
        super().__init__(experiment_id, session)


Trial._experiment_class = Experiment
