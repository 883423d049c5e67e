"""Passwords as upstream stored them."""

import sys

import bcrypt
import pytest

from determined.errors import FailedPrecondition
from determined.master.auth import password, upstream_password


def _stored(plaintext: str) -> str:
    sent = password.client_hash(plaintext)
    return bcrypt.hashpw(sent[:72].encode(), bcrypt.gensalt(4, b"2a")).decode()


def test_an_old_password_matches_as_text_and_as_what_clients_send() -> None:
    stored = _stored("Zürich 7")
    assert upstream_password.is_of_upstream(stored)
    assert password.matches(stored, "Zürich 7", is_hashed=False)
    assert password.matches(stored, password.client_hash("Zürich 7"), is_hashed=True)
    assert not password.matches(stored, "Zürich 8", is_hashed=False)
    assert not password.matches(stored, "", is_hashed=False)


def test_our_own_hashes_are_not_taken_for_upstreams() -> None:
    assert not upstream_password.is_of_upstream(password.stored_hash("x", is_hashed=False))
    assert not upstream_password.is_of_upstream(None)
    assert not upstream_password.is_of_upstream(password.UNUSABLE)


def test_a_damaged_hash_matches_nothing() -> None:
    assert not upstream_password.matches("$2a$15$short", "x")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bcrypt", None)
    with pytest.raises(FailedPrecondition, match=r"redetermined\[upstream\]"):
        upstream_password.matches("$2a$04$", "x")
