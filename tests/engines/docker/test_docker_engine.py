"""The engine contract against a real Docker, and what only containers have. Most of it is for `make test-engines`."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from docker_daemon import DockerDaemon
from docker_rig import DockerRig
from engine_contract import EngineContract
from engine_rig import eventually, is_running, opened
from host_image import EMPTY, OWN

from determined.engines.model import GoneReason, Mount, RunAs
from determined.wire.report import ExitCause


@pytest.fixture
def rig(tmp_path: Path, docker: DockerDaemon) -> Iterator[DockerRig]:
    rig = DockerRig(tmp_path, docker)
    yield rig
    rig.clean()


@pytest.fixture
def open_rig(docker: DockerDaemon) -> Iterator[DockerRig]:
    """Like `rig`, at a place that other users can reach: pytest's own is closed to them."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        Path(place).chmod(0o755)
        rig = DockerRig(Path(place), docker)
        yield rig
        rig.clean()


@pytest.mark.engines
class TestDockerEngine(EngineContract):
    @pytest.fixture
    def rig(self, rig: DockerRig) -> DockerRig:  # type: ignore[override]
        return rig


@pytest.mark.engines
async def test_container_stays_until_its_end_is_on_record(rig: DockerRig) -> None:
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        await rig.until_running("a")
        rig.finish("a")
        await heard.gone("a")
        assert rig.containers() == ["determined-cluster--a"]
        await engine.forget("a")
        assert rig.containers() == []
        assert not (rig.run_root / "a").exists()


@pytest.mark.engines
async def test_missing_image_is_named_with_the_command_that_fetches_it(
    rig: DockerRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._DELAYS", ())
    rig.container = replace(rig.container, image="no.such.host.invalid/team/model:7")
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        gone = await heard.gone("a")
        assert gone.reason is GoneReason.CANCELED
        assert "image 'no.such.host.invalid/team/model:7': it is not on this machine" in gone.detail
        assert "docker pull no.such.host.invalid/team/model:7" in gone.detail
        await engine.forget("a")
    assert not (rig.run_root / "a").exists()


@pytest.mark.engines
async def test_task_that_waits_for_its_image_can_be_ended(rig: DockerRig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._DELAYS", (1000.0,))
    rig.container = replace(rig.container, force_pull=True)
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        await eventually(lambda: any("trying again" in text for text in heard.news("a")))
        await engine.kill("a", force=False)
        gone = await heard.gone("a")
        assert (gone.reason, gone.detail) == (GoneReason.NOT_STARTED, "it was ended before it began")
    assert rig.times_run("a") == 0


@pytest.mark.engines
async def test_image_in_which_no_runner_can_run_is_not_tried_again(rig: DockerRig) -> None:
    rig.container = replace(rig.container, image=rig.daemon.image(EMPTY))
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        gone = await heard.gone("a")
        assert gone.reason is GoneReason.CANCELED
        assert "no such file or directory" in gone.detail


@pytest.mark.engines
async def test_runner_that_does_not_fit_into_its_memory_is_told_as_that(rig: DockerRig) -> None:
    rig.settings = {"memory": 12 * 1024**2}
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        gone = await heard.gone("a")
        assert gone.reason is GoneReason.CANCELED
        assert "ran out of memory (OOMKilled, status 137)" in gone.detail


@pytest.mark.engines
async def test_task_runs_as_the_linked_user(open_rig: DockerRig) -> None:
    open_rig.marks.chmod(0o777)
    async with opened(open_rig) as (engine, heard):
        await engine.start(replace(open_rig.launch("a"), run_as=RunAs(uid=1234, gid=4321)))
        task = psutil.Process(await open_rig.until_running("a"))
        assert (task.uids().real, task.gids().real) == (1234, 4321)
        open_rig.finish("a")
        assert (await heard.gone("a")).reason is GoneReason.EXITED


@pytest.mark.engines
async def test_container_that_somebody_removes_is_reported_by_another(rig: DockerRig) -> None:
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
        rig.daemon.clear()
        assert (await heard.gone("a")).reason is GoneReason.EXITED
        assert rig.master.exits["a"].cause is ExitCause.LOST
        assert not is_running(task)
        assert rig.times_run("a") == 1


@pytest.mark.engines
async def test_runners_outlive_a_restart_of_the_daemon(rig: DockerRig) -> None:
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
        rig.daemon.leave()
        await engine.start(rig.launch("b"))
        assert (await heard.gone("b")).reason is GoneReason.NOT_STARTED
        rig.daemon.start()
        assert is_running(task)
        rig.finish("a")
        assert (await heard.gone("a")).reason is GoneReason.EXITED


@pytest.mark.engines
async def test_container_that_docker_refuses_to_start_again_is_made_anew_to_report(rig: DockerRig) -> None:
    """A mounted directory may have moved with the master."""
    lent = rig.place / "lent"
    lent.mkdir()
    usual = rig.container
    rig.container = replace(usual, mounts=(*usual.mounts, Mount(str(lent), str(lent))))
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        await rig.until_running("a")
    rig.daemon.command("kill", *rig.containers())
    lent.rmdir()
    rig.container = usual
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        assert (await heard.gone("a")).reason is GoneReason.EXITED
        assert rig.master.exits["a"].cause is ExitCause.LOST


@pytest.mark.engines
async def test_directory_that_a_killed_master_had_no_time_to_remove_goes_with_the_next(
    rig: DockerRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("determined.engines.docker.image_pull._DELAYS", ())
    monkeypatch.setattr("determined.engines.docker.engine._CLAIM_SECONDS", 0.0)
    rig.container = replace(rig.container, image="no.such.host.invalid/model:7")
    async with opened(rig) as (engine, heard):
        await engine.start(rig.launch("a"))
        await heard.gone("a")
    async with opened(rig) as (engine, heard):
        await heard.gone("a")
        await engine.forget("a")
    assert not (rig.run_root / "a").exists()


@pytest.mark.engines
async def test_container_without_a_run_directory_is_removed_at_the_next_start(rig: DockerRig) -> None:
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
    shutil.rmtree(rig.run_root / "a")
    async with opened(rig):
        await eventually(lambda: not is_running(task))
        assert rig.containers() == []


@pytest.mark.engines
async def test_disowned_runner_is_ended_and_its_directory_kept(rig: DockerRig) -> None:
    async with opened(rig) as (engine, _):
        await engine.start(rig.launch("a"))
        task = await rig.until_running("a")
    async with opened(rig) as (engine, heard):
        assert list(engine.unclaimed()) == ["a"]
        await engine.disown("a")
        await eventually(lambda: not is_running(task))
        assert (rig.run_root / "lost" / "a").is_dir()
        assert (rig.containers(), heard.events) == ([], [])


@pytest.mark.engines
async def test_image_with_determined_runs_its_own(tmp_path: Path, docker: DockerDaemon) -> None:
    rig = DockerRig(tmp_path, docker, OWN)
    try:
        async with opened(rig) as (engine, heard):
            await engine.start(rig.launch("a"))
            task = await rig.until_running("a")
            above = [process.cmdline()[0] for process in psutil.Process(task).parents()]
            assert "python3" in above
            mounts = docker.command("inspect", "-f", "{{range .Mounts}}{{.Destination}} {{end}}", *rig.containers())
            assert sys.prefix not in mounts.split()
            rig.finish("a")
            assert (await heard.gone("a")).reason is GoneReason.EXITED
    finally:
        rig.clean()
