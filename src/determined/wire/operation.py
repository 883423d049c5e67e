"""Declaration of a REST operation: its route, our clients, the OpenAPI and the page's client all read it from here.

`GET_TRIAL = Operation("GET", "/api/v1/trials/{trial_id:int}", Nothing, GetTrialResponse)`
"""

import re
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

import msgspec

from determined.wire.codec import Wire

RequestT = TypeVar("RequestT")
ResponseT = TypeVar("ResponseT")

AnyJson = cast(type[Any], Any)  # a body of several shapes, which the handler tells apart

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


class Nothing(Wire):
    """An operation that takes nothing, or answers `{}`."""


class Query(Wire, omit_defaults=True):
    """Base of what a GET takes in its query string, where lists are repeated keys. `Meta` has the text of a field."""


class Operation(msgspec.Struct, Generic[RequestT, ResponseT], frozen=True):
    """A method and a path with the types of what is sent and what comes back.

    A GET sends `request` (a `Query`) in the query string, every other method as the JSON body. `Nothing` stands for
    "no parameters", "no body" and an empty answer.

    The Python bindings have a function for each operation that upstream has too: `get_GetTrial`. Its name is that of
    the response (`GetTrialResponse`), else that of the constant (`KILL_TRIAL`), else `rpc`.
    """

    method: str
    path: str  # with its ids: "/api/v1/trials/{trial_id:int}"
    request: type[RequestT]
    response: type[ResponseT]
    rpc: str = ""  # upstream's name, where it is neither that of the response nor that of the constant
    id_names: tuple[str, ...] = ()  # upstream's names of `ids`, where they are not ours in camel case
    ours: bool = False  # upstream does not have it

    def at(self, **ids: str | int) -> str:
        """Fill ids into the path: `GET_TRIAL.at(trial_id=3)`."""
        return _PLACE.sub(lambda place: _segments(ids[place[1]], place[2]), self.path)

    @property
    def ids(self) -> tuple[str, ...]:
        """List the names of the ids in the path, in order."""
        return tuple(name for name, _ in _PLACE.findall(self.path))


def _segments(value: str | int, kind: str | None) -> str:
    """Quote what stands for one place; the slashes of a path stay."""
    return "/".join(map(_segment, str(value).split("/"))) if kind == "path" else _segment(value)


def _segment(value: str | int) -> str:
    text = quote(str(value), safe="")
    # a name of dots alone would lead to the path above: DELETE .../labels/.. deletes an experiment
    return text.replace(".", "%2E") if text in (".", "..") else text


class StreamOperation(Operation[RequestT, ResponseT], frozen=True):
    """An operation whose answer is lines of JSON; `response` is the type of the `result` in each."""
