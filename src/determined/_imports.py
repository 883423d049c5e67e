"""Loading code by name: optional libraries (saying which extra to install) and users' modules from a directory."""

import contextlib
import importlib
import importlib.machinery
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def load_optional(name: str, *, extra: str) -> ModuleType:
    """Import library `name`, or say which extra of ours brings it.

    Raises:
        ImportError: it is not installed here.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name is None or not f"{name}.".startswith(f"{err.name}."):
            raise
        raise ImportError(f"{name} is not installed; run: pip install 'determined[{extra}]'", name=err.name) from err


@contextlib.contextmanager
def import_from_path(path: str | Path) -> Iterator[None]:
    """Import modules from directory `path` for the duration of the block, leaving no trace behind.

    The directory comes first on `sys.path`; the working directory and its modules are hidden meanwhile, and what was
    imported from `path` is forgotten at the end, so that one `model_def` can be imported from two places.

    Raises:
        RuntimeError: nested use, or use from two threads at once (`sys.path` belongs to the whole process).

    Example:
        >>> with import_from_path("checkpoint/code"):
        ...     import model_def
    """
    if not _busy.acquire(blocking=False):
        raise RuntimeError("import_from_path is already active in this process; it can be neither nested nor shared")
    try:
        with _swapped(Path(path).absolute(), Path.cwd()):
            yield
    finally:
        _busy.release()


_busy = threading.Lock()


@contextlib.contextmanager
def _swapped(directory: Path, cwd: Path) -> Iterator[None]:
    search, bytecode = list(sys.path), sys.dont_write_bytecode
    hidden = _take_modules(cwd)
    sys.path[:] = [str(directory), *(entry for entry in search if entry not in ("", str(cwd)))]
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        _take_modules(directory)
        sys.modules.update(hidden)
        sys.path[:] = search
        sys.dont_write_bytecode = bytecode


def _take_modules(directory: Path) -> dict[str, ModuleType]:
    """Remove from `sys.modules`, and return, what was loaded from `directory`."""
    names = [name for name, module in list(sys.modules.items()) if _is_from(module, directory)]
    return {name: sys.modules.pop(name) for name in names}


def _is_from(module: ModuleType, directory: Path) -> bool:
    origin = getattr(module, "__file__", None)
    if not isinstance(origin, str) or "site-packages" in origin or module.__name__ == "__main__":
        return False
    if module.__name__.split(".")[0] == "determined":
        return False  # our own source tree may be the working directory
    return Path(origin).absolute().is_relative_to(directory)
