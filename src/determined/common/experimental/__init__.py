"""Upstream's `determined.common.experimental`: the SDK classes under their older path."""

import warnings
from typing import Any

from determined.experimental import client

_MOVED = frozenset(name for name in client.__all__ if name[0].isupper())


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"determined.common.experimental.{name} has moved; import it from determined.experimental.client",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(client, name)


def __dir__() -> list[str]:
    return sorted(_MOVED)
