"""Interpreter as fresh as a fork can be, and the program it runs.

The table of docs/architecture/fork_server.md has a line for everything that is set here, and for what is not. It runs
in the standby, in which no user code has run.
"""

import builtins
import contextlib
import gc
import importlib.machinery
import io
import os
import runpy
import site
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from determined.constants import ENV_RUN_DIR
from determined.exec.runner import environment, task_site
from determined.exec.runner.forked import ending, preload_list
from determined.exec.runner.forked.entrypoint import Program
from determined.exec.runner.forked.standby import Origin, Start
from determined.exec.runner.private_tmp import TMP

_INTERRUPTED = 130  # 128 + SIGINT


def become(start: Start, origin: Origin) -> NoReturn:
    """Run the program, and end as its interpreter would."""
    before = {**start.variables, **origin.set_by_imports}
    environment.replace(before)
    _make_directories(origin.set_by_imports.values())
    time.tzset()
    origin.shown.show_command(start.program.words)
    origin.shown.show_variable(ENV_RUN_DIR, start.run_dir)
    _set_interpreter(start, origin)
    _forget_process_state()
    gc.enable()
    imported = len(sys.modules)
    end = _run_to_end(start.program)
    if end.code in (None, 0):
        with contextlib.suppress(Exception):  # the trial has ended well, whatever becomes of its note
            preload_list.write(start, imported, before)
    ending.leave(end, start.workdir)


def _run_to_end(program: Program) -> SystemExit:
    """Run the program and return how it ended. An error is printed, as an interpreter does."""
    try:
        _run(program)
    except SystemExit as e:
        return SystemExit(e.code)
    except BaseException as e:  # noqa: BLE001
        return SystemExit(_report(e))
    return SystemExit(0)


def _make_directories(values: Iterable[str]) -> None:
    """Make the directories that imports have made for temporary files, and named in variables: ours are others."""
    for value in values:
        if value.startswith(f"{TMP}/"):
            with contextlib.suppress(OSError):
                Path(value).mkdir(parents=True, exist_ok=True)


def _set_interpreter(start: Start, origin: Origin) -> None:
    """Set what an interpreter works out of its command line and PYTHONPATH."""
    program = start.program
    sys.executable = start.executable
    sys.orig_argv[:] = program.words
    sys.argv[:] = ["-m" if program.file is None else program.file, *program.arguments]
    first = str(Path.cwd()) if program.file is None else os.path.dirname(os.path.realpath(program.file))  # noqa: PTH120
    own = map(os.path.abspath, filter(None, start.variables["PYTHONPATH"].split(os.pathsep)))
    sys.path[:] = [first, *dict.fromkeys([*own, *origin.search])]
    site.USER_BASE = site.USER_SITE = None  # they depend on variables, and are found again when asked for
    task_site.settle(start.site)


def _forget_process_state() -> None:
    """Make modules forget what they have kept of the server's process."""
    tempfile.tempdir = None
    # Python sets the number of the main thread anew after a fork only since 3.13.
    main_thread: Any = threading.main_thread()
    main_thread._set_native_id()
    processes: Any = sys.modules.get("multiprocessing.process")
    if processes is not None:
        processes.ORIGINAL_DIR = str(Path.cwd())
        processes.current_process().authkey = os.urandom(32)
    # Python's own generator is seeded anew by every fork; torch's starts from the same number in every process.
    numbers: Any = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()


def _run(program: Program) -> None:
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={})
    if program.file is None:
        # The function that `python -m` calls itself: it looks for the module, and exits where there is none.
        runpy._run_module_as_main(program.module)  # type: ignore[attr-defined]
        return
    path = os.path.join(Path.cwd(), program.file)  # noqa: PTH118 (as Python does: without normalising it)
    vars(main).update(__file__=path, __cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", path))
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(main))  # noqa: S102 (the user's program)


def _report(error: BaseException) -> int:
    """Print an error as an interpreter does, without our own frames, and return the exit status."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    error.__traceback__ = frames
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, frames
    sys.excepthook(type(error), error, frames)
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
