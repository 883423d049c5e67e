"""Filtering and sorting short lists (workspaces, projects) in memory. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from determined.wire.base import OrderBy


class Owned(Protocol):
    """What workspaces and projects have in common."""

    name: str
    archived: bool
    user_id: int
    username: str


T = TypeVar("T", bound=Owned)


@dataclass(frozen=True, slots=True)
class Filter:
    name: str | None = None  # part of the name, whatever the case
    exact_name: str | None = None
    archived: bool | None = None
    user_ids: Sequence[int] = ()
    users: Sequence[str] = ()


def keep(rows: Sequence[T], wanted: Filter) -> list[T]:
    return [row for row in rows if _fits(row, wanted)]


def sort(rows: list[T], key: Callable[[T], Any], order: OrderBy | None) -> list[T]:
    return sorted(rows, key=key, reverse=order == OrderBy.DESC)


def _fits(row: Owned, wanted: Filter) -> bool:
    if wanted.archived is not None and row.archived != wanted.archived:
        return False
    if wanted.exact_name is not None and row.name != wanted.exact_name:
        return False
    if (wanted.name or "").lower() not in row.name.lower():
        return False
    if not wanted.user_ids and not wanted.users:
        return True
    return row.user_id in wanted.user_ids or row.username in wanted.users
