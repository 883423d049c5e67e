"""Loading code by name: optional libraries (saying which extra to install) and users' modules from a directory."""

import contextlib
import importlib
import importlib.machinery
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from determined._removed_names import removed_name


def load_optional(name: str, *, extra: str) -> ModuleType:
    """Import library `name`, or say which extra of ours brings it.

    Raises:
        ImportError: it is not installed here, or what is installed has no such module.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as err:
        if err.name is None or not f"{name}.".startswith(f"{err.name}."):
            raise
        lack = lacking_module(err.name)
        if lack is not None:
            raise ImportError(lack, name=err.name) from err
        raise ImportError(f"{name} is not installed; run: pip install 'redetermined[{extra}]'", name=err.name) from err


def lacking_module(name: str) -> str | None:
    """Say that an installed library has no such module, and what to do; None where the library is missing itself."""
    library, _, module = name.partition(".")
    loaded = sys.modules.get(library)
    if not module or loaded is None:
        return None
    removed = removed_name(f"No module named '{name}'")
    what = f"{library} {getattr(loaded, '__version__', '')}".rstrip() + f" is installed and has no module {module}"
    return f"{what}; {removed.describe()}" if removed else f"{what}; pin a release that has it in environment.python"


@contextlib.contextmanager
def import_from_path(path: str | Path, *, script_directory: str = "") -> Iterator[None]:
    """Import modules from directory `path` for the duration of the block, leaving no trace behind.

    The directory comes first on `sys.path`; the working directory and its modules are hidden meanwhile, as are modules
    of other places under names that `path` has. What was imported from `path` is forgotten at the end, so that one
    `model_def` can be imported from two places.

    Args:
        path: the directory.
        script_directory: a directory within it that is searched before it, as Python does for a script that lies there.

    Raises:
        RuntimeError: nested use, or use from two threads at once (`sys.path` belongs to the whole process).

    Example:
        >>> with import_from_path("checkpoint/code"):
        ...     import model_def
    """
    if not _busy.acquire(blocking=False):
        raise RuntimeError("import_from_path is already active in this process; it can be neither nested nor shared")
    try:
        directory = Path(path).absolute()
        with _swapped(directory, directory / script_directory, Path.cwd()):
            yield
    finally:
        _busy.release()


def modules_from(directory: Path) -> dict[str, ModuleType]:
    """Return the modules of users that were imported from `directory`, by name."""
    return _modules(lambda name, module: _is_from(name, module, directory))


def is_of_user(name: str) -> bool:
    """Return whether module `name` is the user's own: the script or a file beside it, no library, no part of Python."""
    if name == "__main__":
        return True
    module = sys.modules.get(name)
    return module is not None and name.partition(".")[0] not in sys.stdlib_module_names and bool(_places(name, module))


_busy = threading.Lock()
_LIBRARIES = {"site-packages", "dist-packages"}


@contextlib.contextmanager
def _swapped(directory: Path, script_directory: Path, cwd: Path) -> Iterator[None]:
    search, bytecode = list(sys.path), sys.dont_write_bytecode
    searched = [script_directory, directory] if script_directory != directory else [directory]
    own = {name for each in searched for name in _top_names(each)}
    hidden = _taken(_modules(lambda name, module: _is_from(name, module, cwd) or _is_in_the_way(name, module, own)))
    sys.path[:] = [*map(str, searched), *(entry for entry in search if entry not in ("", str(cwd)))]
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        yield
    finally:
        _taken(modules_from(directory))
        sys.modules.update(hidden)
        sys.path[:] = search
        sys.dont_write_bytecode = bytecode


def _top_names(directory: Path) -> list[str]:
    """Return the names of modules and packages that can be imported from a directory."""
    if not directory.is_dir():
        return []
    return [entry.stem for entry in directory.iterdir() if entry.suffix == ".py" or entry.is_dir()]


def _modules(is_chosen: Callable[[str, ModuleType], bool]) -> dict[str, ModuleType]:
    return {name: module for name, module in list(sys.modules.items()) if is_chosen(name, module)}


def _taken(modules: dict[str, ModuleType]) -> dict[str, ModuleType]:
    """Return the modules, which are removed from `sys.modules`."""
    for name in modules:
        del sys.modules[name]
    return modules


def _is_from(name: str, module: ModuleType, directory: Path) -> bool:
    places = _places(name, module)
    return bool(places) and all(place.is_relative_to(directory) for place in places)


def _is_in_the_way(name: str, module: ModuleType, names: set[str]) -> bool:
    top = name.partition(".")[0]
    return top in names and top not in sys.stdlib_module_names and bool(_places(name, module))


def _places(name: str, module: ModuleType) -> list[Path]:
    """Return where a module of a user's lies, several for a package without a file; [] for libraries."""
    if name == "__main__" or name.partition(".")[0] == "determined":
        return []  # our own source tree may be the working directory
    file = getattr(module, "__file__", None)
    packages = getattr(getattr(module, "__spec__", None), "submodule_search_locations", None)
    places = [file] if isinstance(file, str) else list(packages or [])
    # Some that are no files call themselves by a bare name, as torch.ops does.
    return [place for place in map(Path, places) if place.is_absolute() and not _LIBRARIES.intersection(place.parts)]
