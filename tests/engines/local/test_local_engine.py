"""The engine contract with processes of this machine: the real runner, against a loopback master that answers it."""

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from engine_contract import EngineContract
from engine_rig import EngineRig, opened
from local_rig import LocalRig
from warm_rig import WarmRig

from determined.wire.report import ExitCause


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


class TestWarmLocalEngine(TestLocalEngine):
    @pytest.fixture
    def rig(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineRig]:
        rig = WarmRig(tmp_path, monkeypatch)
        yield rig
        rig.clean()

    async def test_runners_are_forked(self, rig: WarmRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            runner = psutil.Process(rig.runner_pid("a"))
            assert runner.ppid() != os.getpid()
            assert "det-fork-server" in psutil.Process(runner.ppid()).cmdline()
            rig.finish("a")
            await heard.gone("a")
