"""Pieces that several nouns share."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.constants import MAX_CONFIG_CHARS
from determined.wire.codec import Wire
from determined.wire.operation import Query

# Texts that may be longer than others (master/routes/sizes.py has the limit of those).
ConfigText = Annotated[str, Meta(max_length=MAX_CONFIG_CHARS)]
LongText = Annotated[str, Meta(max_length=1024 * 1024)]  # notes, filters, lines of logs
FileText = Annotated[str, Meta(max_length=150 * 1024 * 1024)]  # base64: the route's body limit is the real one


class Pagination(Wire):
    end_index: int | None = None
    limit: int | None = None
    offset: int | None = None
    start_index: int | None = None
    total: int | None = None


class OrderBy(StrEnum):
    UNSPECIFIED = "ORDER_BY_UNSPECIFIED"
    ASC = "ORDER_BY_ASC"
    DESC = "ORDER_BY_DESC"


MAX_INT64 = 2**63 - 1

Limit = Annotated[int, Meta(ge=-2, le=MAX_INT64)]
Offset = Annotated[int, Meta(ge=-MAX_INT64, le=MAX_INT64)]
Position = Annotated[int, Meta(ge=0, le=MAX_INT64)]  # a step, a batch or the id of a line


class Paged(Query):
    """A page of a list."""

    limit: Annotated[
        Limit | None, Meta(description="Rows of the page; 0 and -1: all of them, -2: none, only their number.")
    ] = None
    offset: Annotated[
        Offset | None, Meta(description="Rows before the page; a negative number counts from the end.")
    ] = None


class Ordered(Paged):
    """A page of a list in an order."""

    order_by: Annotated[OrderBy | None, Meta(description="Direction of the order; ascending by default.")] = None


class LaunchWarning(StrEnum):
    UNSPECIFIED = "LAUNCH_WARNING_UNSPECIFIED"
    CURRENT_SLOTS_EXCEEDED = "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"
