"""Records that have not reached the master outlive forced kills, failing runners, dead masters, spoilt directories."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from determined.engines.host import process, restart_delays
from determined.engines.local import engine as engine_module
from determined.engines.local.engine import LocalEngine, LocalNode
from determined.engines.model import Device, GoneReason, Launch, RunAs, RunnerGone
from determined.errors import Unavailable
from determined.rundir.journal import JournalWriter
from determined.rundir.layout import RunDir

# A runner that holds the lock and says its pid; it drains when told to leave, dies at once when told to fail.
STUB = """#!{python} -S
import fcntl, os, sys, time
path = sys.argv[-1]
if os.path.exists(path + "/fail"):
    sys.exit("cannot breathe")
descriptor = os.open(path + "/lock", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
with open(path + "/started", "w") as started:
    started.write("x")
with open(path + "/pid.new", "w") as pid:
    pid.write(str(os.getpid()))
os.rename(path + "/pid.new", path + "/pid")
while not os.path.exists(path + "/leave"):
    time.sleep(0.01)
with open(path + "/done", "w") as done:
    done.write("x")
"""


class Place:
    """A run root and one engine over it."""

    def __init__(self, path: Path) -> None:
        self.root = path / "runs"
        self._python = path / "stub"
        self._python.write_text(STUB.format(python=sys.executable))
        self._python.chmod(0o755)
        self.gone: list[RunnerGone] = []

    async def open(self) -> LocalEngine:
        self.engine = LocalEngine(self.root, [LocalNode("here", slots=2)], python=str(self._python))
        await self.engine.open()
        self._listening = asyncio.create_task(self._listen())
        return self.engine

    async def close(self) -> None:
        for resource_id in await self.engine.running():
            (self.root / resource_id / "leave").touch()
            await eventually(lambda wanted=resource_id: wanted in self.told())  # type: ignore[misc]
        await self.engine.close()
        await self._listening

    def told(self) -> list[str]:
        return [event.resource_id for event in self.gone]

    async def start(self, resource_id: str = "r", **changes: object) -> Path:
        fields: dict[str, object] = {
            "allocation_id": "1.task.1", "resource_id": resource_id, "container_id": "c", "node_id": "here", "rank": 0,
            "slot_ids": (0,), "device": Device.CPU, "master_url": "http://127.0.0.1:1", "token": "secret",
        }  # fmt: skip
        await self.engine.start(Launch(**{**fields, **changes}))  # type: ignore[arg-type]
        return self.root / resource_id

    async def _listen(self) -> None:
        async for event in self.engine.events():
            assert isinstance(event, RunnerGone)
            self.gone.append(event)


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setattr(restart_delays, "DELAYS", (0.0, 0.0, 0.0, 0.0, 0.05))
    monkeypatch.setattr(engine_module, "_POLL_SECONDS", 0.02)
    place = Place(tmp_path)
    await place.open()
    yield place
    await place.close()


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what it waits for happens in another process
            await asyncio.sleep(0.01)


def pid_of(run_dir: Path) -> int:
    return int((run_dir / "pid").read_text())


def leave_record(run_dir: Path) -> None:
    (run_dir / "journals").mkdir()
    writer = JournalWriter(run_dir / "journals", "user-1")
    writer.append(b"unshipped")
    writer.close()


async def test_forced_kill_spares_a_runner_that_only_drains(place: Place) -> None:
    run_dir = await place.start()
    await eventually((run_dir / "pid").exists)
    leave_record(run_dir)
    first = pid_of(run_dir)
    await place.engine.kill("r", force=True)
    await eventually(lambda: pid_of(run_dir) != first)
    second = pid_of(run_dir)
    for _ in range(6):
        await place.engine.kill("r", force=True)
    os.kill(second, 0)
    assert (pid_of(run_dir), place.gone) == (second, [])


async def test_runner_that_always_fails_is_tried_for_as_long_as_records_are_left(place: Place) -> None:
    run_dir = await place.start()
    await eventually((run_dir / "pid").exists)
    leave_record(run_dir)
    (run_dir / "fail").touch()
    os.kill(pid_of(run_dir), signal.SIGKILL)
    log = run_dir / "runner.log"
    await eventually(lambda: log.read_text().count("cannot breathe") > 8)
    assert place.gone == []
    (run_dir / "fail").unlink()
    (run_dir / "leave").touch()
    await eventually(lambda: place.told() == ["r"])
    assert place.gone[0].reason is GoneReason.EXITED


async def test_runner_given_up_leaves_its_records_aside_and_says_where(place: Place) -> None:
    run_dir = await place.start()
    await eventually((run_dir / "pid").exists)
    leave_record(run_dir)
    (run_dir / "fail").touch()
    os.kill(pid_of(run_dir), signal.SIGKILL)
    async with asyncio.timeout(60):
        while not place.gone:
            await place.engine.kill("r", force=True)
            await asyncio.sleep(0.01)
    aside = place.root / "lost" / "r"
    assert place.gone[0].reason is GoneReason.LOST
    assert str(aside) in place.gone[0].detail
    assert run_dir.exists(), "its end is not on record yet"
    await place.engine.forget("r")
    assert not run_dir.exists()
    assert (aside / "journals" / "user-1.head").exists()
    await place.close()
    await place.open()
    assert place.engine._runners == {}, "what was put aside is nobody's run directory"


async def test_end_is_told_again_when_a_master_died_before_writing_it_down(place: Place) -> None:
    run_dir = await place.start()
    (run_dir / "leave").touch()
    await eventually(lambda: place.told() == ["r"])
    await place.close()
    await place.open()
    await eventually(lambda: place.told() == ["r", "r"])
    await place.engine.forget("r")
    assert not run_dir.exists()


async def test_begun_task_without_a_directory_is_not_begun_again(place: Place) -> None:
    with pytest.raises(Unavailable, match=r"was begun, but its run directory .* is gone"):
        await place.start(begun=True)
    assert list(place.root.iterdir()) == []
    await place.start(begun=False)
    assert list(await place.engine.running()) == ["r"]


async def test_begun_task_with_its_directory_is_adopted(place: Place) -> None:
    run_dir = await place.start()
    await eventually((run_dir / "pid").exists)
    before = pid_of(run_dir)
    await place.engine.close()
    await place._listening
    await place.open()
    await place.start(begun=True)
    assert list(await place.engine.running()) == ["r"]
    assert pid_of(run_dir) == before


async def test_disowned_runner_is_ended_and_its_directory_kept_aside_as_it_was(place: Place) -> None:
    stranger, own = await place.start("stranger"), await place.start("own")
    await eventually(lambda: (stranger / "pid").exists() and (own / "pid").exists())
    leave_record(stranger)
    ended, spared = pid_of(stranger), pid_of(own)
    await place.engine.close()
    await place._listening
    await place.open()
    await place.start("own", begun=True)
    assert place.engine.unclaimed() == ["stranger"], "what `start` asked for is claimed"
    await place.engine.disown("stranger")
    assert process.runner_of(RunDir(stranger)) is None and not stranger.exists()
    await asyncio.to_thread(os.waitpid, ended, 0)  # a child of this process, so its end is ours to collect
    aside = place.root / "lost" / "stranger"
    assert {path.name for path in aside.iterdir()} >= {"launch.json", "pid", "journals"}
    assert (pid_of(own), list(await place.engine.running()), place.gone) == (spared, ["own"], [])


async def test_disowned_runner_that_was_dead_is_not_started_again(place: Place) -> None:
    run_dir = await place.start()
    await eventually((run_dir / "pid").exists)
    leave_record(run_dir)
    await place.engine.close()
    await place._listening
    os.kill(pid_of(run_dir), signal.SIGKILL)
    await asyncio.to_thread(os.waitpid, pid_of(run_dir), 0)
    await place.open()
    await place.engine.disown("r")
    assert place.engine.unclaimed() == []
    await place.engine._settle()
    assert not run_dir.exists() and (place.root / "lost" / "r" / "journals").is_dir()


@pytest.mark.parametrize("thing", ["directory", "link"])
async def test_one_spoilt_directory_does_not_deafen_the_engine(place: Place, thing: str) -> None:
    spoilt, good = await place.start("spoilt"), await place.start("good")
    await eventually(lambda: (spoilt / "pid").exists() and (good / "pid").exists())
    lock = spoilt / "lock"
    lock.unlink()
    lock.mkdir() if thing == "directory" else lock.symlink_to("/dev/null")
    (spoilt / "fail").touch()
    os.kill(pid_of(spoilt), signal.SIGKILL)
    await eventually(lambda: "spoilt" in place.told())
    (good / "leave").touch()
    await eventually(lambda: "good" in place.told())


async def test_directory_of_a_master_killed_while_making_it_is_nobodys(place: Place) -> None:
    (place.root / ".new-r").mkdir()
    await place.close()
    await place.open()
    assert list(place.root.iterdir()) == []
    assert place.engine._runners == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="switching users needs root")
async def test_task_is_not_run_as_root_because_its_directory_is_roots(place: Place) -> None:
    (place.root / "r").mkdir(mode=0o700)
    with pytest.raises(Unavailable, match="belongs to uid 0, but its task runs as uid 65534"):
        await place.start(run_as=RunAs(uid=65534, gid=65534))
    assert not (place.root / "r" / "pid").exists()
