"""Start of a runner that outlives the master, and its end. Blocking; the engine calls it in threads."""

import contextlib
import grp
import logging
import os
import pwd
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import psutil

from determined.engines.host import environment, untrusted
from determined.engines.model import RunAs
from determined.errors import FailedPrecondition, Unavailable
from determined.rundir import lock
from determined.rundir.layout import RunDir

logger = logging.getLogger(__name__)

T = TypeVar("T")

_SWEEPS = 5  # a fork bomb may outrun one look at the process table


@dataclass(frozen=True, slots=True)
class Identity:
    """A user other than ours."""

    uid: int
    gid: int
    groups: tuple[int, ...]


def resolve(run_as: RunAs) -> Identity | None:
    """Return the user to become, None for ourselves. Raises `FailedPrecondition` when we cannot become that user."""
    if run_as == RunAs():
        return None
    uid, gid = _uid(run_as), _gid(run_as)
    if (uid, gid) == (os.geteuid(), os.getegid()):
        return None
    if os.geteuid() != 0:
        raise FailedPrecondition(
            f"the task runs as uid {uid}, gid {gid}, but the master runs as uid {os.geteuid()} and only root can"
            " switch users; start the master as root or remove the user's agent link"
        )
    name = run_as.user or _name_of(uid)
    return Identity(uid, gid, tuple(os.getgrouplist(name, gid)) if name else (gid,))


def spawn(python: str, run_dir: RunDir, identity: Identity | None) -> "subprocess.Popen[bytes]":
    """Start the runner in a session of its own.

    Raises:
        FailedPrecondition: that user cannot reach it.
        Unavailable: it cannot be executed for another reason.
    """
    # -P: the working directory is the run directory, which must not shadow modules.
    command = [python, "-P", "-m", "determined.exec.runner", str(run_dir.path)]
    try:
        log = untrusted.open_log(run_dir.runner_log, (identity.uid, identity.gid) if identity else None)
        with os.fdopen(log, "ab"):
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=run_dir.path,
                start_new_session=True,
                env=environment.without_secrets() if identity else None,
                user=identity.uid if identity else None,
                group=identity.gid if identity else None,
                extra_groups=identity.groups if identity else None,
            )
    except (OSError, subprocess.SubprocessError) as e:
        who = f" as uid {identity.uid}" if identity else ""
        # A place that another user cannot reach stays so until somebody changes it; our own may just be upgraded.
        kind = FailedPrecondition if identity and isinstance(e, PermissionError | FileNotFoundError) else Unavailable
        raise kind(
            f"runner {run_dir.path.name} cannot be started{who}: {e}; check that {python} and {run_dir.path} can be"
            " reached by that user"
        ) from e


def terminate(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


def kill_tree(pid: int) -> None:
    """Kill a runner, its descendants and its session with SIGKILL.

    The runner goes first, so that it starts nothing more.
    """
    family = _descendants(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    for _ in range(_SWEEPS):
        for process in family:
            with contextlib.suppress(psutil.Error):
                process.kill()
        family = _session(pid)
        if not family:
            return


def runner_of(run_dir: RunDir) -> int | None:
    """Return the pid of a runner that another process started; None when it is gone.

    A number alone may have gone to a stranger: the lock must be held, and the process be one started on this directory.
    """
    try:
        if not lock.is_held(run_dir.lock):
            return None
        pid = int(untrusted.read_end(run_dir.pid, 20))
        # One that was forked shows empty words behind its own.
        started_on = [word for word in psutil.Process(pid).cmdline() if word][-1:]
    except (OSError, ValueError, psutil.Error):
        return None
    return pid if started_on == [str(run_dir.path)] else None


def _descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _session(leader: int) -> list[psutil.Process]:
    pids = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            # A zombie is dead already and only waits for its parent.
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                pids.append(process)
    return pids


def _uid(run_as: RunAs) -> int:
    if run_as.uid is not None:
        return run_as.uid
    if run_as.user is None:
        return os.geteuid()
    return _looked_up("user", run_as.user, pwd.getpwnam).pw_uid


def _gid(run_as: RunAs) -> int:
    if run_as.gid is not None:
        return run_as.gid
    if run_as.group is not None:
        return _looked_up("group", run_as.group, grp.getgrnam).gr_gid
    uid = _uid(run_as)
    if uid == os.geteuid():
        return os.getegid()
    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError as e:
        raise FailedPrecondition(f"uid {uid} is no user here and no gid was given; give both in the agent link") from e


def _looked_up(noun: str, name: str, look_up: Callable[[str], T]) -> T:
    try:
        return look_up(name)
    except KeyError as e:
        raise FailedPrecondition(f"{noun} '{name}' does not exist here; create it or correct the agent link") from e


def _name_of(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None
