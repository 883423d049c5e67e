"""Standby: process that a forked runner forks before its first thread starts, and that becomes the entrypoint.

By the time the entrypoint is known the runner has threads, and a process with threads must not be forked: a lock that
one of them holds would be held in the child for ever. The standby is a child of the runner like a cold entrypoint, and
ends with it.
"""

import contextlib
import os
import pickle
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from determined.exec.runner import namespace, process_tree
from determined.exec.runner.forked.entrypoint import Program
from determined.exec.runner.forked.shown_process import ShownProcess
from determined.exec.runner.namespace import Mount, NamespaceRefused

_STARTED = b"started"
_CONNECTION = 3  # its descriptor, the only one besides the standard streams


@dataclass(frozen=True, slots=True)
class Start:
    """Order to become a program.

    Args:
        executable: The interpreter that would run it.
        site: Directory with the task's `sitecustomize`.
        note: File for the names of what it imports; None where nobody wants them.
        ports: Variables that hold ports of this allocation.
    """

    program: Program
    executable: str
    variables: dict[str, str]
    workdir: str
    mounts: tuple[Mount, ...]
    run_dir: str
    site: str
    note: str | None
    ports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Facts about the fork server that a runner was forked from.

    Args:
        started_with: Variables that its interpreter was started with.
        search: The server's sys.path, without what the variables of a task add.
        imported: Names of the top-level modules that it has imported.
        set_by_imports: Variables that modules set while they were imported.
        preloaded_with: Variables that were set meanwhile, as `preload_list.comparable` returns them; None where nothing
            of user's was imported.
        shown: What /proc shows of its forks.
    """

    started_with: Mapping[str, str]
    search: tuple[str, ...]
    imported: frozenset[str]
    set_by_imports: Mapping[str, str]
    preloaded_with: Mapping[str, str] | None
    shown: ShownProcess


class Become(BaseException):
    """Leaves the frames of the runner in the forked child, so that the entrypoint ends as an interpreter ends."""

    def __init__(self, start: Start, origin: Origin) -> None:
        super().__init__()
        self.start = start
        self.origin = origin


class Standby:
    """Runner's end. It can start one entrypoint, once."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self._connection = connection
        self.pid = pid

    def start(self, start: Start, stdout: int, stderr: int) -> int:
        """Start the entrypoint and return its pid.

        Raises:
            NamespaceRefused: the system does not let it have the mounts.
            OSError: the standby is gone.
        """
        with self._connection as connection:
            socket.send_fds(connection, [b"+"], [stdout, stderr])
            connection.sendall(pickle.dumps(start))
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        if answer == _STARTED:
            return self.pid
        if answer:
            raise NamespaceRefused(answer.decode(errors="replace"))
        raise OSError(f"the standby process {self.pid} is gone")

    def dismiss(self) -> None:
        """Let it exit: its entrypoint is started in another way, or not at all."""
        with contextlib.suppress(OSError), self._connection:
            self._connection.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Fork:
    """Standby of a runner, and where both come from."""

    standby: Standby
    origin: Origin


def start_standby(origin: Origin) -> Standby:
    """Fork the standby. Call it in the main thread, before another starts. In the child it raises `Become`."""
    ours, theirs = socket.socketpair()
    runner = os.getpid()
    pid = os.fork()
    if pid:
        theirs.close()
        return Standby(ours, pid)
    process_tree.die_with_parent()
    os.dup2(theirs.detach(), _CONNECTION)
    os.closerange(_CONNECTION + 1, os.sysconf("SC_OPEN_MAX"))
    if os.getppid() != runner:
        os._exit(1)  # it was gone before the kernel knew of our tie
    raise Become(_wait_or_exit(), origin)


def _wait_or_exit() -> Start:
    try:
        return _wait(socket.socket(fileno=_CONNECTION))
    except BaseException:  # noqa: BLE001
        # Never return into the runner's code: two processes would run the task.
        os._exit(1)


def _wait(connection: socket.socket) -> Start:
    """Wait for the order, and take the place in the system that the entrypoint will have. Exits without an order."""
    received, descriptors, _, _ = socket.recv_fds(connection, 1, 2)
    if not received or len(descriptors) != 2:
        os._exit(0)
    start: Start = pickle.loads(b"".join(iter(lambda: connection.recv(1 << 16), b"")))  # noqa: S301 (of our parent)
    os.setpgid(0, 0)
    os.chdir(start.workdir)
    if start.mounts:
        _enter(start.mounts, start.workdir, connection)
    process_tree.die_with_parent()  # here, because a change of namespaces could undo it
    for stream, descriptor in enumerate([os.open(os.devnull, os.O_RDONLY), *descriptors]):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    connection.sendall(_STARTED)
    connection.close()
    return start


def _enter(mounts: Sequence[Mount], workdir: str, connection: socket.socket) -> None:
    try:
        namespace.enter(mounts, workdir)
    except OSError as e:
        # Half in a namespace, this process is of no use any more.
        connection.sendall(f"{e.filename or e.strerror}: {os.strerror(e.errno or 0)}".encode())
        os._exit(1)
