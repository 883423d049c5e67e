"""From a config's searcher section to the method and the sampler that it names."""

from typing import Any

from determined.errors import InvalidConfig
from determined.search.custom import CustomSearch
from determined.search.grid import GridSearch
from determined.search.method import SearchMethod
from determined.search.random import RandomSearch
from determined.search.sampler import Sampler
from determined.search.single import SingleSearch

_MAX_CONCURRENT = 16


def build_method(searcher: dict[str, Any], space: dict[str, Any], *, classic: bool) -> SearchMethod:
    """A fresh method. `classic`: it hands out lengths; otherwise trials run and it may stop them.

    Raises:
        InvalidConfig: the searcher is unknown or lacks what its method needs.
    """
    length = max_length(searcher) if classic and searcher.get("name") != "custom" else None
    match searcher.get("name"):
        case "single":
            return SingleSearch(length=length)
        case "random":
            trials = int(required(searcher, "max_trials"))
            return RandomSearch(max_trials=trials, max_concurrent=max_concurrent(searcher), length=length)
        case "grid":
            return GridSearch(space, max_concurrent=max_concurrent(searcher), length=length)
        case "custom":
            return CustomSearch()
    raise invalid(
        "name", f"searcher {searcher.get('name')!r} is unknown; see the searcher section of the configuration reference"
    )


def build_sampler(searcher: dict[str, Any], space: dict[str, Any]) -> Sampler | None:
    """The model that chooses points, where the config asks for one; None means they are drawn from the seed."""
    return None


def max_concurrent(searcher: dict[str, Any]) -> int:
    given = searcher.get("max_concurrent_trials")
    return _MAX_CONCURRENT if given is None else int(given)


def max_length(searcher: dict[str, Any], name: str = "max_length") -> int:
    """`max_length: 50` or `max_length: {batches: 50}`; the unit is the trial's business."""
    length = required(searcher, name)
    if not isinstance(length, dict):
        return int(length)
    if len(length) != 1:
        raise invalid(name, f"needs exactly one of batches, records, epochs, not {sorted(length)}")
    return int(next(iter(length.values())))


def required(searcher: dict[str, Any], name: str) -> Any:
    if searcher.get(name) is None:
        raise invalid(name, f"`{name}` is a required property of searcher {searcher.get('name')!r}")
    return searcher[name]


def invalid(field: str, why: str) -> InvalidConfig:
    return InvalidConfig("invalid experiment configuration", [f"<config>.searcher.{field}: {why}"])
