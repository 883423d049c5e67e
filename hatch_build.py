"""Puts the built web page and the documentation site into wheels and source distributions.

webui/dist and build/guide are taken as they are while they are as new as their sources; else they are built, with Node
and the site generator from PyPI. Where that fails the wheel goes without, and a warning says so;
DETERMINED_REQUIRE_WEBUI=1 makes it an error.
"""

import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuiltPagesHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # the master of an editable install serves what stands beside its sources
        root = Path(self.root)
        included = build_data["force_include"]
        if self._is_there("the web page", "make webui", root / "webui" / "build.py", root / "webui"):
            included |= self._files(root / "webui" / "dist", self._target("determined/webui", "webui/dist"))
        if self._is_there("the documentation site", "make docs", root / "scripts" / "guide" / "build.py", root):
            included |= self._files(root / "build" / "guide", self._target("determined/guide", "build/guide"))

    def _files(self, built: Path, target: str) -> dict[str, str]:
        """Return what the package carries: of a file in two forms a wheel has the compressed one, a fifth as large."""
        names = sorted(path for path in built.rglob("*") if path.is_file())
        if self.target_name == "wheel":
            names = [path for path in names if path == built / "index.html" or not _gzipped(path).is_file()]
        return {str(path): f"{target}/{path.relative_to(built).as_posix()}" for path in names}

    def _target(self, in_wheel: str, in_sources: str) -> str:
        return in_wheel if self.target_name == "wheel" else in_sources

    def _is_there(self, thing: str, command: str, script: Path, home: Path) -> bool:
        builder = _load(script)
        try:
            builder.ensure(home)
        except (OSError, subprocess.CalledProcessError) as e:
            self._complain(f"{thing} could not be built ({e})", command)
        return bool(builder.is_built(home))

    def _complain(self, why: str, command: str) -> None:
        if os.environ.get("DETERMINED_REQUIRE_WEBUI") == "1":
            raise RuntimeError(f"{why}, and DETERMINED_REQUIRE_WEBUI=1 asks for it; `{command}` shows what is missing")
        self.app.display_warning(f"{why}: this package has an older one or none; `{command}` shows what is missing")


def _gzipped(path: Path) -> Path:
    return path.with_name(f"{path.name}.gz")


def _load(path: Path) -> ModuleType:
    """Load a module by its path: a frontend may have another one of that name."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
