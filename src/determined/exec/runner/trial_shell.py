"""Shell beside a running trial: a shell server with the task's environment, files and /tmp, started on request."""

import json
import logging
import threading
from pathlib import Path

from determined import constants as c
from determined.errors import DeterminedError
from determined.exec.master_link import MasterLink
from determined.exec.runner import command, process, service
from determined.exec.runner.log_sink import LogSink
from determined.exec.runner.namespace import NamespaceRefused
from determined.exec.runner.preparation import Prepared
from determined.rundir.layout import RunDir
from determined.wire.report import Service
from determined.wire.trial_shell import SERVICE

logger = logging.getLogger(__name__)

_PROGRAM = ["python3", "-P", "-m", "determined.exec.shell_server"]


class TrialShell:
    """Shell server of one task. It is started once; what runs in it ends with the task."""

    def __init__(self, run_dir: RunDir, link: MasterLink, sink: LogSink) -> None:
        self._run_dir = run_dir
        self._link = link
        self._sink = sink
        self._begun = threading.Lock()
        self.path: Path | None = None  # of its socket

    @property
    def service(self) -> Service:
        return Service(id=SERVICE, tcp=True)

    def start(self, prepared: Prepared) -> None:
        """Start the server, unless that has been done, in a thread that stays with it."""
        if self._begun.acquire(blocking=False):
            # The server ends with the thread that has started it.
            threading.Thread(target=self._serve, args=(prepared,), name="trial shell", daemon=True).start()

    def _serve(self, prepared: Prepared) -> None:
        try:
            variables = self._variables(prepared)
            log = (self._run_dir.path / "shell.log").open("wb")
            mounts = prepared.tmp.mounts if prepared.tmp is not None else ()
            with log:
                started = process.start_beside(_PROGRAM, variables, prepared.workdir, log, mounts)
            self._sink.say("INFO", "somebody opens a shell beside this trial (det trial shell)")
            started.wait()
        except (DeterminedError, OSError, NamespaceRefused) as e:
            self._sink.say("WARNING", f"no shell beside this trial: {e}")

    def _variables(self, prepared: Prepared) -> dict[str, str]:
        settings = json.loads(self._link.trial_shell_settings())
        self.path = service.place(self._run_dir, "shell", prepared.spec)
        file = self._run_dir.info / "shell.json"
        service.write_private(file, settings)
        own = command.exported(self._run_dir) or prepared.variables
        return own | {
            c.ENV_SERVICE_SOCKET: str(self.path),
            c.ENV_SERVICE_PREFIX: f"/proxy/{prepared.spec.task_id}:{SERVICE}/",
            c.ENV_SERVICE_SETTINGS: str(file),
        }
