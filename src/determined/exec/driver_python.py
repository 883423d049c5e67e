"""Python for a process that copies files from or to stores: the task's own if it has their drivers, else a node's."""

import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from determined._json import JsonObject
from determined.environments import programs
from determined.environments.cache_directory import Place
from determined.environments.install import Environment
from determined.environments.interpreter import link_packages
from determined.environments.programs import Program
from determined.storage import registry

# What determined.storage imports besides the drivers.
_OWN_NEEDS = ("fsspec", "msgspec>=0.20", "pathspec>=0.12", "psutil>=7", "PyYAML>=6.0.2", "urllib3>=2.5")


@dataclass(frozen=True, slots=True)
class DriverPython:
    """Interpreter and its variables. `environment` is held as long as this lives."""

    path: str
    variables: Mapping[str, str] = field(repr=False)
    environment: Environment | None = field(default=None, repr=False)

    def argv(self, module: str, *arguments: str) -> list[str]:
        # -P: what lies in the working directory is the user's, and must not take the place of our modules.
        return [self.path, "-P", "-m", module, *arguments]


def find_python(sections: Iterable[JsonObject], place: Place, variables: Mapping[str, str]) -> DriverPython:
    """Return a Python that reaches the stores of these `checkpoint_storage` sections. Raises FailedPrecondition."""
    stores = {section["type"]: registry.section(section["type"]) for section in sections}
    drivers = sorted({store.driver for store in stores.values() if store.driver})
    lacking = [driver for driver in drivers if find_spec(driver) is None]
    if not lacking:
        return DriverPython(sys.executable, variables)
    extras = sorted(store.kind for store in stores.values() if store.driver in lacking)
    program = Program(", ".join(lacking), (*drivers, *_OWN_NEEDS), ",".join(extras))
    environment = programs.provide(program, place)
    return DriverPython(environment.interpreter.path, _with_own_packages(environment, variables), environment)


def _with_own_packages(environment: Environment, variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with a search path that has nothing but what the environment lacks of ours."""
    directory = Path(tempfile.mkdtemp(prefix="determined-packages-"))
    link_packages(environment.interpreter.missing, directory)
    return {**variables, "PYTHONPATH": str(directory)}
