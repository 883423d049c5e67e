"""Schedule of a repeated job of the master: a time between two runs, or a cron line in UTC."""

from datetime import UTC, datetime

from determined.errors import InvalidArgument
from determined.schema.quantities import parse_duration

_DAILY = 24 * 3600.0
_SHORTEST = 1.0


def schedule_problem(schedule: str) -> str | None:
    """Say why a schedule cannot be used, or return None."""
    try:
        seconds_until_next(schedule, datetime(2000, 1, 1, tzinfo=UTC))
    except InvalidArgument as error:
        return error.message
    return None


def seconds_until_next(schedule: str | None, now: datetime) -> float:
    """Return the seconds from `now` to the next run; without a schedule it is daily.

    Raises:
        InvalidArgument: the schedule is neither a duration nor a cron line.
    """
    text = (schedule or "").strip()
    if not text:
        return _DAILY
    if len(text.split()) == 1:
        return max(_SHORTEST, _duration(text))
    return max(_SHORTEST, (_next_by_cron(text, now) - now).total_seconds())


def _duration(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except InvalidArgument as error:
        raise _unusable(text, "not a duration") from error
    if seconds < 0:
        raise _unusable(text, "negative")
    return seconds


def _next_by_cron(line: str, now: datetime) -> datetime:
    from cronsim import CronSim, CronSimError  # here: most masters have no cron line

    try:
        return next(CronSim(line, now))
    except CronSimError as error:
        raise _unusable(line, str(error)) from error
    except StopIteration:
        raise _unusable(line, "never due") from None


def _unusable(text: str, reason: str) -> InvalidArgument:
    return InvalidArgument(
        f"`{text}` is no schedule ({reason}); write a duration such as 2h30m or a cron line such as `0 3 * * *` (UTC)"
    )
