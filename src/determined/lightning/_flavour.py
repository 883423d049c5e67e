"""Package of Lightning that the script uses: `lightning` and `pytorch_lightning` hold the same classes twice, and a
Trainer of one does not know a callback of the other for its own."""

import importlib
import sys
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING

from determined._imports import load_optional

if TYPE_CHECKING:
    from lightning.pytorch import Trainer

_NAMES = ("lightning.pytorch", "pytorch_lightning")


def flavours() -> list[ModuleType]:
    """List the packages that are imported; where none is yet, all that are installed.

    Raises:
        ImportError: none is.
    """
    loaded = [module for name in _NAMES if (module := sys.modules.get(name)) is not None]
    if loaded:
        return loaded
    installed = [name for name in _NAMES if find_spec(name.partition(".")[0]) is not None]
    return [load_optional(name, extra="lightning") for name in installed or _NAMES[:1]]


def bases(path: str) -> tuple[type, ...]:
    """A class of every flavour, e.g. `callbacks.Callback`: what derives from all is at home with any Trainer."""
    module, _, name = path.rpartition(".")
    return tuple(getattr(importlib.import_module(f"{each.__name__}.{module}"), name) for each in flavours())


def rank() -> int:
    """Return the rank of this process as Lightning knows it; 0 before it has peers."""
    only = [importlib.import_module(f"{each.__name__}.utilities").rank_zero_only for each in flavours()]
    return max((getattr(each, "rank", None) or 0 for each in only), default=0)


def leave_fit(trainer: "Trainer") -> None:
    """End `trainer.fit` where it is, as a success. `trainer.should_stop` would train and validate further first."""
    homes = {base.__module__.partition(".")[0] for base in type(trainer).__mro__}  # it may be a subclass of the user's
    package = "pytorch_lightning" if "pytorch_lightning" in homes else "lightning.pytorch"
    exceptions = importlib.import_module(f"{package}.utilities.exceptions")
    raise exceptions._TunerExitException
