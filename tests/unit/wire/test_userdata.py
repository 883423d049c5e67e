"""Users' values on their way to the wire: arrays, enumerations, times, huge numbers."""

import datetime
import enum
import json
import math
import uuid
from collections import OrderedDict, UserString
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from determined.wire.codec import from_msgpack, to_msgpack
from determined.wire.userdata import json_encode, to_plain


class Colour(enum.Enum):
    RED = "#f00"


class Level(enum.IntEnum):
    HIGH = 3


class Word(str):
    """Text of a class of its own, as some libraries return."""


class OnDevice:
    """Tensor that must leave its device and its graph before it is a list."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def detach(self) -> "OnDevice":
        return OnHost(self.items)


class OnHost(OnDevice):
    def tolist(self) -> Any:
        return self.items


class Scalar:
    def item(self) -> float:
        return 1.5


class Described:
    def __json__(self) -> Any:
        return {"kind": Colour.RED, "size": (1, 2)}


UUID = uuid.UUID(int=7)

VALUES: dict[str, tuple[Any, Any]] = {
    "none": (None, None),
    "true is no number": (True, True),
    "text of a class of its own": (Word("w"), "w"),
    "enumeration": (Colour.RED, "RED"),
    "enumeration of numbers": (Level.HIGH, "HIGH"),
    "fraction": (Fraction(1, 4), 0.25),
    "bytes": (b"\xc3\xb6", "ö"),
    "bytearray": (bytearray(b"x"), "x"),
    "date": (datetime.date(2026, 1, 2), "2026-01-02"),
    "time": (datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC), "2026-01-02T03:04:00+00:00"),
    "uuid": (UUID, "00000000-0000-0000-0000-000000000007"),
    "tuple": ((1, [2]), [1, [2]]),
    "keys": (OrderedDict({1: "a", None: "b", Level.HIGH: "c"}), {"1": "a", "None": "b", "3": "c"}),
    "tensor on a device": (OnDevice([[1, 2]]), [[1, 2]]),
    "array of no dimension": (OnHost(4), 4),
    "scalar": (Scalar(), 1.5),
    "object that describes itself": (Described(), {"kind": "RED", "size": [1, 2]}),
    "deep": ({"a": [{"b": OnHost([Fraction(1, 2)])}]}, {"a": [{"b": [0.5]}]}),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_a_value_becomes_plain_data(value: Any, expected: Any) -> None:
    plain = to_plain(value)
    assert plain == expected
    assert type(plain) is type(expected)
    assert from_msgpack(to_msgpack(plain), Any) == expected


def test_arrays_and_scalars_of_numpy_are_lists_and_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    given = {"f": numpy.float32(0.5), "i": numpy.int64(-3), "b": numpy.bool_(True), "a": numpy.ones((1, 2)), "n": "x"}
    plain = to_plain(given)
    assert plain == {"f": 0.5, "i": -3, "b": True, "a": [[1.0, 1.0]], "n": "x"}
    assert [type(value) for value in plain.values()] == [float, int, bool, list, str]


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
def test_an_integer_of_64_bits_stays_one(number: int) -> None:
    assert to_plain(number) == number and type(to_plain(number)) is int


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**300])
def test_a_larger_integer_becomes_a_float(number: int) -> None:
    assert to_plain(number) == float(number)
    assert type(to_plain(number)) is float


@pytest.mark.parametrize(("number", "expected"), [(10**400, math.inf), (-(10**400), -math.inf)], ids=["+", "-"])
def test_an_integer_beyond_every_float_is_an_infinity_and_ends_no_training(number: int, expected: float) -> None:
    assert to_plain({"loss": number}) == {"loss": expected}
    assert json.loads(json_encode(number)) == ("Infinity" if expected > 0 else "-Infinity")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (object(), "cannot report a object; give numbers, text, lists, dicts, tensors or arrays"),
        ({"deep": [{1, 2}]}, "cannot report a set"),
        (1 + 2j, r"cannot report \(1\+2j\) \(complex\); convert it to a float first"),
        (Decimal("1.5"), r"cannot report Decimal\('1.5'\) \(Decimal\); convert it to a float first"),
        (UserString("x"), "cannot report a UserString"),
        (lambda: None, "cannot report a function"),
    ],
)
def test_a_value_that_cannot_be_reported_is_named_with_what_to_give_instead(value: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        to_plain(value)


def test_nan_stays_a_number_until_json_needs_a_word() -> None:
    plain = to_plain([math.nan, -math.inf])
    assert math.isnan(plain[0]) and plain[1] == -math.inf
    assert json.loads(json_encode({"a": [math.nan, math.inf, (-math.inf,)]})) == {
        "a": ["NaN", "Infinity", ["-Infinity"]]
    }


def test_json_text_is_laid_out_as_asked() -> None:
    assert json_encode({"b": 1, "a": [2]}, indent=1, sort_keys=True) == '{\n "a": [\n  2\n ],\n "b": 1\n}'
    assert json_encode({"b": 1, "a": 2}) == '{"b": 1, "a": 2}'


def test_what_was_given_is_not_changed() -> None:
    given = {"a": (1, [math.nan]), 3: Level.HIGH}
    before = repr(given)
    json_encode(given)
    assert repr(given) == before
