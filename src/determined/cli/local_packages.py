"""`environment.python` off cluster: the environment that a config asks for, for one run on this machine."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from determined.cli import environment, render


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings of a run. `python`: its interpreter."""

    python: str
    variables: dict[str, str]


@contextmanager
def prepared(raw: dict[str, Any], directory: Path) -> Iterator[Surroundings]:
    """Around a run of a canonical config. Raises EnvironmentUnusable or FailedPrecondition when there can be none."""
    section = raw.get("environment") or {}
    asked, entries = section.get("python"), (section.get("environment_variables") or {}).get("cpu") or []
    if asked is None:
        yield Surroundings(environment.active_python() or sys.executable, environment.with_environment({}, entries))
        return
    from determined.config.python_environment import PythonEnvironment
    from determined.environments import install, resolve
    from determined.environments.cache_directory import place_of
    from determined.environments.interpreter import link_packages

    wanted = PythonEnvironment.load(asked)
    place = place_of(environment.for_installer(entries), lambda text: render.line(text, file=sys.stderr))
    made = install.provide(resolve.resolve(wanted, directory, place), wanted, directory, place)
    interpreter = made.interpreter
    try:
        with tempfile.TemporaryDirectory(prefix="determined-") as linked:
            link_packages(interpreter.missing, Path(linked))
            home = Path(interpreter.path).parent
            search = [linked, *([] if interpreter.support is None else [interpreter.support])]
            changes = {"PATH": str(home), "VIRTUAL_ENV": str(home.parent), "PYTHONPATH": ":".join(search)}
            yield Surroundings(interpreter.path, environment.with_environment(changes, entries))
    finally:
        made.hold.close()
