"""Upstream's generated REST calls, derived from this package's own wire types: one function per operation.

`get_GetTrial(session, trialId=3).trial.state`. Classes, enums and functions are made when somebody asks for them;
`bindings.pyi` lists them for editors and type checkers.
"""

from functools import reduce
from operator import or_
from typing import Any

from determined.common.api._catalog import calls, messages
from determined.common.api._functions import APIHttpError, APIHttpStreamError, function_of
from determined.common.api._messages import DetEnum, Printable, Unset, class_of, dump_float

__all__ = ["APIHttpError", "APIHttpStreamError", "DetEnum", "Json", "Printable", "Unset", "dump_float"]

Json = Any
_PAGES = "Paginated"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    value = _made(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, _PAGES, *calls(), *messages()})


def _made(name: str) -> Any:
    if name in calls():
        return function_of(calls()[name])
    if name in messages():
        return class_of(messages()[name])
    if name == _PAGES:
        return _paginated()
    raise AttributeError(
        f"determined.common.api.bindings has no {name!r}: this release implements no such operation or message; "
        "docs/reference/official-client.md lists what is missing"
    )


def _paginated() -> Any:
    """Return the union of the answers that have a `pagination`."""
    answers = {call.response for call in calls().values() if hasattr(call.response, "pagination")}
    ordered = sorted(answers, key=lambda kind: str(kind.__name__))
    return reduce(or_, (class_of(kind) for kind in ordered))
