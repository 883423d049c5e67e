"""`python -m determined.exec.harness MODULE:CLASS`: loads a trial class and hands it to its training API."""

import importlib
import sys
from pathlib import Path
from typing import Any

from determined._logging import configure

# Package of the base class -> its loader's module and the extra that brings the framework.
_APIS = {
    "determined.pytorch": ("determined.pytorch._entrypoint", "torch"),
    "determined.keras": ("determined.keras._load", "keras"),
    "determined.estimator": ("determined.estimator._load", "tensorflow"),
}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or ":" not in arguments[0]:
        sys.stderr.write("usage: python -m determined.exec.harness MODULE:CLASS\n")
        return 2
    configure()
    found = load_class(arguments[0])
    if isinstance(found, str):
        sys.stderr.write(f"ERROR: {found}\n")
        return 1
    return run_class(arguments[0], found)


def load_class(spec: str) -> Any:
    """The class, or a text saying why it cannot be had. An error inside the user's module passes through."""
    module_name, _, class_name = spec.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as e:
        if e.name is not None and (e.name == module_name or module_name.startswith(e.name + ".")):
            return f"entrypoint {spec}: there is no module {module_name} in the context directory"
        if e.name is not None and e.name.startswith("determined."):
            return f"entrypoint {spec}: the training API {e.name} is not part of this installation; upgrade determined"
        return f"entrypoint {spec}: {module_name} needs {e.name}; pip install it in startup-hook.sh"
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        return f"entrypoint {spec}: module {module_name} has no class {class_name}"
    return found


def run_class(spec: str, trial_class: type) -> int:
    for base in trial_class.__mro__:
        for package, (loader, extra) in _APIS.items():
            if base.__module__ == package or base.__module__.startswith(package + "."):
                return _run_with(spec, trial_class, loader, extra)
    sys.stderr.write(
        f"ERROR: entrypoint {spec}: {trial_class.__name__} derives from no trial class of a training API; derive it "
        "from PyTorchTrial, TFKerasTrial or the like, or give a script as entrypoint\n"
    )
    return 1


def _run_with(spec: str, trial_class: type, loader: str, extra: str) -> int:
    try:
        load = importlib.import_module(loader)
    except ModuleNotFoundError as e:
        sys.stderr.write(f"ERROR: entrypoint {spec} needs {e.name}; pip install 'determined[{extra}]'\n")
        return 1
    status: int = load.run_trial(trial_class)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
