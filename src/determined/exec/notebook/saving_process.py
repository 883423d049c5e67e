"""Process that keeps notebooks in an object store: `python -m determined.exec.notebook.saving_process`.

A process of its own, because the store's driver may come from another environment than the task's, and because a store
that hangs must not keep the server from ending. It saves until its standard input is closed, and once more then.
"""

import os
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from determined import storage
from determined.errors import DeterminedError, FailedPrecondition
from determined.exec.driver_python import find_python
from determined.exec.notebook.saved_files import SavedFiles
from determined.exec.service_program import ServiceProgram, say
from determined.wire.codec import from_json
from determined.wire.notebook_settings import NotebookSettings

SAVE_SECONDS = 10.0
_OPEN_SECONDS, _CLOSE_SECONDS = 120.0, 4.0
_MODULE = "determined.exec.notebook.saving_process"


class SavingProcess:
    """Our side of the process."""

    def __init__(self, program: ServiceProgram, settings: NotebookSettings, work_dir: Path) -> None:
        """Start it, and wait until `notebooks/` is laid out. Raises FailedPrecondition."""
        assert settings.saved_files is not None
        self._python = find_python([settings.saved_files.storage], program.environments(), program.variables)
        reader, writer = os.pipe()
        arguments = (str(program.settings_file), str(work_dir), program.task_id, str(writer))
        self._process = _start(self._python.argv(_MODULE, *arguments), self._python.variables, writer)
        os.close(writer)
        try:
            is_told = bool(select.select([reader], [], [], _OPEN_SECONDS)[0] and os.read(reader, 1))
        finally:
            os.close(reader)
        if not is_told:
            self._process.kill()
            raise FailedPrecondition("the storage has not answered; the lines above may say why")

    def save(self) -> int:
        """Do nothing: it saves by itself."""
        return 0

    def close(self) -> None:
        """Have it save once more, and wait for that."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            say("WARNING", f"the last changes of notebooks are not stored: no answer within {_CLOSE_SECONDS:g} s")


def _start(argv: list[str], variables: Mapping[str, str], descriptor: int) -> "subprocess.Popen[bytes]":
    # In a session of its own: the signal that ends the task must not end the last copy.
    return subprocess.Popen(
        argv, env=dict(variables), stdin=subprocess.PIPE, pass_fds=[descriptor], start_new_session=True
    )


def main(arguments: list[str]) -> int:
    """Serve: SETTINGS_FILE WORK_DIRECTORY TASK_ID DESCRIPTOR."""
    settings_file, work_dir, task_id, descriptor = arguments
    given = from_json(Path(settings_file).read_bytes(), NotebookSettings).saved_files
    assert given is not None
    try:
        files = SavedFiles(Path(work_dir), storage.build(given.storage), given.prefix, task_id)
        files.open()
    except (DeterminedError, OSError, ValueError, TypeError, ImportError) as err:
        say("WARNING", f"notebooks cannot be stored: {err}")
        return 1
    os.write(int(descriptor), b"1")
    os.close(int(descriptor))
    while not select.select([sys.stdin], [], [], SAVE_SECONDS)[0]:
        files.save()
    files.save()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
