"""Which generation a config belongs to: one rule for the master, the command line and the training process.

Apart from `searcher`, and without imports, because a training process needs the rule and nothing else of a config.
"""

from typing import Any, Literal

Generation = Literal["classic", "late"]

# Methods whose algorithm is a series of operations; without a length they are classic all the same.
CLASSIC_METHODS = frozenset({"sync_halving", "adaptive", "adaptive_simple", "pbt", "custom"})


def generation(raw: dict[str, Any]) -> Generation:
    """`late`: trials run and the search may stop them. `classic`: the search hands out operations with lengths."""
    searcher = raw.get("searcher")
    if not isinstance(searcher, dict):
        return "late"
    if searcher.get("name") in CLASSIC_METHODS:
        return "classic"
    if searcher.get("time_metric") is not None and searcher.get("max_time") is not None:
        return "late"
    return "classic" if searcher.get("max_length") is not None else "late"
