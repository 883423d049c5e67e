"""Choose the generation of a config: one rule for the master, the command line and the training process.

Without other imports, because a training process needs the rule and nothing else of a search.
"""

from importlib.util import find_spec
from typing import Literal

from determined._json import JsonObject

Generation = Literal["classic", "late"]


def generation(raw: JsonObject) -> Generation:
    """`late`: trials run and the search may stop them. `classic`: the search hands out operations with lengths.

    A searcher of `methods/classic` is classic; else `max_time` with a `time_metric` decides, then `max_length`.
    """
    searcher = raw.get("searcher")
    if not isinstance(searcher, dict):
        return "late"
    if is_classic_alone(searcher.get("name")):
        return "classic"
    if searcher.get("time_metric") is not None and searcher.get("max_time") is not None:
        return "late"
    return "classic" if searcher.get("max_length") is not None else "late"


def is_classic_alone(name: object) -> bool:
    """Tell whether a searcher of this name knows no other generation."""
    if not isinstance(name, str) or not name.isidentifier():
        return False
    return find_spec(f"determined.search.methods.classic.{name}") is not None
