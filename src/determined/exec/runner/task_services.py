"""Services of a task on this node: when its own answers, the tunnel to the master, the shell beside it."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from determined.exec.master_link import MasterLink
from determined.exec.runner import service
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.preparation import Prepared
from determined.exec.runner.trial_shell import TrialShell
from determined.rundir.layout import RunDir
from determined.wire.report import Service

if TYPE_CHECKING:
    from determined.exec.runner.tunnel import Tunnel


class TaskServices:
    """Services of one task. They are served on the node of rank 0, until the task ends."""

    def __init__(self, run_dir: RunDir, link: MasterLink, sink: LogSink) -> None:
        self._run_dir = run_dir
        self._link = link
        self._sink = sink
        self._shell = TrialShell(run_dir, link, sink)
        self._lock = threading.Lock()
        self._tunnel: Tunnel | None = None
        self._begun: tuple[Prepared, threading.Event] | None = None

    def begin(self, prepared: Prepared, ended: threading.Event) -> None:
        """Serve what the task declares. `ended`: set when it is over."""
        if self._link.launch.rank != 0:
            return
        self._begun = (prepared, ended)
        service.report_when_ready(self._run_dir, self._sink, ended)
        if prepared.spec.services:
            self._serve(prepared.spec.services, ended)

    def open_shell(self) -> None:
        """Start a shell server beside a task that has begun."""
        if self._begun is not None:
            prepared, ended = self._begun
            self._shell.start(prepared)
            self._serve([self._shell.service], ended)

    def _serve(self, services: Iterable[Service], ended: threading.Event) -> None:
        from determined.exec.runner.tunnel import Tunnel  # most tasks have no services

        with self._lock:
            if self._tunnel is None:
                self._tunnel = Tunnel(self._link, services, self._socket_of)
                self._tunnel.start(ended)
                return
            for one in services:
                self._tunnel.add(one)

    def _socket_of(self, service_id: str) -> Path | None:
        return self._shell.path if service_id == self._shell.service.id else service.service_path(self._run_dir)
