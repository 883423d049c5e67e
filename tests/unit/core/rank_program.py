"""A rank of a small job, run as a process: `python rank_program.py SCENARIO RANK SIZE LOCAL_SIZE PORT DIRECTORY`.

Prints one JSON line: what the scenario returned, or the error it raised.
"""

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from determined import core
from determined.core import DistributedContext
from determined.core._reporter import Reporter
from determined.rundir.layout import RunDir
from determined.storage import CloudStorageManager, StorageManager
from determined.storage.shared_fs.manager import SharedFSStorageManager


def collectives(dist: DistributedContext, _directory: Path) -> Any:
    return {
        "gather": dist.gather(dist.rank),
        "allgather": dist.allgather({"rank": dist.rank}),
        "broadcast": dist.broadcast(f"from {dist.rank}"),
        "gather_local": dist.gather_local(dist.rank),
        "allgather_local": dist.allgather_local(dist.rank),
        "broadcast_local": dist.broadcast_local(dist.rank),
        "large": len(dist.broadcast(bytes(3_000_000) if dist.rank == 0 else None)),
        "numbers": (dist.get_rank(), dist.get_size(), dist.get_local_rank(), dist.get_num_agents()),
    }


def out_of_step(dist: DistributedContext, _directory: Path) -> Any:
    return dist.gather(1) if dist.rank else dist.allgather(dist.broadcast(1))


def one_leaves(dist: DistributedContext, _directory: Path) -> Any:
    if dist.rank == 1:
        return "left"
    return dist.allgather(1)


def out_of_step_with_large_values(dist: DistributedContext, _directory: Path) -> Any:
    """Send at each end what the other does not read: neither may wait for ever."""
    return dist.gather(bytes(20_000_000)) if dist.rank else dist.broadcast(bytes(20_000_000))


def one_is_killed(dist: DistributedContext, _directory: Path) -> Any:
    """The others stand in an allgather at that moment; how long each waited, and what it is told."""
    if dist.rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return _told(dist)


def the_chief_is_killed(dist: DistributedContext, _directory: Path) -> Any:
    if dist.rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return _told(dist)


def _told(dist: DistributedContext) -> Any:
    began = time.monotonic()
    try:
        dist.allgather(1)
    except RuntimeError as err:
        return {"seconds": time.monotonic() - began, "message": str(err)}
    return "not told"


def preempt_in_step(dist: DistributedContext, directory: Path) -> Any:
    """Three nodes. The chief's flag goes up at any moment, here by another rank; all leave after the same batch."""
    for name in range(dist.size):
        (directory / f"run{name}").mkdir(exist_ok=True)
    reporter, chiefs = Reporter(RunDir(directory / f"run{dist.rank}")), Reporter(RunDir(directory / "run0"))
    with core.PreemptContext(reporter, dist) as preempt:
        for batch in itertools.count():
            if batch == 5 and dist.rank == 2:
                chiefs.control.preempt = True
            if preempt.should_preempt(auto_ack=False):
                return {"batch": batch, "aware": reporter.control.aware}
    raise AssertionError("nobody left")


def preempt_together(dist: DistributedContext, _directory: Path) -> Any:
    with core.DummyPreemptContext(dist) as preempt:
        return preempt.should_preempt()


def _mine(dist: DistributedContext, directory: Path, files: dict[str, str]) -> Path:
    own = directory / f"rank{dist.rank}"
    own.mkdir(exist_ok=True)
    for name, text in files.items():
        (own / name).parent.mkdir(exist_ok=True)
        (own / name).write_text(text)
    return own


def _checkpoints(dist: DistributedContext, directory: Path, cloud: bool = False) -> core.DummyCheckpointContext:
    return core.DummyCheckpointContext(dist, _cloud(directory) if cloud else _shared(directory))


def _shared(directory: Path) -> StorageManager:
    return SharedFSStorageManager(str(directory / "store"))


def _cloud(directory: Path) -> StorageManager:
    """An object store that several processes see: fsspec's local file system under a path."""
    import fsspec

    (directory / "tmp").mkdir(exist_ok=True)
    filesystem = fsspec.filesystem("file", auto_mkdir=True)
    return CloudStorageManager(filesystem, str(directory / "bucket"), str(directory / "tmp"))


def _content(checkpoints: core.DummyCheckpointContext, storage_id: str) -> dict[str, str]:
    with checkpoints.restore_path(storage_id) as path:
        return {str(p.relative_to(path)): p.read_text() for p in path.rglob("*") if p.is_file() and p.name[0] != "."}


def shards(dist: DistributedContext, directory: Path) -> Any:
    checkpoints = _checkpoints(dist, directory)
    own = _mine(dist, directory, {f"part{dist.rank}": str(dist.rank), "same": "equal", "d/x": "equal"})
    metadata = {"steps_completed": 1, "ranks": {str(dist.rank): True}}
    storage_id = checkpoints.upload(own, metadata, shard=True)
    return {"id": storage_id, "files": _content(checkpoints, storage_id)}


def some_without(dist: DistributedContext, directory: Path) -> Any:
    checkpoints = _checkpoints(dist, directory)
    own = _mine(dist, directory, {"only": "2"}) if dist.rank == 2 else None
    return _content(checkpoints, checkpoints.upload(own, {"steps_completed": 1}, shard=True))


def a_selector_without_a_directory(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {"a": "1"}) if dist.rank == 0 else None
    selector = (lambda _path: True) if dist.rank == 1 else None
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1}, shard=True, selector=selector)


def an_unreadable_duplicate(dist: DistributedContext, directory: Path) -> Any:
    """Contents are compared only when two ranks have a file of one name; here the comparison itself fails."""
    own = _mine(dist, directory, {"same": "1"})
    if dist.rank == 1:
        from determined.core import _checkpoint_files

        _checkpoint_files._md5 = _refuse  # type: ignore[assignment]
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1}, shard=True)


class _Unportable(Exception):
    """As some drivers' errors: its copy cannot be made from its words."""

    def __init__(self, one: str, _two: str) -> None:
        super().__init__(one)


def _refuse(_path: Path) -> str:
    raise _Unportable("the disk is gone", "")


def a_worker_alone(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {"a": "1"})
    if dist.rank != 1:
        return "not mine to say"
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1})


def lists_that_differ(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {f"part{dist.rank}": "1"})
    metadata = {"steps_completed": 1, "list": [dist.rank], "mixed": 1 if dist.rank else {"a": 1}}
    return _checkpoints(dist, directory).upload(own, metadata, shard=True)


def nobody_brings_anything(dist: DistributedContext, directory: Path) -> Any:
    return _checkpoints(dist, directory).upload(None, {"steps_completed": 1}, shard=True)


def a_missing_directory(dist: DistributedContext, directory: Path) -> Any:
    own = directory / "absent" if dist.rank == 1 else _mine(dist, directory, {"a": "1"})
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1}, shard=True)


def conflicting_files(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {"clash": str(dist.rank), f"ok{dist.rank}": "1"})
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1}, shard=True)


def file_against_directory(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {"thing": "file"} if dist.rank == 0 else {"thing/inner": "in a directory"})
    return _checkpoints(dist, directory).upload(own, {"steps_completed": 1}, shard=True)


def conflicting_metadata(dist: DistributedContext, directory: Path) -> Any:
    own = _mine(dist, directory, {f"part{dist.rank}": "1"})
    metadata = {"steps_completed": 1, "a": {"b": dist.rank}}
    return _checkpoints(dist, directory).upload(own, metadata, shard=True)


def one_directory(dist: DistributedContext, directory: Path) -> Any:
    shared = directory / "common"
    shared.mkdir(exist_ok=True)
    (shared / f"part{dist.rank}").write_text(str(dist.rank))
    dist.allgather(None)
    checkpoints = _checkpoints(dist, directory)
    everything = checkpoints.upload(shared, {"steps_completed": 1}, shard=True)
    mine = f"part{dist.rank}" if dist.rank < 2 else "part0"
    selected = checkpoints.upload(shared, {"steps_completed": 1}, shard=True, selector=lambda path: path == mine)
    return [sorted(_content(checkpoints, storage_id)) for storage_id in (everything, selected)]


def store_path(dist: DistributedContext, directory: Path, cloud: bool = False) -> Any:
    checkpoints = _checkpoints(dist, directory, cloud)
    with checkpoints.store_path({f"m{dist.rank}": 1}, shard=True) as (path, storage_id):
        (path / f"part{dist.rank}").write_text(str(dist.rank))
    return {"id": storage_id, "files": _content(checkpoints, storage_id)}


def cloud_store_path(dist: DistributedContext, directory: Path) -> Any:
    return store_path(dist, directory, cloud=True)


def store_path_with_a_failure(dist: DistributedContext, directory: Path) -> Any:
    with _checkpoints(dist, directory).store_path({}, shard=True) as (path, _):
        (path / f"part{dist.rank}").write_text("1")
        if dist.rank == 1:
            raise ZeroDivisionError("on rank 1")


def a_worker_fails_while_the_others_exchange_something(dist: DistributedContext, directory: Path) -> Any:
    with _checkpoints(dist, directory).store_path({}, shard=True) as (path, _):
        (path / f"part{dist.rank}").write_text("1")
        if dist.rank == 1:
            raise ZeroDivisionError("the disk is gone")
        return dist.allgather("mine")


def the_chief_fails_while_the_others_wait_for_it(dist: DistributedContext, directory: Path) -> Any:
    """By other means than ours, as in a collective call of a framework."""
    has_left = directory / "has-left"
    try:
        with _checkpoints(dist, directory).store_path({}, shard=True) as (path, _):
            if dist.rank == 0:
                raise ZeroDivisionError("the disk is gone")
            _wait_until(has_left.exists)
            (path / f"part{dist.rank}").write_text("still there")
    finally:
        if dist.rank == 0:
            has_left.touch()


def shared_download(dist: DistributedContext, directory: Path) -> Any:
    checkpoints = _checkpoints(dist, directory, cloud=True)
    own = _mine(dist, directory, {"a": "1", "b": "2", "c": "3"}) if dist.rank == 0 else None
    storage_id = checkpoints.upload(own, {"steps_completed": 1}, shard=True)
    wanted = {0: "a", 1: "b", 2: "b"}[dist.rank]
    with checkpoints.restore_path(storage_id, selector=lambda path: path == wanted) as path:
        seen = sorted(p.name for p in path.iterdir())
    return {"path": str(path), "seen": seen, "gone": not path.exists() if dist.local_rank == 0 else None}


def downloads_of_each_node(dist: DistributedContext, directory: Path) -> Any:
    checkpoints = _checkpoints(dist, directory, cloud=True)
    with checkpoints.store_path({}, shard=True) as (path, storage_id):
        (path / f"part{dist.rank}").write_text(str(dist.rank))
    target = directory / f"node{dist.cross_rank}"
    checkpoints.download(storage_id, target)
    dist.allgather_local(None)
    with checkpoints.restore_path(storage_id) as shared:
        pass
    with checkpoints.restore_path(storage_id, "NO_SHARED_DOWNLOAD") as own:
        pass
    return {"files": sorted(p.name for p in target.iterdir()), "shared": str(shared), "own": str(own)}


def the_chief_fails_while_restoring(dist: DistributedContext, directory: Path) -> Any:
    return _fails_while_restoring(dist, directory, culprit=0)


def a_worker_fails_while_restoring(dist: DistributedContext, directory: Path) -> Any:
    return _fails_while_restoring(dist, directory, culprit=1)


def _fails_while_restoring(dist: DistributedContext, directory: Path, culprit: int) -> Any:
    """The others are meanwhile where they wait for it by other means, as in a collective call of a framework."""
    checkpoints, storage_id = _stored(dist, directory)
    has_left = directory / "has-left"
    try:
        with checkpoints.restore_path(storage_id):
            if dist.rank == culprit:
                raise ZeroDivisionError("not the model that was saved")
            _wait_until(has_left.exists)
            return dist.allgather(None)
    finally:
        if dist.rank == culprit:
            has_left.touch()


def the_chiefs_node_lacks_the_checkpoint(dist: DistributedContext, directory: Path) -> Any:
    checkpoints, storage_id = _stored(dist, directory)
    if dist.cross_rank == 0:
        (directory / "elsewhere").mkdir(exist_ok=True)
        checkpoints = _checkpoints(dist, directory / "elsewhere", cloud=True)
    with checkpoints.restore_path(storage_id):
        return dist.allgather(None)


def _stored(dist: DistributedContext, directory: Path) -> tuple[core.DummyCheckpointContext, str]:
    checkpoints = _checkpoints(dist, directory, cloud=True)
    own = _mine(dist, directory, {"model": "1"}) if dist.rank == 0 else None
    return checkpoints, checkpoints.upload(own, {"steps_completed": 1}, shard=True)


def _wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing has happened for {seconds} seconds")
        time.sleep(0.01)


def unknown_checkpoint(dist: DistributedContext, directory: Path) -> Any:
    with _checkpoints(dist, directory).restore_path("5b9d1f9e-8f0e-4f0e-9d6a-000000000002"):
        return "found"


def main() -> None:
    scenario, rank, size, local_size, port, directory = sys.argv[1:]
    work: Callable[[DistributedContext, Path], Any] = globals()[scenario]
    numbers = {"rank": int(rank), "size": int(size), "local_size": int(local_size)}
    try:
        with DistributedContext(
            **numbers,
            local_rank=numbers["rank"] % numbers["local_size"],
            cross_rank=numbers["rank"] // numbers["local_size"],
            cross_size=numbers["size"] // numbers["local_size"],
            chief_ip="127.0.0.1",
            pub_port=int(port),
        ) as dist:
            answer = {"result": work(dist, Path(directory))}
    except Exception as err:  # the edge of this process: the test reads the error
        answer = {"error": type(err).__name__, "message": str(err)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
