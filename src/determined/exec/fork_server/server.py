"""Main loop of a fork server. Its engine starts it with `python -c`, and talks to it on standard input."""

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NoReturn

import msgspec

from determined.exec.fork_server import preload, retirement
from determined.exec.fork_server.preload import Unshareable
from determined.exec.fork_server.watch import Watch
from determined.exec.runner import environment
from determined.exec.runner.forked import shown_process
from determined.exec.runner.forked.script import become
from determined.exec.runner.forked.standby import Become, Origin
from determined.exec.runner.main_loop import leave
from determined.exec.runner.main_loop import main as run
from determined.rundir import fork_protocol as protocol
from determined.rundir.preload import decode

_LOOK_SECONDS = 5.0  # between looks at the machine's memory while nobody asks
_USER_BASE = "PYTHONUSERBASE"  # a directory that is missing: without it ~/.local would be searched for modules


def main() -> NoReturn:
    """Serve until the engine hangs up. A forked entrypoint comes back here, and runs outside of our frames."""
    try:
        _serve(tuple(sys.path))
    except Become as e:
        start, origin = e.start, e.origin
    become(start, origin)


def _serve(search: tuple[str, ...]) -> None:
    with socket.socket(fileno=os.dup(0)) as control:
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.close(null)
        gc.disable()
        try:
            origin = _set_up(control, search)
        except Unshareable as e:
            _leave(control, protocol.Unsuitable(e.module, e.why))
        gc.collect()
        gc.freeze()  # a collector that touches what is imported would copy its pages in every fork
        watch = Watch()
        at_start = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for runners: their engine has pidfds
        _send(control, protocol.Ready(str(Path(__file__).resolve().parents[2])))
        while True:
            if not select.select([control], [], [], _LOOK_SECONDS)[0]:
                request, descriptors = None, []
            elif (message := socket.recv_fds(control, protocol.PACKET_BYTES, 1))[0]:
                request, descriptors = msgspec.json.decode(message[0], type=protocol.Request), message[1]
            else:
                os._exit(0)
            retired = retirement.retired(watch.read())
            if retired is not None:
                _leave(control, retired)
            if isinstance(request, protocol.ForkRequest) and descriptors:
                watch.use()
                _fork(control, request.run_dir, descriptors[0], origin, at_start)


def _set_up(control: socket.socket, search: tuple[str, ...]) -> Origin:
    """Import everything. Raises Unshareable."""
    _, descriptors, _, _ = socket.recv_fds(control, protocol.PACKET_BYTES, 1)
    with open(descriptors[0], "rb") as file:  # noqa: PTH123 (a descriptor)
        preload_list = decode(file.read())
    shown = shown_process.find()
    if shown is None:
        raise Unshareable("", "this system does not tell where a process keeps its command line")
    shown.show_command(["det-fork-server", sys.executable])
    variables = environment.own()
    for name in (protocol.ROOM_VARIABLE, _USER_BASE):
        variables.pop(name, None)
    environment.replace(variables)
    preload.import_base()
    set_by_imports = preload.import_list(preload_list) if preload_list is not None else {}
    environment.replace(variables)
    return Origin(
        started_with=variables,
        search=search,
        imported=frozenset(name for name in sys.modules if "." not in name),
        set_by_imports=set_by_imports,
        preloaded_with=preload_list.variables if preload_list is not None else None,
        shown=shown,
    )


def _fork(control: socket.socket, run_dir: str, log: int, origin: Origin, at_start: object) -> None:
    pid = os.fork()
    if pid == 0:
        _run(control, run_dir, log, origin, at_start)
    os.close(log)
    answer = msgspec.json.encode(protocol.Forked(pid))
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        control.send(answer)  # it has ended already
        return
    socket.send_fds(control, [answer], [pidfd])
    os.close(pidfd)


def _run(control: socket.socket, run_dir: str, log: int, origin: Origin, at_start: object) -> NoReturn:
    """Be a runner, as one that was started by itself. In the fork of its entrypoint, raises Become."""
    try:
        control.close()
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.signal(signal.SIGCHLD, at_start if at_start is not None else signal.SIG_DFL)  # type: ignore[arg-type]
        os.setsid()
        os.chdir(run_dir)
        tempfile.tempdir = None
        origin.shown.show_command([sys.executable, "-P", "-m", "determined.exec.runner", run_dir])
        leave(run([run_dir], origin))
    except Exception:  # noqa: BLE001
        # Never return into the server's loop: two processes would serve.
        traceback.print_exc()
        os._exit(1)


def _send(control: socket.socket, answer: protocol.Answer) -> None:
    control.send(msgspec.json.encode(answer))


def _leave(control: socket.socket, answer: protocol.Answer) -> NoReturn:
    """End at once; runners go on. The connection may have ended already."""
    with contextlib.suppress(OSError):
        _send(control, answer)
    sys.stderr.write(f"{answer}\n")
    os._exit(0)
