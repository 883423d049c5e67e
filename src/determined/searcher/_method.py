"""SearchMethod: what the author of a custom search writes."""

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any
from uuid import UUID

from determined.searcher._operations import Operation
from determined.searcher._state import ExitedReason, SearcherState

STATE_FILE = "state"


class SearchMethod(ABC):
    """A search algorithm: events in, operations out.

    Every callback gets the runner's `SearcherState` and returns the operations that follow, [] for none. A callback may
    be called again for the same event after a crash, then with the state that was saved before it, so keep what the
    method remembers in attributes that `save_method_state` writes and `load_method_state` reads, and have no other
    effects. The search ends when a callback returns `Shutdown`.

    Example:
        >>> class OneTrial(SearchMethod):
        ...     def initial_operations(self, searcher_state):
        ...         trial = uuid.uuid4()
        ...         return [Create(trial, {"lr": 0.1}), ValidateAfter(trial, 10), Close(trial)]
        ...     def on_trial_closed(self, searcher_state, request_id):
        ...         return [Shutdown()]
        ...     ...
    """

    @abstractmethod
    def initial_operations(self, searcher_state: SearcherState) -> list[Operation]:
        """Begin the search: usually some `Create`, each with a `ValidateAfter`."""

    @abstractmethod
    def on_trial_created(self, searcher_state: SearcherState, request_id: UUID) -> list[Operation]:
        """Handle a trial that the master has made."""

    @abstractmethod
    def on_validation_completed(
        self, searcher_state: SearcherState, request_id: UUID, metric: Any, train_length: int
    ) -> list[Operation]:
        """Handle a trial that has trained to `train_length` and validated.

        Args:
            searcher_state: the runner's state.
            request_id: the trial.
            metric: what it gave to `op.report_completed`: a number, or any JSON.
            train_length: the length of the operation it completed.
        """

    @abstractmethod
    def on_trial_closed(self, searcher_state: SearcherState, request_id: UUID) -> list[Operation]:
        """Handle a trial that has ended, however it did: the last event of every trial."""

    @abstractmethod
    def on_trial_exited_early(
        self, searcher_state: SearcherState, request_id: UUID, exited_reason: ExitedReason
    ) -> list[Operation]:
        """Handle a trial that failed, was canceled or refused its hyperparameters; `on_trial_closed` follows."""

    @abstractmethod
    def progress(self, searcher_state: SearcherState) -> float:
        """Return the progress of the whole search, 0 to 1."""

    def save_method_state(self, path: Path) -> None:
        """Write what the method remembers into the directory `path`. The names `state` and `ops` are taken."""
        return

    def load_method_state(self, path: Path) -> None:
        """Read what `save_method_state` wrote."""
        return

    def save(self, searcher_state: SearcherState, path: Path, *, experiment_id: int) -> None:
        """Write everything into the existing directory `path`; a runner calls this after each event."""
        searcher_state.experiment_id = experiment_id
        (path / STATE_FILE).write_text(json.dumps(searcher_state.to_dict()))
        self.save_method_state(path)

    def load(self, path: Path) -> tuple[SearcherState, int]:
        """Read what `save` wrote.

        Returns:
            The runner's state and the experiment's id.
        """
        state = SearcherState()
        state.from_dict(json.loads((path / STATE_FILE).read_text()))
        self.load_method_state(path)
        return state, state.experiment_id
