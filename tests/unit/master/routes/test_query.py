"""Query strings as wire structs."""

import warnings
from typing import Annotated, Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec import Meta, field

from determined.master.auth.permission import PUBLIC
from determined.master.routes.errors import exception_handlers
from determined.master.routes.serve import serve
from determined.wire.base import OrderBy, Ordered
from determined.wire.codec import Wire
from determined.wire.operation import Operation


class ListThings(Ordered):
    users: list[str] | None = None
    user_ids: Annotated[list[int] | None, Meta(description="Owned by any of these.")] = None
    not_ids: list[int] | None = field(name="idFilter.notIn", default=None)
    archived: bool | None = None
    show_all: bool = False


class Things(Wire):
    query: dict[str, Any]


LIST_THINGS = Operation("GET", "/things", ListThings, Things)


@pytest.fixture
def client() -> TestClient[Litestar]:
    @serve(LIST_THINGS, PUBLIC)
    async def list_things(params: ListThings) -> Things:
        return Things(query={name: getattr(params, name) for name in params.__struct_fields__})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
        app = Litestar(route_handlers=[list_things], exception_handlers=exception_handlers())
    return TestClient(app)


def _read(client: TestClient[Litestar], text: str) -> dict[str, Any]:
    answer = client.get(f"/things?{text}")
    assert answer.status_code == 200, answer.text
    return {name: value for name, value in answer.json()["query"].items() if value not in (None, False)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("users=a&users=b&limit=3", {"users": ["a", "b"], "limit": 3}),
        ("userIds=1&userIds=2", {"user_ids": [1, 2]}),
        ("user_ids=7", {"user_ids": [7]}),
        ("show_all=false&showAll=true", {"show_all": True}),
        ("idFilter.notIn=4", {"not_ids": [4]}),
        ("archived=TRUE&nobody=knows", {"archived": True}),
        ("limit=1&limit=2&offset=-5", {"limit": 2, "offset": -5}),
        ("orderBy=ORDER_BY_DESC", {"order_by": OrderBy.DESC}),
    ],
)
def test_parameters_are_read_as_clients_write_them(
    client: TestClient[Litestar], text: str, expected: dict[str, Any]
) -> None:
    assert _read(client, text) == expected


def test_what_cannot_be_read_is_named_with_the_whole_request(client: TestClient[Litestar]) -> None:
    answer = client.get("/things?limit=many&orderBy=UP&userIds=x")
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert message.startswith("Validation failed for GET /things?limit=many&orderBy=UP&userIds=x: ")
    assert "limit: Expected `int | null`, got `str`" in message
    assert "orderBy: Invalid enum value 'UP'" in message
    assert "userIds: Expected `int`, got `str`" in message


def test_a_number_out_of_its_bounds_is_refused(client: TestClient[Litestar]) -> None:
    answer = client.get("/things?limit=-3")
    assert answer.status_code == 400
    assert "limit: Expected `int` >= -2" in answer.json()["message"]


def test_a_handler_that_takes_something_else_than_its_operation_cannot_be_served() -> None:
    with pytest.raises(TypeError, match="takes"):

        @serve(LIST_THINGS, PUBLIC)
        async def list_things(params: Ordered) -> Things:
            return Things(query={})


def test_a_handler_without_an_id_of_its_path_cannot_be_served() -> None:
    operation = Operation("GET", "/things/{thing_id:int}", ListThings, Things)
    with pytest.raises(TypeError, match="thing_id"):

        @serve(operation, PUBLIC)
        async def get_thing(params: ListThings) -> Things:
            return Things(query={})
