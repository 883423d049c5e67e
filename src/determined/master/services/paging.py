"""Pages of lists, counted as upstream counts them."""

from collections.abc import Sequence
from typing import TypeVar

from determined.wire.base import Pagination

T = TypeVar("T")


def window(total: int, limit: int | None, offset: int | None) -> Pagination:
    """Return the rows of `total` on the page. No limit (None, 0, -1): all; a negative offset counts from the end."""
    start = _start(total, offset or 0)
    end = total if limit is None or limit in (0, -1) else min(total, start + max(limit, 0))
    return Pagination(offset=offset or 0, limit=limit or 0, start_index=start, end_index=max(start, end), total=total)


def page(rows: Sequence[T], limit: int | None, offset: int | None) -> tuple[list[T], Pagination]:
    """Cut a page out of a full list."""
    pagination = window(len(rows), limit, offset)
    return list(rows[pagination.start_index : pagination.end_index]), pagination


def _start(total: int, offset: int) -> int:
    if offset < 0:
        return max(0, total + offset)
    return min(offset, total)
