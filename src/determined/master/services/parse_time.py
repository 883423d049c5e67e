"""Times as clients write them: RFC 3339, or seconds since the epoch."""

from datetime import UTC, datetime

from determined.errors import InvalidArgument


def parse_time(text: str | None, name: str) -> datetime | None:
    """Read a time such as `2026-11-15T04:00:00Z` or `1794721777.5`; without a zone it is UTC, blank is None."""
    if not text:
        return None
    try:
        moment = _from_epoch(text) or datetime.fromisoformat(_with_plus(text))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError) as e:
        raise InvalidArgument(
            f"{name}={text!r} is not a time; write it like 2026-11-15T04:00:00Z or as seconds since the epoch"
        ) from e


def _with_plus(text: str) -> str:
    """Restore a `+` that nobody percent-encoded and that arrived as a space."""
    return text.replace(" ", "+") if "T" in text else text


def _from_epoch(text: str) -> datetime | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return datetime.fromtimestamp(seconds, UTC)
