"""A runner in a container as the engine holds it: what its directory and its ends mean."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from determined.engines.docker.tracked_container import TrackedContainer
from determined.engines.host.directory import DirectoryState
from determined.engines.model import Container, Device, GoneReason, Launch, Mount, RunAs
from determined.errors import FailedPrecondition
from determined.rundir.layout import RunDir


def launch(name: str, storage: Path) -> Launch:
    return Launch(
        allocation_id="1.t.1",
        resource_id=name,
        container_id="c",
        node_id="here",
        rank=0,
        slot_ids=(0,),
        device=Device.CPU,
        master_url="http://127.0.0.1:8080",
        token="t",
        container=Container(image="x", shared_fs=Mount(str(storage), str(storage))),
    )


@pytest.fixture
def reachable() -> Iterator[Path]:
    """Like tmp_path, but other users can get there."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


def held(place: Path, name: str = "a") -> TrackedContainer:
    return TrackedContainer(RunDir(place / name), f"determined-{name}")


def test_runner_that_had_to_be_killed_before_it_began_is_not_started_again(tmp_path: Path) -> None:
    """It hangs in its image; nothing would ever end it."""
    one = held(tmp_path)
    one.take(launch("a", tmp_path / "storage"), known=True)
    assert not one.is_hopeless()
    one.was_killed = True
    assert one.is_hopeless()
    assert one.exit_event(DirectoryState.DEAD, "").reason is GoneReason.NOT_STARTED
    one.run_dir.control.touch()
    assert not one.is_hopeless()


def test_storage_that_many_trials_want_at_once_is_made_for_all(tmp_path: Path) -> None:
    storage = tmp_path / "new" / "storage"
    names = [f"r{number}" for number in range(16)]
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda name: held(tmp_path, name).take(launch(name, storage), known=True), names))
    assert storage.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch users")
def test_storage_is_made_with_the_rights_of_the_linked_user_alone(tmp_path: Path, reachable: Path) -> None:
    own, closed = reachable / "own", reachable / "closed"
    own.mkdir()
    os.chown(own, 1234, 4321)
    closed.mkdir()
    who = RunAs(uid=1234, gid=4321)
    held(tmp_path, "a").take(replace(launch("a", own / "new"), run_as=who), known=True)
    assert (own / "new").stat().st_uid == 1234
    with pytest.raises(FailedPrecondition, match=r"closed/new cannot be made.*[Pp]ermission denied.*host_path"):
        held(tmp_path, "b").take(replace(launch("b", closed / "new"), run_as=who), known=True)
    assert not (closed / "new").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can switch users")
def test_what_the_linked_user_cannot_reach_is_not_mounted_for_it(tmp_path: Path, reachable: Path) -> None:
    """Docker itself mounts as root: the mode of the inner directory would be all that is asked."""
    closed = reachable / "home"
    (closed / "project").mkdir(parents=True)
    (closed / "project").chmod(0o755)
    (reachable / "open").mkdir()
    closed.chmod(0o700)
    who = RunAs(uid=1234, gid=4321)

    def start(name: str, source: Path) -> None:
        asked = Container(mounts=(Mount(str(source), "/data"),))
        held(tmp_path, name).take(replace(launch(name, source), container=asked, run_as=who), known=True)

    start("a", reachable / "open")
    with pytest.raises(FailedPrecondition, match=r"project cannot be mounted: the task's user \(uid 1234\)"):
        start("b", closed / "project")
    with pytest.raises(FailedPrecondition, match="cannot be mounted"):
        held(tmp_path, "c").take(replace(launch("c", closed / "project"), run_as=who), known=True)
