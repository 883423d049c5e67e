"""A config that was shown with masks and comes back."""

from typing import Any

from determined.config import mask_secrets, masked_places, restore_secrets

MASK = "********"
KNOWN: dict[str, Any] = {
    "description": MASK,
    "data": {"secrets": {"a": ["one", "two"], "n": None}, "url": "u"},
    "environment": {"registry_auth": {"username": "me", "password": "p"}},
}


def test_what_was_shown_and_comes_back_is_what_was_known() -> None:
    assert restore_secrets(mask_secrets(KNOWN), KNOWN) == KNOWN


def test_a_new_secret_replaces_the_known_one() -> None:
    given = mask_secrets(KNOWN)
    given["environment"]["registry_auth"]["password"] = "q"
    restored = restore_secrets(given, KNOWN)
    assert restored["environment"]["registry_auth"] == {"username": "me", "password": "q"}
    assert restored["data"]["secrets"]["a"] == ["one", "two"]


def test_a_mask_at_a_place_without_a_known_secret_stays_and_is_named() -> None:
    given = {"description": MASK, "data": {"secrets": {"a": [MASK], "b": MASK}}, "hyperparameters": {"h": MASK}}
    restored = restore_secrets(given, KNOWN)
    assert masked_places(restored) == ["data.secrets.a[0]", "data.secrets.b"]


def test_a_mask_never_brings_back_what_is_no_secret() -> None:
    assert restore_secrets({"data": {"url": MASK}}, KNOWN) == {"data": {"url": MASK}}


def test_a_masked_line_of_requirements_comes_back_or_is_named() -> None:
    known = {"environment": {"python": {"requirements": ["x", "-i https://me:pass@h/simple"]}}}
    shown = mask_secrets(known)
    assert restore_secrets(shown, known) == known
    assert masked_places(shown) == ["environment.python.requirements[1]"]
    assert masked_places(known) == []
