"""Every struct of the wire comes back as it went, whatever its fields hold."""

import re
from typing import Any

import msgspec
import pytest
from struct_samples import is_optional, label, operations, structs, variants

from determined.wire.codec import Wire, camel, convert, from_json, from_msgpack, to_json, to_msgpack
from determined.wire.operation import Nothing, Query, StreamOperation

EVERY = pytest.mark.parametrize("kind", structs(), ids=label)

# Names that upstream's clients send as they are.
UPSTREAM_SPELLINGS = {
    "timeout_seconds", "save_experiment_best", "save_trial_best", "save_trial_latest", "timestamp_after",
    "timestamp_before", "start_date", "end_date",
}  # fmt: skip
KEYWORDS = {"from", "to"}  # words of Python, or beside one


def fields(kind: type[Wire]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def plain(value: Wire) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(to_json(value))
    return decoded


@EVERY
def test_json_brings_back_what_was_sent(kind: type[Wire]) -> None:
    for value in variants(kind):
        assert from_json(to_json(value), kind) == value


@EVERY
def test_messagepack_brings_back_what_was_sent(kind: type[Wire]) -> None:
    for value in variants(kind):
        assert from_msgpack(to_msgpack(value), kind) == value


@EVERY
def test_keys_that_a_later_release_adds_are_ignored(kind: type[Wire]) -> None:
    for value in variants(kind):
        later = {**plain(value), "of a later release": {"deep": [1]}, "another_one": None}
        assert convert(later, kind) == value


@EVERY
def test_a_null_in_an_optional_field_is_none_and_not_the_default(kind: type[Wire]) -> None:
    nullable = [field for field in fields(kind) if is_optional(field.type)]
    nulls = {**plain(variants(kind)[-1]), **{field.encode_name: None for field in nullable}}
    read = convert(nulls, kind)
    assert [getattr(read, field.name) for field in nullable] == [None] * len(nullable)


@EVERY
def test_names_on_the_wire_are_in_camel_case(kind: type[Wire]) -> None:
    snake = [f.encode_name for f in fields(kind) if re.search(r"_|^[A-Z]|\s", f.encode_name)]
    assert set(snake) <= UPSTREAM_SPELLINGS
    renamed = [f.encode_name for f in fields(kind) if f.encode_name != camel(f.name)]
    assert all("." in name or name in UPSTREAM_SPELLINGS | KEYWORDS for name in renamed), renamed


@EVERY
def test_every_field_is_said_unless_the_struct_leaves_out_defaults(kind: type[Wire]) -> None:
    for value in variants(kind):
        held = {f.encode_name for f in fields(kind) if getattr(value, f.name) is not msgspec.UNSET}
        if kind.__struct_config__.omit_defaults:
            assert set(plain(value)) <= held
        else:
            assert set(plain(value)) == held


@EVERY
def test_two_structs_never_share_a_list_or_mapping_by_default(kind: type[Wire]) -> None:
    required = {f.name: getattr(variants(kind)[0], f.name) for f in fields(kind) if f.required}
    first, second = kind(**required), kind(**required)
    for field in fields(kind):
        value = getattr(first, field.name)
        if not field.required and isinstance(value, list | dict):
            assert value is not getattr(second, field.name), field.name


def test_queries_leave_out_what_was_not_given() -> None:
    kinds = [kind for kind in structs() if issubclass(kind, Query)]
    assert len(kinds) > 30 and all(kind.__struct_config__.omit_defaults for kind in kinds)


def test_a_get_takes_a_query_and_nothing_else_does() -> None:
    for operation in operations():
        takes_query = isinstance(operation.request, type) and issubclass(operation.request, Query)
        allowed = takes_query or operation.request is Nothing if operation.method == "GET" else not takes_query
        assert allowed, f"{operation.method} {operation.path}"


def test_operations_name_methods_that_are_served_and_paths_from_the_root() -> None:
    for operation in operations():
        assert operation.method in {"GET", "POST", "PUT", "PATCH", "DELETE"}
        assert re.fullmatch(r"(/[\w.-]+|/\{\w+:(str|int)\})+(/\{\w+:path\})?", operation.path), operation.path
        assert operation.method == "GET" or not isinstance(operation, StreamOperation), operation.path


def test_the_path_of_an_operation_needs_each_of_its_ids() -> None:
    for operation in operations():
        path = operation.at(**dict.fromkeys(operation.ids, "a/b c?d"))
        whole_paths = operation.path.count(":path}")  # their slashes stay
        assert path.count("a%2Fb%20c%3Fd") == len(operation.ids) - whole_paths
        assert path.count("a/b%20c%3Fd") == whole_paths
        for name in operation.ids:
            with pytest.raises(KeyError, match=name):
                operation.at(**{other: 1 for other in operation.ids if other != name})


SECRET = re.compile(r"(.*_)?(password|token|ticket|secret)")


@EVERY
def test_the_text_of_a_struct_shows_no_password_token_or_ticket(kind: type[Wire]) -> None:
    secret = [f.name for f in fields(kind) if SECRET.fullmatch(f.name)]
    value = variants(kind)[0]
    for name in secret:
        setattr(value, name, "hush")
    assert "hush" not in repr(value)
