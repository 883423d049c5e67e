"""The rigs of the suite: a folder each, with `rig.py` (`RIG`) and a user's code that trains a small model.

Every model is trained on 16 records in batches of 4, 12 batches in all. A trial reads the hyperparameter `lr` by
`float(...)` and raises `det.InvalidHP` for a negative one. What it reports follows from its seed alone.
"""

import importlib
import pkgutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from framework_pythons import framework_python

HERE = Path(__file__).parent
LENGTH = 12
VALIDATION_PERIOD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """Training API with a user's code that trains by it.

    Attributes:
        name: as its folder, and `-tf215` in the environment of that name.
        directory: the folder.
        entrypoint: `module:Class`, or a script.
        mistake: an entrypoint of the same folder whose code leaves something out.
        advice: what the error about it says.
        metric: the searcher metric, reported by validations.
        packages: imports that take long, and that the environment has to have.
        environment_name: `here`, or one of those that `make frameworks` builds: `current`, `tf215`.
        training: batches at which training metrics are reported.
        validation: batches at which validation metrics are reported.
        checks_searcher_metric: whether the API, and not the user's script, tells the searcher its metric.
        environment: variables of its processes.
        also: files of other rigs that its code imports.
        api: package of the training API.
    """

    api: str
    name: str
    directory: Path
    entrypoint: str
    mistake: str
    advice: str
    metric: str
    packages: tuple[str, ...] = ()
    environment_name: str = "here"
    training: tuple[int, ...] = (2, 4, 6, 8, 10, 12)
    validation: tuple[int, ...] = (4, 8, 12)
    checks_searcher_metric: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Path, ...] = ()

    @property
    def is_trial_class(self) -> bool:
        return ":" in self.entrypoint

    @property
    def imports(self) -> tuple[str, ...]:
        """Python, and modules that it shall have imported."""
        return str(self.python), *self.packages, self.api

    @property
    def python(self) -> Path:
        return Path(sys.executable) if self.environment_name == "here" else framework_python(self.environment_name)

    @property
    def obstacle(self) -> str | None:
        """Reason why the rig cannot run on this machine; None: it can."""
        if self.environment_name != "here":
            return None if self.python.exists() else f"{self.python} is missing; run: make frameworks"
        missing = [package for package in self.packages if find_spec(package) is None]
        return f"{', '.join(missing)} is not installed; pip install 'redetermined[torch]'" if missing else None

    def arguments(self, entrypoint: str | None = None) -> list[str]:
        """Arguments of the Python that runs an entrypoint."""
        chosen = entrypoint or self.entrypoint
        return ["-m", "determined.exec.harness", chosen] if ":" in chosen else [chosen]


def all_rigs() -> list[Rig]:
    modules = [importlib.import_module(f"{__name__}.{folder.name}.rig") for folder in pkgutil.iter_modules(__path__)]
    return [rig for module in modules for rig in module.RIGS]
