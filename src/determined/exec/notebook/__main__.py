"""Start JupyterLab for a task, look after it, and keep its notebooks."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Protocol

from determined import storage
from determined.errors import DeterminedError
from determined.exec import service_program
from determined.exec.child_server import ChildServer
from determined.exec.notebook import idle, kernel, readme, server
from determined.exec.notebook.saved_files import SavedFiles
from determined.exec.notebook.saving_process import SAVE_SECONDS, SavingProcess
from determined.exec.service_link import ServiceLink
from determined.exec.service_program import ServiceProgram, say
from determined.storage import registry
from determined.wire.notebook_settings import NotebookSettings
from determined.wire.notebook_settings import SavedFiles as SavedFilesSettings

# Names of a kernel's sockets have about 50 characters; the whole path of a Unix socket has at most 107.
_LONGEST_HOME = 50


class _Saver(Protocol):
    def save(self) -> int: ...

    def close(self) -> None: ...


def main() -> int:
    """Serve until the server ends or we are told to; the server's status."""
    try:
        program = service_program.read()
        home = _home()
        try:
            return _serve(program, program.settings(NotebookSettings), home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    except DeterminedError as err:
        say("ERROR", str(err))
        return 1


def _serve(program: ServiceProgram, settings: NotebookSettings, home: Path) -> int:
    work_dir, place = Path.cwd(), program.environments()
    jupyter, python = server.find_server(place), kernel.find_kernel(place)
    python.write_spec(home / "data")
    config = server.write_config(server.config_of(program, settings.token, work_dir), home)
    saver = _lay_out(program, settings, work_dir)
    child = ChildServer(jupyter.argv(config), server.variables_of(program, home))
    try:
        return child.watch(_Rounds(program, settings, saver).look, SAVE_SECONDS)
    finally:
        child.stop()
        if saver is not None:
            saver.close()


class _Rounds:
    """Work that is due again and again while the server runs."""

    def __init__(self, program: ServiceProgram, settings: NotebookSettings, saver: _Saver | None) -> None:
        self._saver = saver
        self._reporter = _reporter(program, settings) if settings.reports_idle else None
        self._count = 0

    def look(self) -> None:
        self._count += 1
        if self._saver is not None:
            self._saver.save()
        if self._reporter is not None and self._count % int(idle.REPORT_SECONDS / SAVE_SECONDS) == 0:
            self._reporter.report()


def _reporter(program: ServiceProgram, settings: NotebookSettings) -> idle.IdleReporter:
    link = ServiceLink(program.run_dir.launch)
    ask = idle.asker(program.socket, program.prefix, settings.token)
    rule = idle.IdleRule(settings.idle_type)
    return idle.IdleReporter(rule, ask, lambda is_idle: link.report_idle(program.task_id, idle=is_idle))


def _lay_out(program: ServiceProgram, settings: NotebookSettings, work_dir: Path) -> _Saver | None:
    """Prepare the place of notebooks and README.ipynb. A store that does not work costs the keeping, not the task."""
    given = settings.saved_files
    if given is None:
        return None  # the work directory outlives the task, and is not ours to write into
    is_own = not (work_dir / readme.NAME).exists()
    if is_own:  # before the saver looks which notebooks the task came with
        readme.write(work_dir, program.task_id, place=_place(given))
    try:
        return _saver(program, settings, work_dir)
    except (DeterminedError, OSError, ValueError, TypeError) as err:
        say("WARNING", f"notebooks of this task are deleted with it: {err}")
        if is_own:
            readme.write(work_dir, program.task_id, place=None, reason=str(err).splitlines()[0])
        return None


def _place(given: SavedFilesSettings) -> str:
    """Return where notebooks are kept, for people."""
    key = registry.section(given.storage["type"]).path_key
    return f"`{given.prefix}` of the checkpoint storage" + (f" (`{given.storage[key]}`)" if key else "")


def _saver(program: ServiceProgram, settings: NotebookSettings, work_dir: Path) -> _Saver:
    given = settings.saved_files
    assert given is not None
    if registry.section(given.storage["type"]).driver:
        return SavingProcess(program, settings, work_dir)
    files = SavedFiles(work_dir, storage.build(given.storage), given.prefix, program.task_id)
    files.open()
    return files


def _home() -> Path:
    """Make a directory for what only this server and its kernels may read."""
    home = tempfile.mkdtemp(prefix="jupyter-")
    if len(home) <= _LONGEST_HOME:
        return Path(home)
    shutil.rmtree(home)
    return Path(tempfile.mkdtemp(prefix="jupyter-", dir="/tmp"))


if __name__ == "__main__":
    sys.exit(main())
