"""Names and keys of workspaces and projects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from determined.errors import InvalidArgument
from determined.master.services.naming import LONGEST_KEY, checked_key, checked_name, new_key


@pytest.mark.parametrize("name", ["", "   ", "\t", "x" * 81])
def test_blank_and_endless_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="workspace name"):
        checked_name(name, "workspace")


def test_a_key_is_upper_case() -> None:
    assert checked_key("ab1") == "AB1"


@pytest.mark.parametrize("key", ["", "toolong", "a-b", "é", "a b"])
def test_an_unusable_key_is_refused(key: str) -> None:
    with pytest.raises(InvalidArgument, match="project key"):
        checked_key(key)


def test_a_taken_key_gets_a_number() -> None:
    assert new_key("Vision", set()) == "VIS"
    assert new_key("Vision", {"VIS", "VIS1"}) == "VIS2"
    assert new_key("日本", set()) == "P"


@given(st.text(max_size=20), st.integers(0, 1500))
def test_a_new_key_is_always_free_and_short(name: str, n: int) -> None:
    first = new_key(name, set())
    taken = {first} | {(first + str(i))[:LONGEST_KEY] for i in range(n)}
    key = new_key(name, taken)
    assert key not in taken
    assert 1 <= len(key) <= LONGEST_KEY
