"""Reading of lists page by page, by upstream's names."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, TypeVar

PageT = TypeVar("PageT")


class PageOpts(str, Enum):  # noqa: UP042  `str(PageOpts.all)` of upstream's is "PageOpts.all"
    """Choice of the pages to read."""

    single = "1"
    all = "all"


def read_paginated(
    get_with_offset: Callable[[int], PageT], offset: int = 0, pages: PageOpts = PageOpts.all
) -> Iterator[PageT]:
    """Yield the page at `offset` and those that follow it: `read_paginated(lambda at: get_GetModels(s, offset=at))`."""
    while True:
        page = get_with_offset(offset)
        yield page
        pagination: Any = getattr(page, "pagination", None)
        end = pagination.endIndex if pagination is not None else None
        if pages == PageOpts.single or end is None or end >= (pagination.total or 0) or end <= offset:
            return
        offset = end
