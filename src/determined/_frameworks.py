"""Registry of training APIs. Each is a folder with a `framework.toml`, which tells of it without importing its
framework, and with modules of the same names: `_entrypoint`, `_one_batch` and `_load` where it has a trial class."""

import functools
import importlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

_FILE = "framework.toml"
_ROOT = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """Training API, as its `framework.toml` declares it.

    Attributes:
        package: its import path.
        name: of the framework, in the table of docs/frameworks.md.
        extras: modules that it needs, each with the extra of this distribution that brings it; the first is its own.
        install: command that installs all it needs.
        trial_class: class that users derive from; empty where there is none.
        trial_page: documentation of the class, below docs/.
        plain_ways: names for scripts with a training loop of their own, each with its documentation.
        trial_type: the class in `load_data.json` of its checkpoints; empty where the class writes none of its own.
        checkpoint_framework: how the framework in the metadata of older checkpoints begins.
        checkpoint_format: format in that metadata; empty: any that no other API has.
        load_checkpoint: Python code that loads a checkpoint of the trial class from the directory `path`.
    """

    package: str
    name: str
    extras: Mapping[str, str]
    install: str
    trial_class: str = ""
    trial_page: str = ""
    plain_ways: Mapping[str, str] = field(default_factory=dict)
    trial_type: str = ""
    checkpoint_framework: str = ""
    checkpoint_format: str = ""
    load_checkpoint: str = ""

    @property
    def extra(self) -> str:
        return next(iter(self.extras.values()))

    def load(self, module: str) -> ModuleType:
        """Import one of its modules, and with it the framework."""
        return importlib.import_module(f"{self.package}.{module}")


@functools.cache
def frameworks() -> tuple[Framework, ...]:
    """Return all training APIs: those of outer packages first, then those inside of another, each sorted by package."""
    return tuple(_read(file) for pattern in ("*", "*/*") for file in sorted(_ROOT.glob(f"{pattern}/{_FILE}")))


def is_training_api(name: str) -> bool:
    """Tell whether `determined.<name>` is a training API, without reading what it declares."""
    return (_ROOT / name / _FILE).is_file()


def framework_of(trial_class: type) -> Framework | None:
    """Training API of the nearest base class that belongs to one; None where no base class does."""
    owners = (_owner(base.__module__) for base in trial_class.__mro__)
    return next((framework for framework in owners if framework is not None), None)


def framework_of_checkpoint(trial_type: str | None, metadata: Mapping[str, object]) -> Framework | None:
    """Training API that wrote a checkpoint.

    Args:
        trial_type: of its `load_data.json`; None for releases before 0.17.8, which wrote no such file.
        metadata: of its `metadata.json`.
    """
    if trial_type is not None:
        return next((framework for framework in frameworks() if framework.trial_type == trial_type), None)
    writers = [framework for framework in frameworks() if _may_have_written(framework, metadata)]
    return max(writers, key=lambda framework: bool(framework.checkpoint_format), default=None)


def extra_of(module: str) -> str | None:
    """Extra that brings a module; None for one that none of ours needs."""
    extras = {name: extra for framework in frameworks() for name, extra in framework.extras.items()}
    return extras.get(module.partition(".")[0])


def _read(file: Path) -> Framework:
    package = ".".join(("determined", *file.parent.relative_to(_ROOT).parts))
    return Framework(package=package, **tomllib.loads(file.read_text()))


def _owner(module: str) -> Framework | None:
    """Training API whose package a module lies in: the innermost."""
    owners = [framework for framework in frameworks() if f"{module}.".startswith(f"{framework.package}.")]
    return max(owners, key=lambda framework: len(framework.package), default=None)


def _may_have_written(framework: Framework, metadata: Mapping[str, object]) -> bool:
    prefix = framework.checkpoint_framework
    is_named = prefix != "" and str(metadata.get("framework")).startswith(prefix)
    return is_named and framework.checkpoint_format in ("", metadata.get("format"))
