"""Deprecated names: they warn, and still work."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from determined.sdk.enums import OrderBy


def warn_deprecated(old: str, new: str) -> None:
    """Warn from a deprecated function; the warning points at its caller."""
    warnings.warn(f"{old} is deprecated and will go away; use {new}", FutureWarning, stacklevel=3)


class _OrderTwin(type):
    """Classes that stand for `OrderBy` under an old name: every access gives the member of OrderBy, and warns."""

    def __getattr__(cls, name: str) -> OrderBy:
        if name.startswith("_") or name not in OrderBy.__members__:
            raise AttributeError(f"{cls.__name__} has no member {name!r}; it has: {', '.join(OrderBy.__members__)}")
        warn_deprecated(cls.__name__, "OrderBy")
        return OrderBy[name]

    @property
    def __members__(cls) -> Mapping[str, OrderBy]:
        return OrderBy.__members__

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), *OrderBy.__members__]

    def __getitem__(cls, name: str) -> OrderBy:
        warn_deprecated(cls.__name__, "OrderBy")
        return OrderBy[name]

    def __call__(cls, value: Any) -> OrderBy:
        warn_deprecated(cls.__name__, "OrderBy")
        return OrderBy(value)

    def __iter__(cls) -> Iterator[OrderBy]:
        warn_deprecated(cls.__name__, "OrderBy")
        return iter(OrderBy)


class CheckpointOrderBy(metaclass=_OrderTwin):
    """Deprecated: OrderBy."""


class ExperimentOrderBy(metaclass=_OrderTwin):
    """Deprecated: OrderBy."""


class ModelOrderBy(metaclass=_OrderTwin):
    """Deprecated: OrderBy."""


class TrialOrderBy(metaclass=_OrderTwin):
    """Deprecated: OrderBy."""
