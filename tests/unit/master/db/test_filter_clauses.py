"""Filters: less one of their conditions, too large, and with values as people write them."""

import json

import pytest
from sqlalchemy import Boolean, column

from determined.errors import InvalidArgument
from determined.master.db.queries.query_filter import (
    Field,
    Group,
    Kind,
    Operand,
    clauses,
    condition,
    parse,
    parse_sort,
    without,
)
from determined.master.db.queries.text_match import contains


def tree() -> Group:
    def field(name: str) -> dict[str, object]:
        return {"kind": "field", "columnName": name, "operator": "=", "value": 1}

    inner = {"kind": "group", "conjunction": "or", "children": [field("b"), field("c")]}
    return parse(json.dumps({"filterGroup": {"conjunction": "and", "children": [field("a"), inner]}})).group


def names(group: Group) -> list[object]:
    return [child.column if isinstance(child, Field) else names(child) for child in group.children]


def test_every_clause_has_a_place() -> None:
    assert [path for path, _ in clauses(tree())] == [(0,), (1,), (1, 0), (1, 1)]


def test_one_clause_is_left_out() -> None:
    assert names(without(tree(), (0,))) == [["b", "c"]]
    assert names(without(tree(), (1,))) == ["a"]
    assert names(without(tree(), (1, 0))) == ["a", ["c"]]
    assert without(tree(), (1, 1)).children[1] == Group("or", (Field("b", "", "=", 1),))


def test_a_filter_that_a_database_cannot_take_is_refused() -> None:
    field = {"kind": "field", "columnName": "id", "operator": "!=", "value": 1}
    with pytest.raises(InvalidArgument, match="more than 400 conditions"):
        parse(json.dumps({"filterGroup": {"children": [field] * 401}}))
    assert len(parse(json.dumps({"filterGroup": {"children": [field] * 400}})).group.children) == 400
    with pytest.raises(InvalidArgument, match="33 columns"):
        parse_sort(",".join(["id=asc"] * 33))
    with pytest.raises(InvalidArgument, match="60000 characters is too long"):
        contains(column("name"), "x" * 60_000)


@pytest.mark.parametrize(
    ("written", "meant"), [(True, True), ("true", True), (1, True), (False, False), ("false", False), (None, False)]
)
def test_truth_may_be_written_as_a_word(written: object, meant: bool) -> None:
    group = Group("and", (Field("archived", "", "=", written),))
    found = condition(group, lambda _name: Operand(column("archived", Boolean()), Kind.BOOLEAN))
    assert str(found.compile(compile_kwargs={"literal_binds": True})) == f"archived = {str(meant).lower()}"
