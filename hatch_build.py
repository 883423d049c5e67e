"""Puts the built web page into wheels and source distributions.

A page that stands in webui/dist is taken as it is while it is as new as its sources; else it is built, with Node from
this machine or from PyPI. Where that fails the wheel has no page and the warning says so;
DETERMINED_REQUIRE_WEBUI=1 makes it an error.
"""

import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebPageHook(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return  # the master of an editable install serves webui/dist itself
        home = Path(self.root) / "webui"
        if not self._is_there(home):
            return
        target = "determined/webui" if self.target_name == "wheel" else "webui/dist"
        build_data["force_include"][str(home / "dist")] = target

    def _is_there(self, home: Path) -> bool:
        page = _load(home / "build.py")
        try:
            page.ensure(home)
        except (OSError, subprocess.CalledProcessError) as e:
            self._complain(f"the web page could not be built ({e})")
        return bool(page.is_built(home))

    def _complain(self, why: str) -> None:
        if os.environ.get("DETERMINED_REQUIRE_WEBUI") == "1":
            raise RuntimeError(f"{why}, and DETERMINED_REQUIRE_WEBUI=1 asks for it; `make webui` shows what is missing")
        self.app.display_warning(
            f"{why}: this package serves an older page or none; `make webui` shows what is missing"
        )


def _load(path: Path) -> ModuleType:
    """By its path: a frontend may have another module of that name."""
    spec = importlib.util.spec_from_file_location("webui_build", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
