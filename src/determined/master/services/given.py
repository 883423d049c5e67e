"""Fields of a PATCH that were sent with a value."""

from typing import TypeVar

from msgspec import UNSET, UnsetType

T = TypeVar("T")


def given(value: T | UnsetType | None) -> T | None:
    """Return the value of a field; None where it was absent or null."""
    return None if value is UNSET else value
