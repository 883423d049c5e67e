"""`python -m determined.exec.harness MODULE:CLASS`: loads a trial class and hands it to its training API."""

import importlib
import sys
from pathlib import Path

from determined._frameworks import Framework, extra_of, framework_of
from determined._imports import lacking_module
from determined._logging import configure
from determined.rundir.distribution_names import distribution_of


def main(arguments: list[str]) -> int:
    """Train the class that the one argument names; the exit status."""
    if len(arguments) != 1 or ":" not in arguments[0]:
        sys.stderr.write("usage: python -m determined.exec.harness MODULE:CLASS\n")
        return 2
    configure()
    loaded = load_class(arguments[0])
    if isinstance(loaded, str):
        sys.stderr.write(f"ERROR: {loaded}\n")
        return 1
    return run_class(arguments[0], loaded)


def load_class(spec: str) -> type | str:
    """Import a class, or return why it cannot be had. An error inside the user's module passes through."""
    module_name, _, class_name = spec.partition(":")
    if "" in module_name.split("."):
        return f"entrypoint {spec}: {module_name!r} is no name of a module; write package.module:Class"
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as e:
        if e.name is not None and (e.name == module_name or module_name.startswith(e.name + ".")):
            return f"entrypoint {spec}: there is no module {module_name} in the context directory"
        if e.name is not None and e.name.startswith("determined."):
            lacks = f"the training API {e.name} is not part of this installation"
            return f"entrypoint {spec}: {lacks}; change the import, or install a newer redetermined"
        return f"entrypoint {spec}: {module_name} needs {e.name}; {lacking_module(e.name or '') or _advice(e.name)}"
    member: object = getattr(module, class_name, None)
    if not isinstance(member, type):
        return f"entrypoint {spec}: module {module_name} has no class {class_name}"
    return member


def run_class(spec: str, trial_class: type) -> int:
    """Train a trial class by its training API; the exit status."""
    framework = framework_of(trial_class)
    if framework is not None:
        return _run_with(spec, trial_class, framework)
    sys.stderr.write(
        f"ERROR: entrypoint {spec}: {trial_class.__name__} derives from no trial class of a training API; derive it "
        "from PyTorchTrial, TFKerasTrial or the like, or give a script as entrypoint\n"
    )
    return 1


def _run_with(spec: str, trial_class: type, framework: Framework) -> int:
    try:
        entrypoint = framework.load("_entrypoint")
    except ModuleNotFoundError as e:
        sys.stderr.write(f"ERROR: entrypoint {spec} needs {e.name}; pip install 'redetermined[{framework.extra}]'\n")
        return 1
    status: int = entrypoint.run_trial(trial_class)
    return status


def _advice(name: str | None) -> str:
    extra = extra_of(name or "")
    return (
        f"pip install 'redetermined[{extra}]'"
        if extra
        else f"pip install {distribution_of(name or '')} in startup-hook.sh"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
