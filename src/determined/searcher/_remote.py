"""RemoteSearchRunner: a search method inside a trial of its own, its state in the checkpoints of that trial."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from determined._info import trial_of
from determined.api.session import Session
from determined.core import Context
from determined.searcher._method import SearchMethod
from determined.searcher._runner import SearchRunner
from determined.searcher._state import SearcherState
from determined.searcher._store import OPERATIONS_FILE, read_operations
from determined.searcher._submit import custom_submission, submit
from determined.wire.custom_search import driven_experiment

logger = logging.getLogger("determined.searcher")

T = TypeVar("T")


class RemoteSearchRunner(SearchRunner):
    """Runs a search method in a trial, which drives a second experiment. Paused, killed or moved, the trial goes on.

    Args:
        search_method: the method.
        context: of `det.core.init()` in this trial; its experiment has `searcher.name: single`.

    Raises:
        ValueError: this process is no trial; use LocalSearchRunner.

    Example:
        >>> with det.core.init() as core_context:
        ...     RemoteSearchRunner(MyMethod(), core_context).run("config.yaml", model_dir=".")
    """

    _wait_seconds = 5.0  # so that a pause of this trial is soon noticed

    def __init__(self, search_method: SearchMethod, context: Context) -> None:
        super().__init__(search_method)
        info = trial_of(context.info)
        if info is None:
            raise ValueError("RemoteSearchRunner needs a trial on a cluster; use LocalSearchRunner here")
        self.context = context
        self._info = info

    def run(
        self, exp_config: dict[str, Any] | str, model_dir: str | None = None, includes: list[str] | None = None
    ) -> int:
        link = TaskLink(self.context)
        latest = self._info.latest_checkpoint
        if latest is not None:
            with self.context.checkpoint.restore_path(latest) as path:
                self.state, experiment_id = self.search_method.load(Path(path))
                saved = read_operations(Path(path))
            logger.info("experiment %s: the search goes on after event %s", experiment_id, self.state.last_event_id)
        else:
            self.state, saved = SearcherState(), []
            request = custom_submission(exp_config, model_dir, includes)
            experiment_id = submit(link, driven_experiment(self._info.trial.trial_id), request)
            logger.info("experiment %s: submitted", experiment_id)
        self._drive(link, experiment_id, saved)
        return experiment_id

    def _save(self, experiment_id: int, operations: list[dict[str, Any]]) -> None:
        with self.context.checkpoint.store_path({"steps_completed": self.state.last_event_id}) as (path, _):
            self.search_method.save(self.state, path, experiment_id=experiment_id)
            (path / OPERATIONS_FILE).write_text(json.dumps(operations))

    def _leaving(self) -> bool:
        return self.context.preempt.should_preempt()


class TaskLink:
    """The trial's own conversation with the master.

    What this process has reported goes first: operations must not be carried out before the checkpoint that remembers
    them is known to the master, or a restart would begin before an event that is no longer there.
    """

    def __init__(self, context: Context) -> None:
        self._master = context._master
        self._reporter = context._reporter

    def insist(self, call: Callable[[Session], T], what: str) -> T:
        assert self._master is not None and self._reporter is not None
        return self._master.insist(call, what, after=self._reporter.settle)
