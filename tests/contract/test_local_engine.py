"""The local engine with the real runner, against a loopback master that answers it."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_contract import EngineContract
from engine_rig import EngineRig, opened

from determined.engines.base import Engine
from determined.engines.local.engine import LocalEngine, LocalNode
from determined.wire.report import ExitCause


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


class TestLocalEngine(EngineContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[EngineRig]:
        rig = LocalRig(tmp_path)
        yield rig
        rig.clean()

    async def test_crashed_runner_reports_lost_through_its_second_start(self, rig: LocalRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.crash("a")
            await heard.gone("a")
            assert rig.master.exits["a"].cause is ExitCause.LOST
