"""Filters less one of their conditions."""

import json

from determined.master.db.queries.search_filter import Field, Group, clauses, parse, without


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
