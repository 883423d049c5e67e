"""The local engine with the real runner, against a loopback master that answers it."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from engine_contract import EngineContract, EngineRig, opened
from runner_master import RunnerMaster

from determined.engines.base import Engine
from determined.engines.local.engine import LocalEngine, LocalNode
from determined.engines.model import Device, Launch
from determined.wire.report import ExitCause


class LocalRig(EngineRig):
    def __init__(self, place: Path) -> None:
        self.run_root = place / "runs"
        self._marks = place / "marks"
        self._marks.mkdir()
        self.master = RunnerMaster(self._entrypoint)
        self._seen: set[int] = set()

    def engine(self) -> Engine:
        return LocalEngine(self.run_root, [LocalNode("here", slots=4), LocalNode("there", "other", slots=2)])

    def launch(self, resource_id: str) -> Launch:
        return Launch(
            allocation_id="1.task.1",
            resource_id=resource_id,
            container_id=f"container-{resource_id}",
            node_id="here",
            rank=0,
            slot_ids=(0,),
            device=Device.CPU,
            master_url=self.master.url,
            token="secret",
        )

    def finish(self, resource_id: str) -> None:
        (self._marks / f"{resource_id}.finish").touch()

    def crash(self, resource_id: str) -> None:
        os.kill(int((self.run_root / resource_id / "pid").read_text()), signal.SIGKILL)

    def task_pid(self, resource_id: str) -> int | None:
        try:
            self._seen.add(int((self.run_root / resource_id / "pid").read_text()))
            return int((self._marks / f"{resource_id}.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def times_run(self, resource_id: str) -> int:
        begun = self._marks / f"{resource_id}.begun"
        return len(begun.read_text().splitlines()) if begun.exists() else 0

    def clean(self) -> None:
        """End what a failed test left; reap runners whose engine was closed before they ended."""
        self.master.close()
        for pid in self._seen:
            with contextlib.suppress(psutil.NoSuchProcess):
                runner = psutil.Process(pid)
                if runner.cmdline()[-1:] and runner.cmdline()[-1].startswith(str(self.run_root)):
                    runner.kill()
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)

    def _entrypoint(self, resource_id: str) -> str:
        mark = self._marks / resource_id
        return f"echo begun >> {mark}.begun; echo $$ > {mark}.pid; while [ ! -e {mark}.finish ]; do sleep 0.02; done"


class TestLocalEngine(EngineContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[EngineRig]:
        rig = LocalRig(tmp_path)
        yield rig
        rig.clean()

    async def test_exit_is_on_the_master_before_the_runner_is_gone(self, rig: LocalRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.finish("a")
            await heard.gone("a")
            end = rig.master.exits["a"]
            assert (end.cause, end.code) == (ExitCause.EXITED, 0)

    async def test_crashed_runner_reports_lost_through_its_second_start(self, rig: LocalRig) -> None:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            await rig.until_running("a")
            rig.crash("a")
            await heard.gone("a")
            assert rig.master.exits["a"].cause is ExitCause.LOST
