"""Filtering and sorting short lists (workspaces, projects) in memory. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from determined.wire.base import OrderBy
from determined.wire.workspace import ListOwned


class Owned(Protocol):
    """Attributes that workspaces and projects have in common."""

    name: str
    archived: bool
    user_id: int
    username: str


T = TypeVar("T", bound=Owned)


def keep(rows: Sequence[T], params: ListOwned) -> list[T]:
    return [row for row in rows if _fits(row, params)]


def sort(rows: list[T], key: Callable[[T], Any], order: OrderBy | None) -> list[T]:
    return sorted(rows, key=key, reverse=order == OrderBy.DESC)


def _fits(row: Owned, params: ListOwned) -> bool:
    if params.archived is not None and row.archived != params.archived:
        return False
    if (params.name or "").lower() not in row.name.lower():
        return False
    if not params.user_ids and not params.users:
        return True
    return row.user_id in (params.user_ids or ()) or row.username in (params.users or ())
