"""Each parameter of each operation refuses what is not of its type, by the name that clients write."""

import importlib
import pkgutil
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import Meta

from determined import wire as wire_package
from determined.wire.operation import Operation, Query

BAD = {int: ["many", "1.5", "", "0x10"], float: ["far", ""], bool: ["maybe", "2", ""]}
GOOD = {int: "1", float: "1", bool: "true", str: "x"}


def queries() -> list[Operation[Any, Any]]:
    modules = [
        importlib.import_module(f"determined.wire.{m.name}") for m in pkgutil.iter_modules(wire_package.__path__)
    ]
    found = {
        value.path: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Operation) and value.method == "GET" and _is_query(value.request)
    }
    return [found[path] for path in sorted(found)]


def _is_query(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Query)


def bare(kind: Any) -> Any:
    """Return the type of one value: without annotations, null and the list around it."""
    if get_origin(kind) is Annotated:
        return bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return bare(next(part for part in get_args(kind) if part is not NoneType))
    return bare(get_args(kind)[0]) if get_origin(kind) is list else kind


def bounds(kind: Any) -> list[Meta]:
    own = [note for note in get_args(kind)[1:] if isinstance(note, Meta)] if get_origin(kind) is Annotated else []
    return own + [note for part in get_args(kind) for note in bounds(part)]


def bad_values(kind: Any) -> list[str]:
    one = bare(kind)
    if get_origin(one) is Literal or (isinstance(one, type) and issubclass(one, Enum)):
        return ["NO_SUCH_WORD", ""]
    beyond = [str(note.le + 1) for note in bounds(kind) if note.le is not None]
    below = [str(note.ge - 1) for note in bounds(kind) if note.ge is not None]
    return BAD.get(one, []) + beyond + below


def good_value(kind: Any) -> str:
    one = bare(kind)
    if get_origin(one) is Literal:
        return str(get_args(one)[0])
    return str(next(iter(one)).value) if issubclass(one, Enum) else GOOD[one]


def cases(operation: Operation[Any, Any]) -> list[tuple[str, str]]:
    """List (name of the parameter, query string) of every bad value."""
    fields = msgspec.structs.fields(operation.request)
    needed = {field.encode_name: good_value(field.type) for field in fields if field.required}
    return [
        (field.encode_name, urlencode({**needed, field.encode_name: value}))
        for field in fields
        for value in bad_values(field.type)
    ]


def answer(world: Any, wire: Any, operation: Operation[Any, Any], query: str) -> tuple[int, dict[str, Any]]:
    path = f"{world.path(operation.path)}?{query}"
    for headers in (world.admin.headers, world.task_headers):
        status, text = wire.answer("GET", path, None, headers)
        if status not in (401, 403):
            break
    return status, msgspec.json.decode(text) if text else {}


@pytest.fixture
def sent(sqlite_world: Any, wire: Any) -> Any:
    return lambda operation, query: answer(sqlite_world, wire, operation, query)


def test_every_typed_parameter_refuses_what_is_not_of_its_type(sent: Any) -> None:
    wrong, count = [], 0
    for operation in queries():
        for name, query in cases(operation):
            count += 1
            status, body = sent(operation, query)
            if status != 400 or f"{name}: " not in body.get("message", ""):
                wrong.append(f"{operation.path}?{query}: {status} {body.get('message', '')[:200]}")
    assert not wrong, "\n".join(wrong)
    assert count > 300


def test_a_parameter_that_is_needed_and_missing_is_named(sent: Any) -> None:
    checked = 0
    for operation in queries():
        needed = [f for f in msgspec.structs.fields(operation.request) if f.required]
        for field in needed:
            others = {f.encode_name: good_value(f.type) for f in needed if f is not field}
            status, body = sent(operation, urlencode(others))
            assert status == 400, operation.path
            assert body["message"].startswith(f"Missing required query parameter '{field.encode_name}'")
            checked += 1
    assert checked > 5


def test_one_bad_value_among_several_of_a_list_is_refused(sent: Any) -> None:
    for operation in queries():
        fields = msgspec.structs.fields(operation.request)
        for field in (f for f in fields if bare(f.type) is int and "list" in str(f.type)):
            needed = {f.encode_name: good_value(f.type) for f in fields if f.required and f is not field}
            status, body = sent(operation, urlencode({**needed, field.encode_name: ["1", "x"]}, doseq=True))
            assert status == 400 and f"{field.encode_name}: " in body["message"], operation.path


@pytest.mark.parametrize(
    ("report", "says"),
    [
        ({"reportTime": [1]}, "reportTime=[1] is not a time"),
        ({"reportTime": {"seconds": 1}}, "is not a time"),
        ({"reportTime": "noon"}, "reportTime='noon' is not a time"),
        ({"stepsCompleted": True}, "stepsCompleted=True is not a whole number"),
        ({"stepsCompleted": "many"}, "stepsCompleted='many' is not a whole number"),
        ({"metrics": []}, "the report has no `metrics`"),
        ({"metrics": {"avgMetrics": {}, "batchMetrics": {}}}, "batchMetrics must be a list of objects"),
    ],
)
def test_a_report_of_metrics_that_cannot_be_read_is_refused_in_words(sqlite_world: Any, report: Any, says: str) -> None:
    world = sqlite_world
    whole = {"trialRunId": 1, "stepsCompleted": 5, "metrics": {"avgMetrics": {"loss": 1}}, **report}
    path = f"/api/v1/trials/{world.trial.trial_id}/metrics"
    refused = world.master.anonymous.post(path, {"group": "training", "metrics": whole}, headers=world.task_headers)
    assert refused.status == 400, refused.raw
    assert says in refused.message
