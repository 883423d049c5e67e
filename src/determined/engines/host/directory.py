"""Run directory from the engine's side: created exclusively, found again after a restart, put away. Blocking."""

import logging
import os
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from determined._remove_tree import remove_tree
from determined.engines.host import untrusted
from determined.engines.host.process import Identity
from determined.engines.model import Launch
from determined.errors import InvalidArgument, Unavailable
from determined.rundir import lock
from determined.rundir.journal import journal_names
from determined.rundir.journal_head import HEAD_BYTES, pending_of
from determined.rundir.layout import RunDir
from determined.wire import codec
from determined.wire.report import LaunchFile

logger = logging.getLogger(__name__)

LOST = "lost"  # under the run root: directories whose records never reached the master
_FRESH = ".new-"  # being made; after a kill in the middle, what is left does not count as a run directory


class DirectoryState(StrEnum):
    """State of a run directory's runner."""

    ALIVE = "alive"  # its runner holds the lock
    DONE = "done"  # its runner reported everything and left
    DEAD = "dead"  # its runner vanished, or never began


def find(run_dir: RunDir) -> DirectoryState:
    """Return the state of a runner.

    If another thing was put in the place of a file, this one directory counts as dead.
    """
    try:
        # The lock first: a runner writes `done` while it still holds it.
        if lock.is_held(run_dir.lock):
            return DirectoryState.ALIVE
        return DirectoryState.DONE if run_dir.done.exists() else DirectoryState.DEAD
    except OSError as e:
        logger.warning("run directory %s is spoilt: %s", run_dir.path, e)
        return DirectoryState.DEAD


def make_root(run_root: Path) -> None:
    """Create the root of all run directories and clear it of unfinished ones.

    Raises Unavailable when it cannot be made.
    """
    try:
        run_root.mkdir(parents=True, exist_ok=True)
        # Task users pass through to their own directories but cannot list those of others.
        run_root.chmod(0o711 if os.geteuid() == 0 else 0o700)
    except OSError as e:
        raise Unavailable(f"run directories cannot be kept in {run_root}: {e}; choose another place") from e
    sweep(run_root)


def locate(run_root: Path, resource_id: str) -> RunDir:
    """Return the path of a runner's directory, whether it exists or not."""
    if not resource_id or resource_id[0] == "." or resource_id == LOST or "/" in resource_id or "\0" in resource_id:
        raise InvalidArgument(f"resource id {resource_id!r} cannot name a directory; use letters, digits, '.' and '-'")
    return RunDir(run_root / resource_id)


def listing(run_root: Path) -> Iterator[RunDir]:
    """Yield the run directories that exist."""
    with os.scandir(run_root) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    return (RunDir(run_root / name) for name in names if name != LOST and name[0] != ".")


def sweep(run_root: Path) -> None:
    """Remove what a master that was killed had begun to make."""
    for path in run_root.glob(f"{_FRESH}*"):
        remove(RunDir(path))


def make(run_dir: RunDir, identity: Identity | None) -> None:
    """Create the directory (0700), under its name only when it is its user's. Raises FileExistsError when it exists."""
    if run_dir.path.exists():
        raise FileExistsError(run_dir.path)
    fresh = run_dir.path.with_name(_FRESH + run_dir.path.name)
    try:
        fresh.mkdir(mode=0o700)
        if identity is not None:
            os.chown(fresh, identity.uid, identity.gid)
        fresh.rename(run_dir.path)
    except OSError as e:
        remove(RunDir(fresh))
        raise Unavailable(f"run directory {run_dir.path} cannot be made: {e}; free space or correct its owner") from e


def write_launch(run_dir: RunDir, launch: LaunchFile, identity: Identity | None) -> None:
    """(Re)write launch.json: after a restart the master may have another address."""
    write_private(run_dir.launch, codec.to_json(launch), identity)


def write_private(path: Path, content: bytes, identity: Identity | None) -> None:
    """(Re)write a file of a run directory, 0600, in one step."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if identity is not None:
                os.fchown(descriptor, identity.uid, identity.gid)
            file.write(content)
        fresh.replace(path)
    except OSError as e:
        raise Unavailable(f"{path} cannot be written: {e}; free space or correct its owner") from e


def check_owner(run_dir: RunDir, identity: Identity | None) -> None:
    """Check the owner: a task must not run as another user, root above all, because its directory is that user's."""
    owner = run_dir.path.stat().st_uid
    wanted = identity.uid if identity else os.geteuid()
    if owner != wanted:
        raise Unavailable(
            f"run directory {run_dir.path} belongs to uid {owner}, but its task runs as uid {wanted}; remove it"
        )


def is_drained(run_dir: RunDir) -> bool:
    """Check whether every readable journal has been shipped to its last record."""
    try:
        names = journal_names(run_dir.journals)
    except OSError:
        return True
    heads = (untrusted.read_end(run_dir.journals / f"{name}.head", HEAD_BYTES) for name in names)
    return not any(pending_of(head) for head in heads)


def clear_away(run_dir: RunDir, state: DirectoryState) -> None:
    """Remove the directory, or put it aside where it has what never reached the master."""
    if state is DirectoryState.DONE or is_drained(run_dir):
        remove(run_dir)
    else:
        put_aside(run_dir)


def put_aside(run_dir: RunDir) -> None:
    """Keep what never reached the master where no runner is looked for."""
    aside = aside_of(run_dir)
    try:
        aside.parent.mkdir(mode=0o700, exist_ok=True)
        run_dir.path.rename(aside)
    except OSError as e:
        logger.warning("run directory %s cannot be put aside and stays: %s", run_dir.path, e)


def aside_of(run_dir: RunDir) -> Path:
    return run_dir.path.parent / LOST / run_dir.path.name


def remove(run_dir: RunDir) -> None:
    """Remove the directory; what cannot be removed is said once and left."""
    try:
        remove_tree(str(run_dir.path))
    except FileNotFoundError:
        return
    except OSError as e:
        logger.warning("run directory %s cannot be removed and stays: %s", run_dir.path, e)


def last_words(run_dir: RunDir) -> str:
    """Return the end of runner.log, for the reason people read."""
    return untrusted.read_end(run_dir.runner_log, 500).decode(errors="replace").strip()


def launch_file(launch: Launch) -> LaunchFile:
    """Return the launch as the runner reads it."""
    return LaunchFile(
        master_url=launch.master_url,
        token=launch.token,
        allocation_id=launch.allocation_id,
        resource_id=launch.resource_id,
        container_id=launch.container_id,
        node_id=launch.node_id,
        rank=launch.rank,
        slot_ids=list(launch.slot_ids),
        device=str(launch.device),
        master_cert_file=launch.master_cert_file,
        master_cert_name=launch.master_cert_name,
        spec=launch.spec,
        context=launch.context,
    )
