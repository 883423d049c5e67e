"""Events of a search as they are logged; `feed` tells one to a searcher."""

from collections.abc import Callable

from determined._json import JsonObject
from determined.search.method import Operation
from determined.search.searcher import Searcher
from determined.wire.codec import float_from_wire

Event = JsonObject


def feed(search: Searcher, event: Event) -> list[Operation]:
    """Give a logged event to a searcher; returns what it says to that.

    Raises:
        ValueError: the event is of a kind that this release does not know.
    """
    tell = _TELL.get(event["type"])
    if tell is None:
        raise ValueError(f"search event {event['type']!r} is unknown; the database is of a newer master")
    return tell(search, event)


_TELL: dict[str, Callable[[Searcher, Event], list[Operation]]] = {
    "start": lambda search, event: search.start(),
    "created": lambda search, event: search.trial_created(event["id"]),
    "validation": lambda search, event: search.validation(
        event["id"], event["metric"], float_from_wire(event["length"])
    ),
    "progress": lambda search, event: search.progress_reported(event["id"], event["value"]),
    "exited_early": lambda search, event: search.exited_early(event["id"], event["reason"]),
    "exited": lambda search, event: search.exited(event["id"]),
    "extended": lambda search, event: search.extend(event["trials"]),
    "proposed": lambda search, event: search.proposed(event["id"], event["hparams"]),
    "posted": lambda search, event: search.posted(event["triggered_by"], event["operations"]),
}
