"""Runs first in every Python that a task starts, as its `sitecustomize`: a copy of this file lies in the run directory.

It makes `pip install` in the task's Python behave as a user expects of a directory over an environment: what is
installed counts, only what is missing (or too old) is installed, into the task's own directory, and nothing is ever
removed from the environment, which other tasks use. In other Pythons, such as one that a hook has made,
pip is left as it is. It runs on any Python 3.7 or later and must cost nothing where pip is not used, so it imports
nothing that Python has not imported before it.
"""

# pathlib takes longer to import than all of this.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120, PTH123
from __future__ import annotations

import os
import site
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_PIPS_OWN = ("PIP_PREFIX", "PIP_USER", "PIP_IGNORE_INSTALLED")
_ELSEWHERE = ("-t", "--target", "--prefix", "--root")
_HOOKED = "pip._internal.req.req_install"


def begin(here: str) -> None:
    """Make this Python the task's."""
    settle(here)
    _run_next(here)


def settle(here: str) -> None:
    """Read what the runner wrote beside this file: the prefix of the task's Python, then where its packages go."""
    with open(os.path.join(here, "places"), encoding="utf-8", errors="surrogateescape") as file:
        prefix, *overlay = file.read().split("\n")
    if os.path.realpath(sys.prefix) != os.path.realpath(prefix):
        for name in _PIPS_OWN:
            os.environ.pop(name, None)
    elif overlay:
        for place in overlay:
            if os.path.isdir(place):
                site.addsitedir(place)  # for .pth files, by which editable packages are found
        sys.meta_path.insert(0, _PipFinder(overlay))


class _PipFinder:
    """Import hook that changes pip when it is imported, and not before."""

    def __init__(self, overlay: Sequence[str]) -> None:
        self._overlay = overlay

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _HOOKED:
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            loader, load = spec.loader, spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                _keep_installed(module, self._overlay)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _keep_installed(module: ModuleType, overlay: Sequence[str]) -> None:
    """Let pip see what is installed, and remove nothing that lies outside of `overlay`."""
    requirement: Any = getattr(module, "InstallRequirement", None)
    uninstall = getattr(requirement, "uninstall", None)
    if uninstall is None or not hasattr(module, "get_default_environment"):
        return  # a pip that we do not know: it ignores what is installed, and so removes nothing
    os.environ.pop("PIP_IGNORE_INSTALLED", None)
    if any(word.partition("=")[0] in _ELSEWHERE for word in sys.argv[1:]):
        os.environ.pop("PIP_PREFIX", None)

    def uninstall_own(self: Any, *words: Any, **options: Any) -> Any:
        distribution = module.get_default_environment().get_distribution(self.req.name)
        place = os.path.realpath(distribution.location) if distribution is not None and distribution.location else None
        if place is None or any(place == os.path.realpath(own) for own in overlay):
            return _as_local(lambda: uninstall(self, *words, **options))
        why = "other tasks use it; what this task installs goes in front of it, for this task alone"
        sys.stderr.write(f"WARNING: {distribution.raw_name} {distribution.version} stays in {place}: {why}\n")
        return None

    requirement.uninstall = uninstall_own


def _as_local(work: Callable[[], Any]) -> Any:
    """Make pip treat the task's own directory as local: it removes nothing outside of a virtual environment."""
    names = ("pip._internal.utils.misc", "pip._internal.req.req_uninstall")
    places = [sys.modules[name] for name in names if hasattr(sys.modules.get(name), "running_under_virtualenv")]
    before = [vars(place)["running_under_virtualenv"] for place in places]
    try:
        for place in places:
            vars(place)["running_under_virtualenv"] = lambda: False
        return work()
    finally:
        for place, known in zip(places, before):  # noqa: B905 (Python 3.9 has no strict=)
            vars(place)["running_under_virtualenv"] = known


def _run_next(here: str) -> None:
    """Run the `sitecustomize` that would have run without this one."""
    from importlib.machinery import PathFinder

    places = [path for path in sys.path if path and os.path.realpath(path) != os.path.realpath(here)]
    spec = PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if __name__ == "sitecustomize":
    begin(os.path.dirname(os.path.abspath(__file__)))
