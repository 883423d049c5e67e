"""Start TensorBoard for a task, bring its event files, and say when there is something to show."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.install import Environment
from determined.environments.programs import Program
from determined.errors import DeterminedError
from determined.exec import service_program, socket_http
from determined.exec.child_server import ChildServer
from determined.exec.driver_python import DriverPython, find_python
from determined.exec.service_link import ServiceLink
from determined.exec.service_program import ServiceProgram, announce, say
from determined.exec.tensorboard import log_directory
from determined.wire.tensorboard_settings import TensorboardSettings, TensorboardSource

TENSORBOARD = Program("TensorBoard", ("tensorboard>=2.21,<3",), "tensorboard")
_OLDEST = (2, 21)
_LOOK_SECONDS = 1.0
_REMIND_LOOKS = 60  # a line a minute while there is nothing
_AFTER_RUNNER = 3  # the runner's report that we answer, which comes by itself, would take our own back


def main() -> int:
    """Serve until TensorBoard ends or we are told to; its status."""
    try:
        program = service_program.read()
        with tempfile.TemporaryDirectory(prefix="tensorboard-", ignore_cleanup_errors=True) as root:
            return _serve(program, program.settings(TensorboardSettings), Path(root))
    except (DeterminedError, ValueError) as err:
        say("ERROR", str(err))
        return 1


def _serve(program: ServiceProgram, settings: TensorboardSettings, root: Path) -> int:
    place = program.environments()
    server = _find_server(place)
    log_directory.link_local(filter(log_directory.is_local, settings.sources), root)
    remote = [source for source in settings.sources if not log_directory.is_local(source)]
    # Held here until the end: closing its standard input ends it, also when we are killed.
    fetching = _Fetching(program, remote, place, root) if remote else None
    child = ChildServer(server.argv(program, settings, root), program.variables)
    try:
        return child.watch(_Metrics(program, root).look, _LOOK_SECONDS)
    finally:
        child.stop()
        if fetching is not None:
            fetching.stop()


@dataclass(frozen=True, slots=True)
class _Server:
    """The Python with TensorBoard. `environment`: of the node, in place of the task's; held as long as this lives."""

    python: str
    environment: Environment | None = field(default=None, repr=False)

    def argv(self, program: ServiceProgram, settings: TensorboardSettings, root: Path) -> list[str]:
        script = str(Path(__file__).with_name("serve.py"))
        # The fast loader is a process of its own that listens on a TCP port.
        own = ["--load_fast=false", f"--path_prefix={program.prefix.rstrip('/')}", *settings.args, f"--logdir={root}"]
        isolation = "-P" if self.environment is None else "-I"
        return [self.python, isolation, script, str(program.socket), program.prefix, *own]


def _find_server(place: Place) -> _Server:
    """Return the TensorBoard of the task's Python, else that of this node. Raises FailedPrecondition."""
    try:
        own = version("tensorboard")
        if tuple(int(part) for part in own.split(".")[:2]) >= _OLDEST:
            return _Server(sys.executable)
    except (PackageNotFoundError, ValueError):
        pass
    environment = programs.provide(TENSORBOARD, place)
    return _Server(environment.interpreter.path, environment)


class _Fetching:
    """The process that copies from object stores."""

    def __init__(self, program: ServiceProgram, sources: list[TensorboardSource], place: Place, root: Path) -> None:
        self._python: DriverPython = find_python((one.storage for one in sources), place, program.variables)
        names = [one.name for one in sources]
        argv = self._python.argv("determined.exec.tensorboard.fetcher", str(program.settings_file), str(root), *names)
        self._process = subprocess.Popen(argv, env=dict(self._python.variables), stdin=subprocess.PIPE)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


class _Metrics:
    """Watch of the log directory: says when there is something to show, and until then that there is nothing."""

    def __init__(self, program: ServiceProgram, root: Path) -> None:
        self._program, self._root = program, root
        self._answers = self._is_filled = self._is_waiting = False
        self._looks = 0

    def look(self) -> None:
        if self._is_filled or not self._is_up():
            return
        self._is_filled = log_directory.has_event_files(self._root)
        if self._is_filled:
            announce("TensorBoard contains metrics")
            if self._is_waiting:
                self._tell(waiting=False)
        else:
            self._wait()

    def _wait(self) -> None:
        if self._looks % _REMIND_LOOKS == 0:
            announce("TensorBoard is waiting for metrics.")
        if self._looks % _REMIND_LOOKS == _AFTER_RUNNER:
            self._is_waiting = self._tell(waiting=True) or self._is_waiting
        self._looks += 1

    def _is_up(self) -> bool:
        if not self._answers:
            try:
                self._answers = socket_http.get(self._program.socket, self._program.prefix)[0] < 500
            except OSError:
                return False
        return self._answers

    def _tell(self, *, waiting: bool) -> bool:
        """Tell the master; return whether it knows. It shows the state, and nothing depends on it."""
        try:
            link = ServiceLink(self._program.run_dir.launch)
            if waiting:
                link.mark_waiting()
            else:
                link.mark_ready()
        except (DeterminedError, OSError, ValueError) as err:
            say("DEBUG", f"the master does not show whether there are metrics: {err}")
            return False
        return True


if __name__ == "__main__":
    sys.exit(main())
