"""Upstream's `determined.horovod`: `hvd`, the Horovod of the framework in use."""

import sys
from typing import Any

from determined._imports import load_optional

__all__ = ["hvd"]

_BY_FRAMEWORK = {"torch": "torch", "tensorflow": "tensorflow", "tensorflow.keras": "tensorflow.keras"}


class _Horovod:
    """Loads `horovod.torch` or `horovod.tensorflow` when it is first used: two of them in one process crash it."""

    def __init__(self) -> None:
        self._kind: str | None = None

    def require_horovod_type(self, horovod_type: str, reason: str) -> None:
        """Choose the framework: torch, tensorflow or tensorflow.keras.

        Raises:
            ValueError: another word, or another framework than was chosen before.
        """
        if horovod_type not in _BY_FRAMEWORK or self._kind not in (None, horovod_type):
            raise ValueError(
                f"Horovod for {horovod_type!r} cannot be had ({reason}): choose one of {sorted(_BY_FRAMEWORK)}, and "
                f"one per process; chosen before: {self._kind}"
            )
        self._kind = horovod_type

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        kind = self._kind or ("tensorflow" if "tensorflow" in sys.modules and "torch" not in sys.modules else "torch")
        return getattr(load_optional(f"horovod.{_BY_FRAMEWORK[kind]}", extra="horovod"), name)


hvd: Any = _Horovod()
