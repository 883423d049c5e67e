"""Reading every page of a listing."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

from determined.wire.base import Pagination

T = TypeVar("T")
PAGE = 200


class _Page(Protocol):
    @property
    def pagination(self) -> Pagination | None: ...


P = TypeVar("P", bound=_Page)


def pages(fetch: Callable[[int, int], P], *, limit: int = PAGE, offset: int = 0, all_pages: bool = True) -> Iterator[P]:
    """Call `fetch(limit, offset)` until the listing says it is at its end."""
    while True:
        page = fetch(limit, offset)
        yield page
        pagination = page.pagination
        if not all_pages or pagination is None:
            return
        end, total = pagination.end_index or 0, pagination.total or 0
        if end >= total or end <= offset:
            return
        offset = end


def given(**params: Any) -> dict[str, Any]:
    """Query parameters without those that are None."""
    return {k: v for k, v in params.items() if v is not None}
