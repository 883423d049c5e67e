"""SearchRunner: the loop between the events of a master and a search method; subclasses keep its state.

After each event state and operations are saved, then the operations are sent. The master takes each answer once, so
what was saved is simply sent again at the next start: nothing is lost, and nothing is done twice.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from determined.api import custom_search as api
from determined.api.session import Session
from determined.errors import InvalidArgument
from determined.searcher import _events
from determined.searcher._method import SearchMethod
from determined.searcher._state import SearcherState
from determined.wire.custom_search import SearcherEvent
from determined.wire.experiment import ExperimentState

logger = logging.getLogger("determined.searcher")

T = TypeVar("T")

_PAUSE_SECONDS = 1.0  # between looks that found nothing to do
_FAILED = (ExperimentState.ERROR, ExperimentState.STOPPING_ERROR)
_COMPLETED = (ExperimentState.COMPLETED, ExperimentState.STOPPING_COMPLETED)


class Link(Protocol):
    """A conversation with the master that outlasts its absence."""

    def insist(self, call: Callable[[Session], T], what: str) -> T: ...


class SearchRunner(ABC):
    """Drives one experiment with `searcher.name: custom`.

    Attributes:
        search_method: the method.
        state: what is known of the search.
    """

    _wait_seconds = 60.0

    def __init__(self, search_method: SearchMethod) -> None:
        self.search_method = search_method
        self.state = SearcherState()
        self._sleep: Callable[[float], None] = time.sleep

    @abstractmethod
    def run(
        self, exp_config: dict[str, Any] | str, model_dir: str | None = None, includes: list[str] | None = None
    ) -> int:
        """Submit the experiment, unless an earlier run has, and drive its search to the end.

        Args:
            exp_config: the configuration, or the path of its file. Its `searcher.name` is `custom`.
            model_dir: the directory to send with it.
            includes: further files and directories to send.

        Returns:
            The experiment's id.

        Raises:
            ValueError: the configuration names another searcher.
            InvalidConfig: the master refuses the configuration.
            InvalidArgument: the master refuses an operation of the search method; the message says which and why.
        """

    @abstractmethod
    def _save(self, experiment_id: int, operations: list[dict[str, Any]]) -> None:
        """Keep state, method and the operations that answer `state.last_event_id`, before they are sent."""

    def _refused(self) -> None:
        """Handle operations, saved last, that the master refused: it did nothing of them."""
        return

    def _leaving(self) -> bool:
        """Tell whether this process must exit; it will be started again."""
        return False

    def _drive(self, link: Link, experiment_id: int, saved: list[dict[str, Any]]) -> None:
        """Run from the loaded state to the end of the search. `saved`: the operations that answer its last event."""
        if self.state.last_event_id:
            self._post(link, experiment_id, saved)
        while not self._leaving():
            events = link.insist(lambda s: api.events(s, experiment_id, self._wait_seconds), "the next search event")
            fresh = [event for event in events if event.id > self.state.last_event_id]
            for event in fresh:
                self._handle(link, experiment_id, event)
            inactive = next((e.experiment_inactive for e in events if e.experiment_inactive is not None), None)
            if inactive is not None and not self._goes_on(experiment_id, inactive.experiment_state):
                return
            if not fresh:
                self._sleep(_PAUSE_SECONDS)

    def _handle(self, link: Link, experiment_id: int, event: SearcherEvent) -> None:
        operations = [op._to_wire() for op in _events.answer(self.search_method, self.state, event)]
        self.state.last_event_id = event.id
        self.state.experiment_id = experiment_id
        self._save(experiment_id, operations)
        self._post(link, experiment_id, operations)

    def _post(self, link: Link, experiment_id: int, operations: list[dict[str, Any]]) -> None:
        event_id = self.state.last_event_id
        logger.debug("experiment %s: event %s is answered by %s", experiment_id, event_id, operations)
        try:
            link.insist(lambda s: api.post(s, experiment_id, operations, event_id), "sending search operations")
        except InvalidArgument:
            self._refused()
            raise

    def _goes_on(self, experiment_id: int, state: ExperimentState) -> bool:
        if state is ExperimentState.PAUSED:
            logger.warning("experiment %s is paused; the search waits until it is activated", experiment_id)
            return True
        self.state.experiment_completed = state in _COMPLETED
        self.state.experiment_failed = state in _FAILED
        logger.info("experiment %s is %s; the search is over", experiment_id, state.removeprefix("STATE_"))
        return False
