"""Allocation tokens."""

import pytest

from determined.master.auth.allocation_token import mint, verify

SECRET = b"s" * 32


@pytest.mark.parametrize("allocation_id", ["3.abc.1", "a", "ünïcode.1", "dots.and-dashes.10"])
def test_a_minted_token_names_its_allocation(allocation_id: str) -> None:
    token = mint(SECRET, allocation_id)
    assert token.startswith("det-alloc.")
    assert verify(SECRET, token) == allocation_id


def test_the_same_allocation_has_the_same_token_after_a_restart() -> None:
    assert mint(SECRET, "1.a.1") == mint(SECRET, "1.a.1")


@pytest.mark.parametrize(
    "token",
    ["", "det-alloc.", "det-alloc..", "det-alloc.YQ", "det-alloc.YQ.", "det-alloc.!!.x", "nothing", "det-alloc.YQ.é"],
)
def test_garbage_is_not_a_token(token: str) -> None:
    assert verify(SECRET, token) is None


def test_a_token_of_another_cluster_or_allocation_is_refused() -> None:
    token = mint(SECRET, "1.a.1")
    assert verify(b"other", token) is None
    body, _, signature = token.rpartition(".")
    other_body = mint(SECRET, "1.a.2").rpartition(".")[0]
    assert verify(SECRET, f"{other_body}.{signature}") is None
    assert verify(SECRET, f"{body}.{'A' * len(signature)}") is None
