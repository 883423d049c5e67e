"""Days that task logs are kept, as people may set them."""

from determined.errors import InvalidArgument

FOREVER = -1
_MAX_DAYS = 32767


def check_days(days: int) -> None:
    if not FOREVER <= days <= _MAX_DAYS:
        raise InvalidArgument(f"num_days={days} must lie between -1 (keep forever) and {_MAX_DAYS}")
