"""How two layers of a list or a mapping become one, for each kind that a config can declare."""

from copy import deepcopy
from typing import Any

import pytest

from determined.config.log_policies import LogPolicies, LogPolicy
from determined.config.pod_spec import strategic_merge
from determined.schema.lists import AddedList, FreeMap, KeyedList, ListOf, MapOf, SetList, merge_free
from determined.schema.node import Integer, Node, Text
from determined.schema.quantity_nodes import LengthNode
from determined.schema.section import Section, field


class Mount(Section):
    target: str = field(Text(), "Where.")
    source: str | None = field(Text(), "What.", default=None)


MOUNTS = KeyedList(Mount, key="target")
A, A2, B, NAMELESS = {"target": "a"}, {"target": "a", "source": "s"}, {"target": "b"}, {"source": "s"}

ROWS: list[tuple[str, Node[Any], Any, Any, Any]] = [
    ("a plain list replaces", ListOf(Text()), ["x"], ["y", "z"], ["x"]),
    ("an empty plain list empties", ListOf(Text()), [], ["y"], []),
    ("a list that is not there leaves", ListOf(Text()), None, ["y"], ["y"]),
    ("a set is joined, high first", SetList(Text()), ["b", "a"], ["a", "c"], ["b", "a", "c"]),
    ("a set keeps its own duplicates", SetList(Text()), ["b", "b"], ["b"], ["b", "b"]),
    ("an empty set removes nothing", SetList(Text()), [], ["a"], ["a"]),
    ("added lists put the low one first", AddedList(Text()), ["x"], ["y", "x"], ["y", "x", "x"]),
    ("a keyed list adds new keys", MOUNTS, [A], [A2, B], [A, B]),
    ("a keyed entry is replaced whole", MOUNTS, [A], [A2], [A]),
    ("a keyed list keeps duplicates of one layer", MOUNTS, [A, A2], [B, B], [A, A2, B, B]),
    ("an entry without its key hides others without it", MOUNTS, [NAMELESS], [NAMELESS, B], [NAMELESS, B]),
    ("an entry of a wrong shape is its own key", MOUNTS, ["a", 5], ["a", A, B, 5], ["a", 5, B]),
    ("a mapping joins its keys", MapOf(Integer()), {"a": 1}, {"a": 2, "b": 3}, {"a": 1, "b": 3}),
    ("values of a mapping merge by their rule", MapOf(SetList(Text())), {"a": ["x"]}, {"a": ["y"]}, {"a": ["x", "y"]}),
    ("an empty mapping removes nothing", MapOf(Integer()), {}, {"a": 1}, {"a": 1}),
    ("free maps merge at every depth", FreeMap(), {"a": {"b": 1}}, {"a": {"c": [2]}}, {"a": {"b": 1, "c": [2]}}),
    ("lists in free maps replace", FreeMap(), {"a": [1]}, {"a": [2, 3]}, {"a": [1]}),
    ("a null in a free map leaves", FreeMap(), {"a": None}, {"a": 5}, {"a": 5}),
    ("a length is replaced whole", LengthNode(unitless=True), {"epochs": 1}, {"batches": 5}, {"epochs": 1}),
    ("another shape wins as it is", SetList(Text()), "oops", ["a"], "oops"),
    ("a wrong shape below gives way", MapOf(Integer()), {"a": 1}, [1], {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("node", "high", "low", "merged"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_high_layer_over_a_low_one(node: Node[Any], high: Any, low: Any, merged: Any) -> None:
    before = deepcopy((high, low))
    assert node.merge(high, low) == merged
    assert (high, low) == before, "the layers themselves stay as they are"


@pytest.mark.parametrize("node", [ListOf(Text()), SetList(Text()), AddedList(Text()), MOUNTS, MapOf(Text()), FreeMap()])
@pytest.mark.parametrize("value", [["a"], {"a": "b"}, "text", 5])
def test_a_layer_that_says_nothing_changes_nothing(node: Node[Any], value: Any) -> None:
    assert node.merge(None, value) == value
    assert node.merge(value, None) == value


POLICY, OTHER = {"name": "p", "pattern": "x"}, {"name": "p", "pattern": "y"}
OLD = {"pattern": "x", "action": "cancel_retries"}


@pytest.mark.parametrize(
    ("high", "low", "merged"),
    [
        ([POLICY], [OTHER], [POLICY]),
        ([{"name": "p"}], [OTHER], [{"name": "p"}]),
        ([OLD], [OLD], [OLD]),
        ([OLD], [{**OLD, "action": "exclude_node"}], [OLD, {**OLD, "action": "exclude_node"}]),
        ([OLD], [{**OLD, "name": "p"}], [OLD, {**OLD, "name": "p"}]),
        ([], [POLICY], [POLICY]),
        ([5], [5, POLICY], [5, POLICY]),
    ],
)
def test_log_policies_merge_by_name_or_by_what_they_do(high: Any, low: Any, merged: Any) -> None:
    assert LogPolicies(LogPolicy).merge(high, low) == merged


@pytest.mark.parametrize(
    ("high", "low", "merged"),
    [
        ({"a": {"$patch": "replace", "x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1}}),
        ({"volumes": [{"name": "v", "b": 2}]}, {"volumes": [{"name": "v", "a": 1}, {"name": "w"}]},
         {"volumes": [{"name": "v", "a": 1, "b": 2}, {"name": "w"}]}),
        ({"env": [{"name": "A", "$patch": "delete"}]}, {"env": [{"name": "A"}, {"name": "B"}]},
         {"env": [{"name": "B"}]}),
        ({"volumeMounts": [{"mountPath": "/a"}]}, {"volumeMounts": [{"mountPath": "/b"}]},
         {"volumeMounts": [{"mountPath": "/b"}, {"mountPath": "/a"}]}),
        ({"tolerations": [1]}, {"tolerations": [2, 3]}, {"tolerations": [1]}),
        ({"a": None}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"env": "oops"}, {"env": [{"name": "A"}]}, {"env": "oops"}),
    ],
)  # fmt: skip
def test_pod_specs_merge_as_kubernetes_patches_do(high: Any, low: Any, merged: Any) -> None:
    before = deepcopy((high, low))
    assert strategic_merge(high, low) == merged
    assert (high, low) == before


def test_three_free_layers_are_laid_from_the_lowest_up() -> None:
    assert merge_free({"a": 1}, merge_free({"a": 2, "b": {"c": 3}}, {"b": {"c": 4, "d": 5}})) == {
        "a": 1,
        "b": {"c": 3, "d": 5},
    }
