"""Front door of the platform: `import determined as det`. Everything loads when it is first asked for."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from determined._version import __version__
from determined.constants import LOG_FORMAT

if TYPE_CHECKING:
    from determined import core, errors, generic, util
    from determined._imports import import_from_path
    from determined._info import ClusterInfo, RendezvousInfo, ResourcesInfo, TrialInfo, get_cluster_info
    from determined.errors import InvalidHP
    from determined.trial import EnvContext, ExperimentConfig, LegacyTrial, Trial, TrialContext

__all__ = [
    "LOG_FORMAT",
    "Categorical",
    "ClusterInfo",
    "Constant",
    "Double",
    "EnvContext",
    "ExperimentConfig",
    "Integer",
    "InvalidHP",
    "LegacyTrial",
    "Log",
    "RendezvousInfo",
    "ResourcesInfo",
    "Trial",
    "TrialContext",
    "TrialInfo",
    "__version__",
    "core",
    "errors",
    "generic",
    "get_cluster_info",
    "import_from_path",
    "util",
]

# Loaded by attribute, as `det.pytorch` after a plain `import determined as det`; what needs a framework says so then.
# The training APIs among them are found by their folders (`_frameworks`).
_MODULES = frozenset(
    {"common", "core", "errors", "experimental", "generic", "horovod", "launch", "searcher", "tensorboard", "util"}
)
_GONE = {
    "TrialController": "upstream's training loop is no public class; derive from PyTorchTrial or use core.init()",
}
_RENAMED = {"NativeContext": "TrialContext"}  # until 0.17
_HOMES = {
    "ClusterInfo": "_info",
    "EnvContext": "trial",
    "ExperimentConfig": "trial",
    "InvalidHP": "errors",
    "LegacyTrial": "trial",
    "NativeContext": "trial",
    "RendezvousInfo": "_info",
    "ResourcesInfo": "_info",
    "Trial": "trial",
    "TrialContext": "trial",
    "TrialInfo": "_info",
    "create": "experimental",
    "get_cluster_info": "_info",
    "import_from_path": "_imports",
}


def _warn_of_upstream() -> None:
    """Say that upstream's distribution `determined` has put its files among ours; costs one look at the disk."""
    if os.access(f"{__path__[0]}/_execution.py", os.F_OK):  # a file that only upstream has
        import warnings

        warnings.warn(
            f"{__path__[0]} holds the files of two packages, redetermined (this one) and upstream's determined;"
            " pip uninstall -y determined redetermined, then install this project again:"
            " pip install REDETERMINED.whl or a checkout",
            RuntimeWarning,
            stacklevel=3,
        )


_warn_of_upstream()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"determined.{name}")
    if name in _GONE:
        raise ImportError(f"determined.{name} does not exist here: {_GONE[name]}", name=f"determined.{name}")
    if name not in _HOMES:
        if not name.startswith("_") and import_module("determined._frameworks").is_training_api(name):
            return import_module(f"determined.{name}")
        raise AttributeError(f"module 'determined' has no attribute {name!r}")
    value = getattr(import_module(f"determined.{_HOMES[name]}"), _RENAMED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def Constant(value: Any) -> dict[str, Any]:
    """Return a hyperparameter that never varies."""
    return {"type": "const", "val": value}


def Integer(minval: int, maxval: int) -> dict[str, Any]:
    """Return a whole-number hyperparameter."""
    return {"type": "int", "minval": minval, "maxval": maxval}


def Double(minval: float, maxval: float) -> dict[str, Any]:
    """Return a real hyperparameter."""
    return {"type": "double", "minval": minval, "maxval": maxval}


def Categorical(values: list[Any]) -> dict[str, Any]:
    """Return a hyperparameter that takes one of `values`."""
    return {"type": "categorical", "vals": list(values)}


def Log(minval: float, maxval: float, base: float = 10.0) -> dict[str, Any]:
    """Return a hyperparameter searched by exponent: from `base**minval` to `base**maxval`."""
    return {"type": "log", "minval": minval, "maxval": maxval, "base": base}
