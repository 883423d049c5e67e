"""Texts and lists in requests have limits, read off the wire structs."""

from typing import Annotated, Any

import pytest
from msgspec import Meta

from determined.errors import InvalidArgument
from determined.master.routes.body import decode_body
from determined.master.routes.sizes import MAX_ITEMS, MAX_TEXT, check_sizes
from determined.wire.codec import Wire, to_json


class Inner(Wire):
    note: str = ""
    inside: "Inner | None" = None


class Asked(Wire):
    name: str = ""
    key: Annotated[str, Meta(max_length=5)] | None = None
    ids: list[int] = []
    few: Annotated[list[int], Meta(max_length=3)] | None = None
    inners: list[Inner] = []
    free: Any = None
    counts: dict[str, int] = {}


def _refusal(plain: Any) -> str:
    with pytest.raises(InvalidArgument) as refused:
        check_sizes(plain, Asked)
    return refused.value.message


def test_what_fits_is_taken() -> None:
    check_sizes({"name": "x" * MAX_TEXT, "key": "abcde", "free": {"a": [1]}}, Asked)
    check_sizes({"ids": list(range(MAX_ITEMS)), "few": [1, 2, 3]}, Asked)


@pytest.mark.parametrize(
    ("plain", "words"),
    [
        ({"name": "x" * (MAX_TEXT + 1)}, ["name has 65537 characters", "at most 65536"]),
        ({"key": "abcdef"}, ["key has 6 characters", "at most 5"]),
        ({"ids": [0] * (MAX_ITEMS + 1)}, ["ids has 10001 entries", "at most 10000"]),
        ({"few": [1, 2, 3, 4]}, ["few has 4 entries", "at most 3"]),
        ({"inners": [{}, {"inside": {"note": "x" * 70_000}}]}, ["inners[1].inside.note has 70000 characters"]),
        ({"free": {"deep": [{"text": "x" * 70_000}]}}, ["free.deep[0].text has 70000 characters"]),
        ({"free": {"deep": [0] * 10_001}}, ["free.deep has 10001 entries"]),
        ({"counts": {str(n): n for n in range(10_001)}}, ["counts has 10001 entries"]),
        ({"counts": {"x" * 70_000: 1}}, ["a name in counts has 70000 characters"]),
    ],
)
def test_a_refusal_names_the_field_its_length_and_the_limit(plain: Any, words: list[str]) -> None:
    message = _refusal(plain)
    assert all(word in message for word in words), message


def test_a_refusal_names_the_field_in_its_details() -> None:
    for plain, field in (
        ({"key": "abcdef"}, "key"),
        ({"few": [1, 2, 3, 4]}, "few"),
        ({"counts": {"x" * 70_000: 1}}, "counts"),
    ):
        with pytest.raises(InvalidArgument) as refused:
            check_sizes(plain, Asked)
        assert refused.value.details == {"field": field}


def test_bodies_are_checked_when_they_are_read() -> None:
    with pytest.raises(InvalidArgument, match="key has 6 characters"):
        decode_body(to_json({"key": "abcdef"}), Asked)
    with pytest.raises(InvalidArgument, match="the body has 10001 entries"):
        decode_body(to_json([0] * 10_001), Any)
