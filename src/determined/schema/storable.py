"""Values in users' data that no JSON document or database column could carry."""

import math
from collections.abc import Iterator

MAX_DEPTH = 100  # lists and mappings inside one another; whoever reads the data later recurses into them


def find_unstorable(value: object, at: str, depth: int = 1) -> Iterator[tuple[str, str]]:
    """Yield where and why, for each value that cannot be stored."""
    if isinstance(value, dict | list) and depth > MAX_DEPTH:
        yield at, f"is nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from find_unstorable(key, at)
            yield from find_unstorable(item, f"{at}.{key}", depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from find_unstorable(item, f"{at}[{index}]", depth + 1)
    else:
        reason = _scalar_problem(value)
        if reason:
            yield at, reason


def _scalar_problem(value: object) -> str | None:
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
            return "contains a NUL or half a surrogate pair, which cannot be stored"
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} cannot be stored; write a finite number or a string"
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return "does not fit in 64 bits"
    if value is not None and not isinstance(value, int | float):
        return f"a {type(value).__name__} cannot be stored; write a string, number, list or mapping"
    return None
