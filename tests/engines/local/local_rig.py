"""Runners of a local engine as processes of this machine."""

import contextlib
import os
from pathlib import Path

from engine_rig import EngineRig

from determined.engines.base import Engine
from determined.engines.local.engine import LocalEngine, LocalNode


class LocalRig(EngineRig):
    node = "here"

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self._seen: set[int] = set()

    def engine(self) -> Engine:
        return LocalEngine(self.run_root, [LocalNode("here", slots=4), LocalNode("there", "other", slots=2)])

    def task_pid(self, resource_id: str) -> int | None:
        pid = super().task_pid(resource_id)
        with contextlib.suppress(FileNotFoundError, ValueError):
            self._seen.add(int((self.run_root / resource_id / "pid").read_text()))
        return pid

    def clean(self) -> None:
        """Reap runners whose engine was closed before they ended."""
        super().clean()
        for pid in self._seen:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
