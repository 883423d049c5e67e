"""A task's own temporary directory, which is also its `/tmp` where the system lets a process have one of its own.

A container gave every task an empty /tmp, and scripts count on it: one that finds what an earlier run left there
goes on from that. What the task needs of the real /tmp (its run directory, its Python, its checkpoints) is mounted
through.
"""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from determined._remove_tree import remove_tree
from determined.exec.runner.namespace import Mount
from determined.rundir.layout import RunDir
from determined.wire.report import BindMount

TMP = "/tmp"
_PREFIX = "determined-"
# Meeting points of programs that serve all users of the machine: Ray's sessions, NVIDIA's multi-process service.
_SERVICES = ("ray", "nvidia-mps", "nvidia-log")


@dataclass(frozen=True, slots=True)
class TaskTmp:
    """Temporary directory of a task.

    `directory` is on the node; `mounts` make it the task's /tmp. Without mounts the task shares /tmp with others.
    """

    directory: Path
    mounts: tuple[Mount, ...] = ()
    shared_because: str = ""  # why there are no mounts, unless that is what was asked for

    def variables(self, *, private: bool) -> dict[str, str]:
        return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), TMP if private else str(self.directory))


def provide(run_dir: RunDir, base: str) -> Path:
    """Create a directory below `base`, noted in the run directory so that any later runner there can remove it."""
    remove(run_dir)  # of a runner that died before its task began
    outer = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base))
    run_dir.tmp_note.write_text(json.dumps(str(outer)))
    inner = outer / "tmp"
    inner.mkdir()
    # Inside, any user that the task becomes may write, as in every /tmp; outside, nobody else comes through `outer`.
    inner.chmod(0o1777)
    return inner


def plan(directory: Path, kept: Iterable[str], bind_mounts: Sequence[BindMount], *, shared: bool) -> TaskTmp:
    """Plan the mounts that make `directory` /tmp and keep the paths in `kept` below /tmp as they are.

    A bind mount on /tmp takes the place of `directory`; one below it is mounted there.
    """
    root = Path(os.path.realpath(TMP))
    asked = next((one for one in bind_mounts if os.path.normpath(one.container_path) == TMP), None)
    if shared or (asked is not None and os.path.realpath(asked.host_path) == str(root)):
        return TaskTmp(directory)
    through = _below(root, [*kept, *(f"{TMP}/{name}" for name in _SERVICES)])
    if any(mount.target == str(root) for mount in through):
        return TaskTmp(directory, shared_because=f"checkpoint_storage, a bind mount or the task's home is {TMP} itself")
    source = directory if asked is None else Path(asked.host_path)
    through += [_placed(one, root) for one in bind_mounts if one is not asked and is_meant_for_tmp(one)]
    for mount in through:
        _make_place(mount, source / Path(mount.target).relative_to(root))
    inside = (Mount(m.source, str(source / Path(m.target).relative_to(root)), m.read_only) for m in through)
    return TaskTmp(directory, (*inside, Mount(str(source), str(root), asked is not None and asked.read_only)))


def tell_shared(tmp: TaskTmp, why: str) -> str:
    """Return the line for the log of a task that has no /tmp of its own."""
    return (
        f"{TMP} is shared with other tasks on this node ({why}): write to $TMPDIR, which is this task's own"
        f" ({tmp.directory}), or give each run its own names there"
    )


def remove(run_dir: RunDir) -> None:
    """Remove what `provide` has made for this run directory, if that is still there."""
    with contextlib.suppress(OSError, ValueError):
        outer = Path(json.loads(run_dir.tmp_note.read_text()))
        if outer.name.startswith(_PREFIX):
            _remove(outer)
        run_dir.tmp_note.unlink()


def _remove(outer: Path) -> None:
    """Remove as much as possible: a directory without rights must not keep the rest."""
    with contextlib.suppress(OSError):
        return remove_tree(str(outer))
    with contextlib.suppress(RecursionError):
        shutil.rmtree(outer, ignore_errors=True)


def _below(root: Path, paths: Iterable[str]) -> list[Mount]:
    """Return mounts for the paths that exist in `root`, by each of their names there, without those inside another."""
    sources: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        if path and os.path.exists(path):  # noqa: PTH110 (there are dozens of paths, before each task)
            real, name = os.path.realpath(path), os.path.normpath(path)
            names = (real, name, str(root) + name.removeprefix(TMP) if name.startswith(TMP) else name)
            sources |= {one: real for one in names if _is_inside(one, str(root))}
    outermost = [name for name in sources if not any(name != o and _is_inside(name, o) for o in sources)]
    return [Mount(sources[name], name) for name in sorted(outermost)]


def _is_inside(path: str, directory: str) -> bool:
    return f"{path}/".startswith(f"{directory}/")


def is_meant_for_tmp(mount: BindMount) -> bool:
    """Check whether the mount's target is /tmp or below, and its source is another path."""
    path = os.path.normpath(mount.container_path)
    return f"{path}/".startswith(f"{TMP}/") and path != mount.host_path


def _placed(mount: BindMount, root: Path) -> Mount:
    relative = os.path.relpath(os.path.normpath(mount.container_path), TMP)
    return Mount(os.path.realpath(mount.host_path), str(root / relative), mount.read_only)


def _make_place(mount: Mount, place: Path) -> None:
    """Create a file or directory to mount on; the mount hides it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if Path(mount.source).is_dir():
        place.mkdir(exist_ok=True)
    else:
        place.touch()
