"""Handlers as routes of operations."""

import warnings

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from determined.master.auth.permission import PUBLIC
from determined.master.routes.serve import serve
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class Thing(Wire):
    name: str


REMOVE_THING = Operation("DELETE", "/things/{name:str}", Nothing, Nothing)
GET_THING = Operation("GET", "/things/{name:str}", Nothing, Thing)


def test_a_handler_that_returns_none_answers_an_empty_object() -> None:
    removed: list[str] = []

    @serve(REMOVE_THING, PUBLIC)
    async def remove(name: str) -> None:
        removed.append(name)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
        app = Litestar(route_handlers=[remove])
    with TestClient(app) as client:
        answer = client.delete("/things/a")
    assert (answer.status_code, answer.json(), removed) == (200, {}, ["a"])


def test_a_handler_that_returns_none_is_refused_for_an_operation_that_answers_something() -> None:
    async def get(name: str) -> None: ...

    with pytest.raises(TypeError, match=r"get returns None, its operation .*Thing"):
        serve(GET_THING, PUBLIC)(get)
