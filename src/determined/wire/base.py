"""Pieces that several nouns share."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.constants import MAX_CONFIG_CHARS
from determined.wire.codec import Wire

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


class Int32FieldFilter(Wire):
    gt: int | None = None
    gte: int | None = None
    incl: list[int] | None = None
    lt: int | None = None
    lte: int | None = None
    not_in: list[int] | None = None


class DoubleFieldFilter(Wire):
    gt: float | None = None
    gte: float | None = None
    lt: float | None = None
    lte: float | None = None


class TimestampFieldFilter(Wire):
    gt: str | None = None
    gte: str | None = None
    lt: str | None = None
    lte: str | None = None


class LaunchWarning(StrEnum):
    UNSPECIFIED = "LAUNCH_WARNING_UNSPECIFIED"
    CURRENT_SLOTS_EXCEEDED = "LAUNCH_WARNING_CURRENT_SLOTS_EXCEEDED"
