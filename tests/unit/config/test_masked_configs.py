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


def test_masked_variables_come_back_by_name_whatever_stands_around_them() -> None:
    known = {"environment": {"environment_variables": {"cpu": ["A=1", "API_KEY=a"], "cuda": ["API_KEY=b"]}}}
    shown = mask_secrets(known)
    assert restore_secrets(shown, known) == known
    assert masked_places(known) == []
    assert masked_places(shown) == [
        "environment.environment_variables.cpu[1]",
        "environment.environment_variables.cuda[0]",
    ]
    more = {"environment": {"environment_variables": ["B=2", f"API_KEY={MASK}", f"HF_TOKEN={MASK}"]}}
    by_all = {"environment": {"environment_variables": ["API_KEY=a", "PLAIN=x"]}}
    restored = restore_secrets(more, by_all)
    assert restored["environment"]["environment_variables"] == ["B=2", "API_KEY=a", f"HF_TOKEN={MASK}"]
    assert masked_places(restored) == ["environment.environment_variables[2]"]


def test_masked_logins_come_back_or_are_named() -> None:
    known = {"description": f"x={MASK}", "entrypoint": "train.py https://u:p@h", "data": {"url": "ftp://u:p@h/x"}}
    shown = mask_secrets(known)
    assert restore_secrets(shown, known) == known
    assert masked_places(shown) == ["entrypoint", "data.url"]
