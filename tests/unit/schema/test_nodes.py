"""Kinds of values of a config: what each takes, what it says of anything else, and what it makes of it."""

from enum import StrEnum
from typing import Any

import pytest

from determined.schema.lists import FreeMap, ListOf, MapOf
from determined.schema.node import Boolean, Choice, Integer, MustBeNull, Node, Number, Report, Text, kind_of
from determined.schema.quantities import Length, Unit
from determined.schema.quantity_nodes import Duration, LengthNode, Size


class Size3(StrEnum):
    SMALL = "small"
    LARGE = "large"


def said(node: Node[Any], value: object) -> list[str]:
    report = Report(complete=True)
    node.check(value, "here", report)
    return report.violations


REFUSED: list[tuple[Node[Any], object, str]] = [
    (Text(), 5, "here: must be a string, not an integer"),
    (Text(), True, "here: must be a string, not a boolean"),
    (Text(choices=("a", "b")), "A", "here: must be one of a, b, not `A`"),
    (Text(problem=lambda text: f"`{text}` is odd; write x"), "y", "here: `y` is odd; write x"),
    (Choice(Size3), "huge", "here: must be one of small, large, not `huge`"),
    (Choice(Size3), None, "here: must be a string, not null"),
    (Integer(), 1.0, "here: must be an integer, not a number"),
    (Integer(), True, "here: must be an integer, not a boolean"),
    (Integer(), "1", "here: must be an integer, not a string"),
    (Integer(low=1), 0, "here: must be at least 1, not 0"),
    (Integer(high=9), 10, "here: must be at most 9, not 10"),
    (Number(), "1", "here: must be a number, not a string"),
    (Number(), False, "here: must be a number, not a boolean"),
    (Number(low=0), -0.5, "here: must be at least 0, not -0.5"),
    (Number(high=1), 1.5, "here: must be at most 1, not 1.5"),
    (Number(above=0), 0, "here: must be greater than 0, not 0"),
    (Number(above=0), float("nan"), "here: must be greater than 0, not nan"),
    (Boolean(), 1, "here: must be true or false, not an integer"),
    (Boolean(), "yes", "here: must be true or false, not a string"),
    (MustBeNull(), False, "here: must be null"),
    (ListOf(Text()), "a", "here: must be a list, not a string"),
    (ListOf(Text()), {"a": 1}, "here: must be a list, not a mapping"),
    (ListOf(Text(), nonempty=True), [], "here: must not be empty: give at least one value"),
    (ListOf(ListOf(Integer())), [[1], [2, "x"]], "here[1][1]: must be an integer, not a string"),
    (MapOf(Integer(low=1)), [1], "here: must be a mapping, not a list"),
    (MapOf(Integer(low=1)), {"a": 0}, "here.a: must be at least 1, not 0"),
    (FreeMap(), "a", "here: must be a mapping, not a string"),
    (Size(), 1.5, "here: must be a number of bytes or a size such as 4g"),
    (Size(), True, "here: must be a number of bytes or a size such as 4g"),
    (Size(), "4x", "here: '4x' is not a size; write a number of bytes or a number and a unit such as 4g"),
    (Size(), -1, "here: -1 is not a size; write a number of bytes or a number and a unit such as 4g"),
    (Duration(), -1, "here: must be at least 0, not -1"),
    (Duration(), "-5s", "here: must not be negative, not '-5s'"),
    (Duration(), "5", "here: '5' is not a duration; write numbers with units such as 1h30m, 90s, 300ms"),
    (Duration(), True, "here: True is not a duration; write numbers with units such as 1h30m, 90s, 300ms"),
    (Duration(bare_numbers=False), 5, "here: 5 is not a duration; write numbers with units such as 1h30m, 90s, 300ms"),
    (LengthNode(unitless=True), -1, "here: must be at least 0, not -1"),
    (LengthNode(unitless=False), 5, "here: needs a unit: give exactly one of batches, records, epochs"),
    (LengthNode(unitless=True), {"batches": 0}, "here: must be at least 1, not 0"),
    (LengthNode(unitless=True), {"batches": 1.5}, "here: a length counts in integers, not 1.5"),
    (LengthNode(unitless=True), {"steps": 1}, "here: a length needs exactly one of batches, records, epochs"),
    (LengthNode(unitless=True), {1: 1}, "here: a length needs exactly one of batches, records, epochs"),
]


@pytest.mark.parametrize(("node", "value", "message"), REFUSED, ids=[message for _, _, message in REFUSED])
def test_a_refusal_says_where_what_was_given_and_what_is_right(node: Node[Any], value: object, message: str) -> None:
    assert said(node, value) == [message]


TAKEN: list[tuple[Node[Any], object, object]] = [
    (Text(), "", ""),
    (Choice(Size3), "small", Size3.SMALL),
    (Integer(low=-1, high=1), -1, -1),
    (Integer(low=-1, high=1), 1, 1),
    (Integer(), 2**70, 2**70),
    (Number(low=0, high=1), 1, 1),
    (Number(above=0), 5e-324, 5e-324),
    (Boolean(), False, False),
    (ListOf(Integer()), [], ()),
    (ListOf(Choice(Size3)), ["large", "small"], (Size3.LARGE, Size3.SMALL)),
    (MapOf(Size()), {"a": "1k", "b": 5}, {"a": 1024, "b": 5}),
    (FreeMap(), {"a": {"b": [1]}}, {"a": {"b": [1]}}),
    (Size(), "1.5k", 1536),
    (Size(), 0, 0),
    (Duration(), "1m30s", 90.0),
    (Duration(), 2, 2.0),
    (Duration(bare_numbers=False), "-1.5h", -5400.0),
    (LengthNode(unitless=True), 50, Length(None, 50)),
    (LengthNode(unitless=True), 0, Length(None, 0)),
    (LengthNode(unitless=False), {"records": 7}, Length(Unit.RECORDS, 7)),
    (LengthNode(unitless=False, low=0), {"epochs": 0}, Length(Unit.EPOCHS, 0)),
    (Node[Any](), {"any": [None]}, {"any": [None]}),
]


@pytest.mark.parametrize(("node", "value", "loaded"), TAKEN, ids=[f"{type(n).__name__} {v}" for n, v, _ in TAKEN])
def test_a_sound_value_is_taken_and_loaded(node: Node[Any], value: object, loaded: object) -> None:
    assert said(node, value) == []
    made = node.load(value)
    assert made == loaded and type(made) is type(loaded)


def test_every_fault_of_a_list_is_reported_at_its_place() -> None:
    node = MapOf(ListOf(Integer(low=0, high=5)))
    assert said(node, {"a": [1, -1, "x"], "b": 3, "c": [9]}) == [
        "here.a[1]: must be at least 0, not -1",
        "here.a[2]: must be an integer, not a string",
        "here.b: must be a list, not an integer",
        "here.c[0]: must be at most 5, not 9",
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"), (True, "a boolean"), (3, "an integer"), (3.5, "a number"), ("", "a string"),
        ([], "a list"), ({}, "a mapping"), (b"", "bytes"), ({1}, "set"),
    ],
)  # fmt: skip
def test_kinds_are_called_as_people_call_them(value: object, words: str) -> None:
    assert kind_of(value) == words


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (Text(), "string"),
        (Text(choices=("a", "b")), "`a` or `b`"),
        (Integer(), "integer"),
        (Integer(1), "integer, at least 1"),
        (Integer(1, 99), "integer 1 to 99"),
        (Integer(0, 2**31 - 1), "integer, at least 0"),
        (Number(0, 1), "number 0 to 1"),
        (Number(above=0), "number above 0"),
        (ListOf(Text()), "list of string"),
        (MapOf(Integer()), "names to integer"),
    ],
)
def test_the_reference_page_says_what_may_be_written(node: Node[Any], words: str) -> None:
    assert node.kind == words


@pytest.mark.parametrize("node", [Size(), ListOf(Size()), MapOf(Size()), Duration(), Integer(), Text(), FreeMap()])
@pytest.mark.parametrize("value", [None, "nonsense", [None], ["nonsense"], {"a": "nonsense"}, 1.5, True])
def test_data_of_a_wrong_shape_is_left_as_it_is_for_the_check(node: Node[Any], value: Any) -> None:
    kept = node.canonical(value)
    assert kept == value or (value == {"a": None}) is (kept == {})
    assert node.fill(value) == value


def test_sizes_are_written_out_in_bytes_at_every_depth() -> None:
    assert MapOf(ListOf(Size())).canonical({"a": ["1k", 7], "b": None}) == {"a": [1024, 7]}
