"""Numbers, times, names and foreign values as the wire writes them."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from determined.constants import MASKED, SECRET_FIELDS
from determined.wire.codec import (
    Wire,
    camel,
    camelize_keys,
    convert,
    float_from_wire,
    float_to_wire,
    from_json,
    from_msgpack,
    plain,
    rfc3339,
    to_json,
    to_msgpack,
)


class Inner(Wire):
    token: str = ""
    note: str | None = None


class Message(Wire):
    step_count: int
    inner: Inner | None = None
    free: Any = None
    cleared: str | UnsetType | None = UNSET


class Tensor:
    """Array of another library, known by its `tolist`."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def tolist(self) -> Any:
        return self.items


@pytest.mark.parametrize(
    ("number", "written"),
    [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (0.1, 0.1), (-0.0, 0.0), (1e308, 1e308)],
)
def test_a_number_that_json_has_no_word_for_is_text_and_comes_back(number: float, written: object) -> None:
    assert float_to_wire(number) == written
    assert repr(float_from_wire(float_to_wire(number))) == repr(number)


def test_free_data_is_made_fit_for_json_at_every_depth() -> None:
    data = {1: [math.nan, (math.inf, {"deep": -math.inf})], "text": "NaN", "none": None, "yes": True, "big": 2**63}
    assert plain(data) == {
        "1": ["NaN", ["Infinity", {"deep": "-Infinity"}]], "text": "NaN", "none": None, "yes": True, "big": 2**63,
    }  # fmt: skip
    assert msgspec.json.decode(to_json(plain(data)))["1"][1][1] == {"deep": "-Infinity"}


def test_messagepack_carries_nan_and_infinities_as_numbers() -> None:
    read = from_msgpack(to_msgpack([math.nan, math.inf, -math.inf]), list[float])
    assert math.isnan(read[0]) and read[1:] == [math.inf, -math.inf]


@pytest.mark.parametrize("encode", [to_json, to_msgpack])
def test_arrays_of_other_libraries_are_lists_and_numbers(encode: Any) -> None:
    decode = msgspec.json.decode if encode is to_json else msgspec.msgpack.decode
    assert decode(encode({"a": Tensor([1, [2.5]]), "b": Tensor(3)})) == {"a": [1, [2.5]], "b": 3}


@pytest.mark.parametrize("encode", [to_json, to_msgpack])
def test_a_value_that_no_wire_carries_is_named_by_its_type(encode: Any) -> None:
    with pytest.raises(TypeError, match="cannot encode object for the wire"):
        encode({"a": object()})


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, 2**64 - 1])
def test_integers_of_64_bits_keep_every_digit(number: int) -> None:
    assert from_json(to_json(number), int) == from_msgpack(to_msgpack(number), int) == number


def test_times_are_utc_with_microseconds_so_that_text_sorts_as_time_does() -> None:
    moment = datetime(2026, 11, 15, 4, 0, tzinfo=UTC)
    assert rfc3339(moment) == "2026-11-15T04:00:00.000000Z"
    india = timezone(timedelta(hours=5, minutes=30))
    assert rfc3339(moment.astimezone(india)) == rfc3339(moment)
    later = [moment + timedelta(microseconds=n * 123_457) for n in range(20)]
    assert sorted(map(rfc3339, later)) == [rfc3339(time) for time in later]
    assert datetime.fromisoformat(rfc3339(later[3])) == later[3]


@pytest.mark.parametrize(
    ("name", "written"),
    [("id", "id"), ("trial_id", "trialId"), ("is_not_in", "isNotIn"), ("slots_2_use", "slots2Use"), ("aB", "aB")],
)
def test_names_are_written_in_camel_case(name: str, written: str) -> None:
    assert camel(name) == written


def test_only_the_outermost_snake_case_keys_are_renamed() -> None:
    body = {"is_raw": 1, "isDone": 2, "extra": {"snake_case": 3}, "list_of": [{"a_b": 4}]}
    assert camelize_keys(body) == {"isRaw": 1, "isDone": 2, "extra": {"snake_case": 3}, "listOf": [{"a_b": 4}]}


@pytest.mark.parametrize("body", [None, 5, "a_b", ["a_b"], [{"a_b": 1}]])
def test_a_body_that_is_no_object_has_no_keys_to_rename(body: object) -> None:
    assert camelize_keys(body) == body


def test_an_absent_field_a_null_and_a_value_are_three_things() -> None:
    assert convert({"stepCount": 1}, Message).cleared is UNSET
    assert convert({"stepCount": 1, "cleared": None}, Message).cleared is None
    assert "cleared" not in msgspec.json.decode(to_json(Message(step_count=1)))
    assert msgspec.json.decode(to_json(Message(step_count=1, cleared=None)))["cleared"] is None


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{}", "missing required field `stepCount`"),
        (b'{"stepCount": "1"}', r"Expected `int`, got `str` - at `\$.stepCount`"),
        (b'{"stepCount": true}', r"got `bool` - at `\$.stepCount`"),
        (b'{"stepCount": 1, "inner": {"token": 5}}', r"at `\$.inner.token`"),
        (b'{"step_count": 1}', "stepCount"),
        (b'{"stepCount": NaN}', "malformed"),
    ],
)
def test_a_message_that_cannot_be_read_says_where(raw: bytes, says: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=says):
        from_json(raw, Message)


def test_the_text_of_a_struct_hides_secrets_at_every_depth() -> None:
    text = repr(Message(step_count=3, inner=Inner(token="hush", note="hello")))
    assert text == f"Message(step_count=3, inner=Inner(token={MASKED}, note='hello'), free=None, cleared=UNSET)"
    assert "token" in SECRET_FIELDS


def test_the_text_of_a_struct_says_that_a_secret_is_empty() -> None:
    assert repr(Inner()) == "Inner(token='', note=None)"
