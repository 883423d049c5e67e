"""Runners that are forked from a server, in place of runners that are new interpreters."""

import os
import subprocess
from pathlib import Path
from typing import Any

from fake_master import HANG_SECONDS, FakeMaster, RunnerUnderTest, eventually

from determined.engines.host.fork_server import ForkServer
from determined.engines.host.runner_process import ForkedRunner, is_readable
from determined.rundir.layout import RunDir

_AS_USUAL = ("-m", "determined.exec.runner")


class ForkedProcess:
    """As much of Popen as the tests use. Nobody but its server could know its status; its directory tells it."""

    def __init__(self, runner: ForkedRunner, directory: RunDir) -> None:
        self._runner = runner
        self._directory = directory
        self.pid = runner.pid

    def poll(self) -> int | None:
        return None if self._runner.poll() else self._status()

    def wait(self, timeout: float = HANG_SECONDS) -> int:
        descriptor = self._runner.pidfd()
        if descriptor is not None:
            try:
                if not is_readable(descriptor, int(timeout * 1000)):
                    raise subprocess.TimeoutExpired("forked runner", timeout)
            finally:
                os.close(descriptor)
        return self._status()

    def _status(self) -> int:
        return 0 if self._directory.done.exists() or not self._directory.path.exists() else 1


class ForkedRunnerUnderTest(RunnerUnderTest):
    """A runner whose first start is a fork. Later ones are interpreters, as those of an engine are."""

    def __init__(self, server: ForkServer, master: FakeMaster, path: Path, **launch: Any) -> None:
        super().__init__(master, path, **launch)
        self._server = server

    def _start(self, *program: str, **environment: str) -> RunnerUnderTest:
        if self._process is not None or program != _AS_USUAL or environment:
            return super()._start(*program, **environment)
        eventually(self._server.is_ready)
        runner = self._server.fork(self.dir)
        assert runner is not None, self._server.ended
        self._process = ForkedProcess(runner, self.dir)  # type: ignore[assignment]
        return self
