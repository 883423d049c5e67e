"""A trial as its checkpoint describes it: which class, config and hyperparameters; the class from the stored code."""

import ast
import contextlib
import dataclasses
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from determined._imports import import_from_path, modules_from
from determined._json import JsonObject
from determined.errors import TrialNotImportable
from determined.trial._checkpoint_origin import CODE, LOAD_DATA_FILE, SCRIPT_DIRECTORY

_METADATA_FILE = "metadata.json"


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """Description of a trial in its checkpoint."""

    class_spec: str | None
    hparams: JsonObject | None
    config: JsonObject | None
    is_trainer: bool
    script_directory: str = ""

    @classmethod
    def of(cls, directory: Path) -> "StoredTrial":
        load_data, metadata = directory / LOAD_DATA_FILE, directory / _METADATA_FILE
        if load_data.is_file():
            content = json.loads(load_data.read_text())
            return cls(
                content.get("trial_cls_spec"),
                content.get("hparams"),
                content.get("experiment_config"),
                bool(content.get("is_trainer")),
                content.get(SCRIPT_DIRECTORY) or "",
            )
        if not metadata.is_file():
            raise AssertionError(
                f"{directory} has neither {load_data.name} nor {metadata.name}; give the directory of a checkpoint"
            )
        content = json.loads(metadata.read_text())
        config = content.get("experiment_config") or {}
        return cls(config.get("entrypoint"), content.get("hparams"), config or None, is_trainer=False)

    def with_script_found(self, code: Path) -> "StoredTrial":
        """Upstream releases say only `__main__` of a class that was in the script that ran."""
        module, _, name = (self.class_spec or "").partition(":")
        if module != "__main__":
            return self
        script = _script_with(name.split(".")[0], code)
        spec = f"{'.'.join(script.with_suffix('').parts)}:{name}"
        return dataclasses.replace(self, class_spec=spec, script_directory=script.parent.as_posix())


@contextlib.contextmanager
def stored_class(directory: Path, saved: StoredTrial, base: type) -> Iterator[type[Any]]:
    """The trial's class, imported from the code in checkpoint `directory`: to be built within the block.

    The modules of a trial that ran by its entrypoint can be imported from then on, unless others have their names.

    Raises:
        TrialNotImportable: its code, or a library that the code needs, is not found here.
        ValueError: the checkpoint names no class, has no code, or has another class than a `base`.
    """
    located = saved.with_script_found(directory / CODE)
    with _stored_code(directory / CODE, located):
        yield _find_class(directory, located, base)


@contextlib.contextmanager
def _stored_code(code: Path, saved: StoredTrial) -> Iterator[None]:
    """Import from the checkpoint's code; a trial of an entrypoint also finds its files where it expects them."""
    if not code.is_dir():
        raise ValueError(f"{code} is not there, so the trial cannot be imported; pass trial_class=")
    place = code.absolute()
    imported: dict[str, ModuleType] = {}
    with (
        import_from_path(code, script_directory=saved.script_directory),
        contextlib.nullcontext() if saved.is_trainer else contextlib.chdir(code),
    ):
        yield
        if not saved.is_trainer:
            imported = modules_from(place)
    _keep(imported)


def _keep(modules: dict[str, ModuleType]) -> None:
    """Keep modules importable for pickle, which looks classes up by name. A package of which a part is there already is
    left alone."""
    packages = {name.partition(".")[0] for name in sys.modules}
    sys.modules.update({name: module for name, module in modules.items() if name.partition(".")[0] not in packages})


def _find_class(directory: Path, saved: StoredTrial, base: type) -> type[object]:
    if saved.class_spec is None or ":" not in saved.class_spec:
        raise ValueError(f"{directory} names no trial class (entrypoint {saved.class_spec!r}); pass trial_class=")
    module, _, name = saved.class_spec.partition(":")
    try:
        member: object = importlib.import_module(module)
    except ImportError as err:
        raise TrialNotImportable(
            f"the trial {saved.class_spec} cannot be imported from {directory / CODE}: {err}; install what is "
            "missing, or import the class yourself and pass trial_class="
        ) from err
    for part in name.split("."):
        member = getattr(member, part, None)
    if not isinstance(member, type) or not issubclass(member, base):
        raise ValueError(f"{saved.class_spec} of {directory / CODE} is no {base.__name__}; pass trial_class=")
    return member


def _script_with(name: str, code: Path) -> Path:
    """Relative to the code."""
    scripts = [path for path in sorted(code.rglob("*.py")) if _defines(path, name)]
    if len(scripts) != 1:
        raise ValueError(
            f"the trial class {name} was in the script that ran, and {len(scripts)} files of {code} define it; "
            "pass trial_class="
        )
    return scripts[0].relative_to(code)


def _defines(path: Path, name: str) -> bool:
    try:
        statements = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(statement, ast.ClassDef) and statement.name == name for statement in statements)
