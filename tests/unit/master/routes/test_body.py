"""Reading request bodies."""

from typing import Any

import pytest
from msgspec import UNSET, UnsetType

from determined.errors import InvalidArgument
from determined.master.routes.body import decode_body
from determined.wire.codec import Wire


class Asked(Wire):
    name: str = "none"
    is_raw: bool = False
    steps: int = 0
    note: str | None = None
    cleared: str | UnsetType | None = UNSET
    extra: dict[str, Any] = {}


@pytest.mark.parametrize("raw", [b"", b"  \n", b"{}"])
def test_an_empty_body_is_an_empty_object(raw: bytes) -> None:
    assert decode_body(raw, Asked) == Asked()


def test_snake_case_keys_are_understood_but_values_are_not_touched() -> None:
    asked = decode_body(b'{"is_raw": true, "extra": {"snake_case": 1}}', Asked)
    assert asked.is_raw is True
    assert asked.extra == {"snake_case": 1}


def test_numbers_may_travel_as_text() -> None:
    assert decode_body(b'{"steps": "12"}', Asked).steps == 12


def test_text_that_looks_like_a_number_stays_text() -> None:
    assert decode_body(b'{"name": "12", "note": "null"}', Asked) == Asked(name="12", note="null")


def test_a_null_means_absent_where_a_field_cannot_be_null() -> None:
    assert decode_body(b'{"name": null, "steps": null}', Asked) == Asked()


def test_a_null_is_told_from_an_absent_field_where_it_clears() -> None:
    assert decode_body(b"{}", Asked).cleared is UNSET
    assert decode_body(b'{"cleared": null}', Asked).cleared is None


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b'{"steps": "many"}', r"\$.steps"),
        (b'{"steps": 1.5}', r"\$.steps"),
        (b"[]", "object"),
        (b'"text"', "object"),
        (b"null", "object"),
        (b'{"extra": ' + b"[" * 100_000, "JSON|deeply"),
    ],
)
def test_a_bad_body_is_an_error_that_says_where(raw: bytes, says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        decode_body(raw, Asked)


def test_a_plain_string_body_is_read_as_such() -> None:
    assert decode_body(b'"Secret123"', str) == "Secret123"


def test_free_form_bodies_keep_their_keys() -> None:
    assert decode_body(b'{"snake_case": 1}', dict) == {"snake_case": 1}
