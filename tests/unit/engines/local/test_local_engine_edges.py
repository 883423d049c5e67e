"""What the contract suite does not reach: files and modes, runners that cannot start, nodes that come and go."""

import asyncio
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from determined.engines.host import restart_delays
from determined.engines.local import engine as engine_module
from determined.engines.local.engine import LocalEngine, LocalNode
from determined.engines.model import Device, EngineEvent, GoneReason, Launch, NodesChanged, RunAs, RunnerGone, Slot
from determined.errors import AlreadyExists, FailedPrecondition, InvalidArgument, NotFound, Unavailable
from determined.wire.codec import from_json
from determined.wire.report import LaunchFile

# Stands in for the runner where a test needs one that misbehaves. Called as: stub -P -m determined.exec.runner RUN_DIR
WAITS = '#!/bin/sh\nif [ -e "$4/seen" ]; then touch "$4/done"; exit 0; fi\ntouch "$4/seen"; exec sleep 300\n'
FAILS = '#!/bin/sh\necho "cannot breathe" \nexit 3\n'
FAILS_TWICE = '#!/bin/sh\necho x >> "$4/tries"\n[ $(wc -l < "$4/tries") -ge 3 ] && touch "$4/done" && exit 0\nexit 3\n'


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restart_delays, "DELAYS", (0.0, 0.0, 0.0, 0.0))
    monkeypatch.setattr(engine_module, "_POLL_SECONDS", 0.02)


@pytest.fixture
def place() -> Iterator[Path]:
    """Like tmp_path, but other users can get there."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def launch(resource_id: str = "r", **changes: object) -> Launch:
    fields: dict[str, object] = {
        "allocation_id": "1.task.1",
        "resource_id": resource_id,
        "container_id": "c",
        "node_id": "here",
        "rank": 0,
        "slot_ids": (0, 1),
        "device": Device.CPU,
        "master_url": "http://127.0.0.1:1",
        "token": "secret",
    }
    return Launch(**{**fields, **changes})  # type: ignore[arg-type]


class Life:
    """One open engine with a stub for a runner."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.engine: LocalEngine | None = None

    @property
    def run_dir(self) -> Path:
        return self.place / "runs" / "r"

    async def open(self, stub: str, *nodes: LocalNode) -> LocalEngine:
        program = self.place / "stub"
        program.write_text(stub)
        program.chmod(0o755)
        self.engine = LocalEngine(self.place / "runs", list(nodes) or [LocalNode("here", slots=2)], python=str(program))
        await self.engine.open()
        return self.engine

    async def event(self) -> EngineEvent:
        assert self.engine is not None
        async with asyncio.timeout(60):
            return await anext(aiter(self.engine.events()))


@pytest.fixture
async def life(place: Path) -> AsyncIterator[Life]:
    life = Life(place)
    yield life
    if life.engine is not None:
        for resource_id in await life.engine.running():
            # Not before its first start is on record: the second would wait as well.
            await eventually((life.run_dir / "seen").exists)
            await life.engine.kill(resource_id, force=True)
            await life.event()
        await life.engine.close()


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - what it waits for happens in another process
            await asyncio.sleep(0.01)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_run_directory_and_launch_file_are_private(life: Life) -> None:
    engine = await life.open(WAITS)
    await engine.start(launch(master_cert_file="/etc/cert.pem"))
    assert mode(life.run_dir) == 0o700
    assert mode(life.run_dir / "launch.json") == 0o600
    written = from_json((life.run_dir / "launch.json").read_bytes(), LaunchFile)
    assert (written.token, written.slot_ids, written.node_id) == ("secret", [0, 1], "here")
    assert written.master_cert_file == "/etc/cert.pem"


async def test_runner_that_never_works_is_lost_with_its_last_words(life: Life) -> None:
    engine = await life.open(FAILS)
    await engine.start(launch())
    event = await life.event()
    assert isinstance(event, RunnerGone)
    assert event.reason is GoneReason.LOST
    assert event.detail.count("cannot breathe") == 4, "one start and three more"
    await engine.forget("r")
    assert not life.run_dir.exists()


async def test_runner_that_drains_at_last_counts_as_exited(life: Life) -> None:
    engine = await life.open(FAILS_TWICE)
    await engine.start(launch())
    assert await life.event() == RunnerGone("r", GoneReason.EXITED)
    assert life.run_dir.exists(), "its end is not on record yet"
    await engine.forget("r")
    assert not life.run_dir.exists()


async def test_runner_that_cannot_be_executed_leaves_nothing_behind(life: Life) -> None:
    engine = await life.open(WAITS)
    (life.place / "stub").chmod(0o644)
    with pytest.raises(Unavailable, match="runner r cannot be started"):
        await engine.start(launch())
    assert not life.run_dir.exists()
    (life.place / "stub").chmod(0o755)
    await engine.start(launch())
    assert list(await engine.running()) == ["r"]


async def test_directory_without_a_launch_file_is_taken_up(life: Life) -> None:
    engine = await life.open(WAITS)
    life.run_dir.mkdir(mode=0o700)
    await engine.start(launch())
    assert (life.run_dir / "launch.json").exists()
    assert list(await engine.running()) == ["r"]


async def test_dead_runner_is_told_the_new_address_before_it_drains(life: Life) -> None:
    life.run_dir.mkdir(parents=True)
    (life.run_dir / "seen").touch()
    (life.run_dir / "launch.json").write_text("{}")
    keep = WAITS.replace('touch "$4/done"', 'cp "$4/launch.json" "$4/../../heard" && touch "$4/done"')
    engine = await life.open(keep)
    await engine.start(launch(master_url="http://127.0.0.1:2"))
    assert await life.event() == RunnerGone("r", GoneReason.EXITED)
    assert from_json((life.place / "heard").read_bytes(), LaunchFile).master_url == "http://127.0.0.1:2"


async def test_dead_runner_that_nobody_claims_drains_all_the_same(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_CLAIM_SECONDS", 0.0)
    life.run_dir.mkdir(parents=True)
    (life.run_dir / "seen").touch()
    await life.open(WAITS)
    assert await life.event() == RunnerGone("r", GoneReason.EXITED)


async def test_platform_without_pidfd_still_hears_of_the_end(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    engine = await life.open(FAILS_TWICE)
    await engine.start(launch())
    assert await life.event() == RunnerGone("r", GoneReason.EXITED)


async def test_run_directory_that_cannot_be_written_is_said_and_not_left(
    life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    engine = await life.open(WAITS)
    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        with pytest.raises(Unavailable, match="No space left on device"):
            await engine.start(launch())
    assert not life.run_dir.exists()
    await engine.start(launch())
    assert list(await engine.running()) == ["r"]


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", ""])
async def test_resource_id_cannot_leave_the_run_root(life: Life, name: str) -> None:
    engine = await life.open(WAITS)
    with pytest.raises(InvalidArgument, match="cannot name a directory"):
        await engine.start(launch(name))


async def test_caller_that_gives_up_leaves_a_runner_not_half_of_one(life: Life) -> None:
    engine = await life.open(WAITS)
    start = asyncio.create_task(engine.start(launch()))
    await asyncio.sleep(0)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    await engine.start(launch())
    assert list(await engine.running()) == ["r"]


async def test_nodes_come_and_go_with_an_event(life: Life) -> None:
    engine = await life.open(WAITS, LocalNode("here", slots=2))
    await engine.add_node(LocalNode("more", "gpu", slots=3))
    assert await life.event() == NodesChanged()
    assert [(node.id, node.pool, len(node.slots)) for node in engine.nodes()] == [
        ("here", "default", 2),
        ("more", "gpu", 3),
    ]
    with pytest.raises(AlreadyExists, match="node 'more' exists"):
        await engine.add_node(LocalNode("more", slots=1))
    await engine.remove_node("more")
    assert await life.event() == NodesChanged()
    assert [node.id for node in engine.nodes()] == ["here"]
    with pytest.raises(NotFound, match="node 'more' does not exist"):
        await engine.remove_node("more")


async def test_one_gpu_is_offered_by_one_node(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = (Slot(0, Device.CUDA, "GPU-a"), Slot(1, Device.CUDA, "GPU-b"))
    monkeypatch.setattr(engine_module, "detect", lambda *_, **__: gpus)
    engine = await life.open(WAITS, LocalNode("one"), LocalNode("two"))
    assert [len(node.slots) for node in engine.nodes()] == [2, 0]


@pytest.mark.parametrize(("slots", "gpus", "warned"), [(2, 8, True), (2, 0, False), (None, 8, False)])
async def test_gpus_that_artificial_slots_replace_are_named_in_the_log(
    life: Life,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    slots: int | None,
    gpus: int,
    warned: bool,
) -> None:
    monkeypatch.setattr(engine_module, "count_gpus", lambda visible: gpus)
    await life.open(WAITS, LocalNode("here", slots=slots))
    text = "slots=2 offers CPU slots; the 8 GPU(s) of this machine are not offered"
    assert (text in caplog.text) is warned


async def test_run_root_that_cannot_be_made_is_said(place: Path) -> None:
    (place / "file").touch()
    engine = LocalEngine(place / "file" / "runs", [LocalNode("here", slots=1)], python=sys.executable)
    with pytest.raises(Unavailable, match="run directories cannot be kept"):
        await engine.open()


@pytest.mark.skipif(os.geteuid() != 0, reason="switching users needs root")
async def test_task_of_a_linked_user_runs_as_that_user(life: Life) -> None:
    report = WAITS.replace('touch "$4/seen";', 'id -u > "$4/uid" && touch "$4/seen";')
    engine = await life.open(report)
    await engine.start(launch(run_as=RunAs(uid=65534, gid=65534)))
    await eventually((life.run_dir / "seen").exists)
    assert (life.run_dir / "uid").read_text() == "65534\n"
    for path in (life.run_dir, life.run_dir / "launch.json", life.run_dir / "runner.log"):
        assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)
    await engine.kill("r", force=True)
    assert await life.event() == RunnerGone("r", GoneReason.EXITED), "its second start runs as its owner, too"


@pytest.mark.skipif(os.geteuid() != 0, reason="switching users needs root")
async def test_program_another_user_cannot_reach_is_said(life: Life) -> None:
    engine = await life.open(WAITS)
    (life.place / "stub").chmod(0o700)
    with pytest.raises(FailedPrecondition, match="cannot be started as uid 65534"):
        await engine.start(launch(run_as=RunAs(uid=65534, gid=65534)))
    assert not life.run_dir.exists()
