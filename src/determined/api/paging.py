"""Reading every page of a listing."""

from collections.abc import Iterator
from typing import Protocol, TypeVar

import msgspec

from determined.api.session import Session
from determined.wire.base import Paged, Pagination
from determined.wire.operation import Operation

PAGE = 200


class _Page(Protocol):
    @property
    def pagination(self) -> Pagination | None: ...


ParamsT = TypeVar("ParamsT", bound=Paged)
PageT = TypeVar("PageT", bound=_Page)


def pages(
    session: Session, operation: Operation[ParamsT, PageT], params: ParamsT, *, all_pages: bool = True, **ids: str | int
) -> Iterator[PageT]:
    """Yield the page that `params` names and, with `all_pages`, those that follow it."""
    offset = params.offset or 0
    while True:
        page_params = msgspec.structs.replace(
            params, limit=PAGE if params.limit is None else params.limit, offset=offset
        )
        page = session.call(operation, page_params, timeout=None, **ids)
        yield page
        pagination = page.pagination
        if not all_pages or pagination is None:
            return
        end, total = pagination.end_index or 0, pagination.total or 0
        if end >= total or end <= offset:
            return
        offset = end
