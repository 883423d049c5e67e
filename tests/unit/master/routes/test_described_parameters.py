"""The OpenAPI description of an operation says what its types say: parameters, defaults, bounds, bodies, streams."""

import warnings
from typing import Annotated, Any

import msgspec
import pytest
from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from litestar.response import Stream
from msgspec import Meta, field

from determined.errors import Conflict, NotFound
from determined.master.auth.permission import ADMIN, PUBLIC
from determined.master.routes.openapi import complete
from determined.master.routes.serve import errors_of, operation_of, serve
from determined.wire.base import Ordered
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation, StreamOperation


class ListThings(Ordered, kw_only=True):
    name: Annotated[str, Meta(description="Part of the name.")]
    ids: list[int] | None = field(name="idFilter.incl", default=None)
    deep: Annotated[int, Meta(ge=1, le=9, description="How deep.")] = 3
    show_all: bool = False


class Thing(Wire):
    step_count: int


class MakeThing(Wire):
    thing: Thing
    note: str | None = None


LIST = StreamOperation("GET", "/things/{kind:str}", ListThings, Thing)
MAKE = Operation("POST", "/things", MakeThing, Thing)
DROP = Operation("DELETE", "/things/{thing_id:int}", Nothing, Nothing)


def routes() -> list[Any]:
    @serve(LIST, PUBLIC)
    async def list_things(kind: str, params: ListThings) -> Stream:
        return Stream([])

    @serve(MAKE, ADMIN, errors=(Conflict,))
    async def make_thing(payload: MakeThing) -> Thing:
        """Make a thing."""
        return payload.thing

    @serve(DROP, ADMIN)
    async def drop_thing(thing_id: int) -> Nothing:
        return Nothing()

    return [list_things, make_thing, drop_thing]


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as in create_app
        config = OpenAPIConfig(title="t", version="1", use_handler_docstrings=True)
        app = Litestar(route_handlers=routes(), openapi_config=config)
        return complete(app, app.openapi_schema.to_schema())


def parameters(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    listed = description["paths"]["/things/{kind}"]["get"]["parameters"]
    return {parameter["name"]: parameter for parameter in listed}


def test_parameters_have_their_names_texts_defaults_and_bounds(description: dict[str, Any]) -> None:
    found = parameters(description)
    assert set(found) == {"kind", "limit", "offset", "orderBy", "name", "idFilter.incl", "deep", "showAll"}
    assert (found["name"]["required"], found["name"]["description"]) == (True, "Part of the name.")
    assert found["deep"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert found["showAll"]["schema"] == {"type": "boolean", "default": False}
    assert found["kind"]["in"] == "path" and found["deep"]["in"] == "query"
    assert {name for name, one in found.items() if one["required"]} == {"kind", "name"}
    assert "array" in str(found["idFilter.incl"]["schema"])


def test_a_body_and_the_structs_in_it_are_described_once(description: dict[str, Any]) -> None:
    post = description["paths"]["/things"]["post"]
    assert post["requestBody"] == {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/MakeThing"}}},
    }
    schemas = description["components"]["schemas"]
    assert schemas["MakeThing"]["required"] == ["thing"]
    assert schemas["Thing"]["properties"]["stepCount"] == {"type": "integer"}
    assert "requestBody" not in description["paths"]["/things/{thing_id}"]["delete"]


def test_a_stream_is_described_line_by_line(description: dict[str, Any]) -> None:
    answer = description["paths"]["/things/{kind}"]["get"]["responses"]["200"]
    assert answer["description"].startswith("Lines of JSON")
    line = answer["content"]["application/json"]["schema"]
    assert line["required"] == ["result"] and line["properties"]["result"] == {"$ref": "#/components/schemas/Thing"}


def test_permission_and_errors_are_told_to_readers_and_programs(description: dict[str, Any]) -> None:
    public, admin = description["paths"]["/things/{kind}"]["get"], description["paths"]["/things"]["post"]
    assert public["security"] == [] and "security" not in admin
    assert admin["description"].startswith("Make a thing.\n\nWho may call it: ")
    assert admin["x-permission"]["who"]
    assert "409 conflict" in admin["responses"]["4XX"]["description"]
    assert "400" not in admin["responses"], "Litestar's own shape of errors is not ours"


def test_what_an_operation_may_answer_follows_from_its_types_and_permission() -> None:
    listed, made, dropped = ({error.code for error in errors_of(route.opt)} for route in routes())
    assert listed == {"invalid_argument", "not_found"}
    assert made == {"invalid_argument", "conflict", "too_large", "unauthenticated", "forbidden", "too_many_requests"}
    assert dropped == {NotFound.code, "unauthenticated", "forbidden", "too_many_requests"}


def test_an_operation_is_found_by_its_route() -> None:
    assert [operation_of(route.opt) for route in routes()] == [LIST, MAKE, DROP]
    assert operation_of({}) is None and list(errors_of({})) == []


def test_defaults_of_the_description_can_be_written_as_json(description: dict[str, Any]) -> None:
    assert msgspec.json.decode(msgspec.json.encode(description))["openapi"].startswith("3.1")
