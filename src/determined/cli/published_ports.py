"""`det e create -f -p LOCAL[:REMOTE]`: ports of this machine that lead to ports of the first trial."""

import time
from collections.abc import Sequence
from functools import partial

from determined.api import experiment
from determined.api.session import Session
from determined.cli import render
from determined.cli.grammar import UsageError
from determined.cli.port_listener import PortListener
from determined.errors import FailedPrecondition
from determined.wire.experiment import ListTrials

_OVER = {"COMPLETED", "CANCELED", "ERROR"}
_LOOK_SECONDS = 0.5


def parse_ports(published: Sequence[str]) -> dict[int, int]:
    """Read `LOCAL[:REMOTE]` of each. Raises UsageError."""
    ports: dict[int, int] = {}
    for text in published:
        local, _, remote = text.partition(":")
        try:
            ports[int(local)] = int(remote or local)
        except ValueError as e:
            raise UsageError(f"failed to parse --publish argument: {e}; write LOCAL or LOCAL:REMOTE") from e
    return ports


class PublishedPorts:
    """Ports that are held from before the experiment is submitted: one that is taken is told in time."""

    def __init__(self, session: Session, published: Sequence[str]) -> None:
        """Listen on each port. Raises UsageError, FailedPrecondition."""
        self._session = session
        self._listeners: list[PortListener] = []
        try:
            for local, remote in parse_ports(published).items():
                self._listeners.append(PortListener(session, partial(self._service, remote), local, render.warn))
        except BaseException:
            self.close()
            raise
        self._experiment_id: int | None = None

    def lead_to(self, experiment_id: int) -> None:
        """Take connections, for the first trial of this experiment."""
        self._experiment_id = experiment_id
        for listener in self._listeners:
            listener.start()
            render.line(f"Listening on 127.0.0.1:{listener.port}")

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def _service(self, port: int) -> str:
        """Wait until the first trial has a task. Raises FailedPrecondition for one that has ended."""
        assert self._experiment_id is not None
        while True:
            params = ListTrials(limit=1)
            trials = list(experiment.trials(self._session, self._experiment_id, params, all_pages=False))
            if trials and render.state_of(trials[0].state) in _OVER:
                raise FailedPrecondition("Can't tunnel a trial in terminal state")
            if trials and trials[0].task_id:
                return f"{trials[0].task_id}:{port}"
            time.sleep(_LOOK_SECONDS)
