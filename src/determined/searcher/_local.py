"""LocalSearchRunner: a search method in a process of the user's own, its state in a directory."""

import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from determined._backoff import Backoff
from determined.api.session import Session
from determined.errors import MasterNotFound, Unavailable
from determined.experimental import client
from determined.searcher._method import SearchMethod
from determined.searcher._runner import SearchRunner
from determined.searcher._state import SearcherState
from determined.searcher._store import SearchStore, read_operations
from determined.searcher._submit import custom_submission, submit

logger = logging.getLogger("determined.searcher")

T = TypeVar("T")

_MASTER_AWAY = Backoff(first=1.0, limit=10.0)


class LocalSearchRunner(SearchRunner):
    """Runs a search method here. Started again with the same directory it goes on where it was, kill -9 included.

    Args:
        search_method: the method.
        searcher_dir: where its state is kept; the current directory when not given. One search to a directory.
        session: the conversation with the master; that of `determined.experimental.client` when not given.

    Raises:
        FileExistsError: `searcher_dir` is a file.

    Example:
        >>> LocalSearchRunner(MyMethod(), searcher_dir="search").run("config.yaml", model_dir=".")
    """

    def __init__(
        self,
        search_method: SearchMethod,
        searcher_dir: str | os.PathLike[str] | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__(search_method)
        self.searcher_dir = Path.cwd() if searcher_dir is None else Path(searcher_dir)
        self._store = SearchStore(self.searcher_dir)
        self._session = session

    def run(
        self, exp_config: dict[str, Any] | str, model_dir: str | None = None, includes: list[str] | None = None
    ) -> int:
        with self._store.locked():
            link = PatientSession(self._session or client._session()._session, self._sleep)
            experiment_id = self._store.experiment_id
            if experiment_id is None:
                request = custom_submission(exp_config, model_dir, includes)
                experiment_id = submit(link, self._store.submission_id(), request)
                self._store.experiment_id = experiment_id
                logger.info("experiment %s: submitted; its search is kept in %s", experiment_id, self.searcher_dir)
            self._drive(link, experiment_id, self._load(experiment_id))
            return experiment_id

    def _load(self, experiment_id: int) -> list[dict[str, Any]]:
        newest = self._store.newest(experiment_id)
        if newest is None:
            self.state = SearcherState()
            return []
        self.state, _ = self.search_method.load(newest)
        logger.info("experiment %s: the search goes on after event %s", experiment_id, self.state.last_event_id)
        return read_operations(newest)

    def _save(self, experiment_id: int, operations: list[dict[str, Any]]) -> None:
        with self._store.saving(experiment_id, self.state.last_event_id, operations) as path:
            self.search_method.save(self.state, path, experiment_id=experiment_id)

    def _refused(self) -> None:
        """Mended, the method is to be asked about this event again."""
        self._store.forget_newest(self.state.experiment_id)


class PatientSession:
    """A session whose calls wait while the master is away."""

    def __init__(self, session: Session, sleep: Callable[[float], None] = time.sleep) -> None:
        self._session = session
        self._sleep = sleep

    def insist(self, call: Callable[[Session], T], what: str) -> T:
        delays = _MASTER_AWAY.delays()
        while True:
            try:
                return call(self._session)
            except (MasterNotFound, Unavailable) as err:
                logger.warning("%s waits for the master: %s", what, err)
            self._sleep(next(delays))
