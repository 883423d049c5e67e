"""Query and path parameters as the clients write them: camelCase, repeated keys, RFC 3339 or epoch times."""

from datetime import UTC, datetime
from typing import Annotated

from litestar.params import QueryParameter

from determined.errors import InvalidArgument

MAX_INT64 = 2**63 - 1

# Paging, on every list. `Limit` and `Offset` need no alias: their wire names are the argument names.
Limit = Annotated[int | None, QueryParameter(name="limit", ge=-2, le=MAX_INT64)]
Offset = Annotated[int | None, QueryParameter(name="offset", ge=-MAX_INT64, le=MAX_INT64)]


def parse_time(text: str | None, name: str) -> datetime | None:
    """RFC 3339 (`2026-11-15T04:00:00Z`) or seconds since the epoch; a time without a zone is UTC. Blank is None."""
    if not text:
        return None
    try:
        moment = _from_epoch(text) or datetime.fromisoformat(_with_plus(text))
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError) as e:
        raise InvalidArgument(
            f"{name}={text!r} is not a time; write it like 2026-11-15T04:00:00Z or as seconds since the epoch"
        ) from e


def _with_plus(text: str) -> str:
    """A `+` that nobody percent-encoded arrives as a space."""
    return text.replace(" ", "+") if "T" in text else text


def _from_epoch(text: str) -> datetime | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return datetime.fromtimestamp(seconds, UTC)
