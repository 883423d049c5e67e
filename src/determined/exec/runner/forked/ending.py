"""End of a forked entrypoint: what an interpreter does at its end, for what the program has made itself.

A full end would take apart every module that the fork server has imported. That touches, and so copies, all of their
memory: most of what a fork saves.
"""

import atexit
import contextlib
import ctypes
import gc
import os
import sys
import threading
from typing import Any, NoReturn

_libc = ctypes.CDLL(None)


def leave(end: SystemExit, workdir: str) -> NoReturn:
    """Exit as an interpreter does after this exception. The modules of the program's own lie in `workdir`."""
    status = _status(end)
    threads: Any = threading
    with contextlib.suppress(SystemExit):
        threads._shutdown()
    _run_exit_functions()
    _flush_streams()
    _clear_modules(workdir)
    gc.collect()
    _flush_streams()
    _libc.fflush(None)
    os._exit(status)


def _status(end: SystemExit) -> int:
    """Return the exit status; anything but a number is printed."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code & 0xFF
    with contextlib.suppress(Exception):
        sys.stderr.write(f"{end.code}\n")
    return 1


def _run_exit_functions() -> None:
    exits: Any = atexit
    with contextlib.suppress(SystemExit):
        exits._run_exitfuncs()


def _clear_modules(workdir: str) -> None:
    """Drop what the program's own modules hold: files are closed, and destructors run."""
    vars(sys).update(last_type=None, last_value=None, last_traceback=None)
    for name, module in reversed(list(sys.modules.items())):
        file = getattr(module, "__file__", None) or ""
        if name == "__main__" or file.startswith(f"{workdir}{os.sep}"):
            _clear(vars(module))


def _clear(names: dict[str, object]) -> None:
    """Forget names as Python does: those with an underscore first. The builtins stay, for destructors."""
    for is_private in (True, False):
        for name in list(names):
            if name != "__builtins__" and (not is_private or (name[0] == "_" and name[1:2] != "_")):
                names[name] = None


def _flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
