"""Passwords."""

from determined.master.auth.password import _DECOY, UNUSABLE, _hasher, client_hash, matches, stored_hash


def test_plain_and_hashed_submissions_agree() -> None:
    from_plain = stored_hash("Secret123", is_hashed=False)
    assert matches(from_plain, client_hash("Secret123"), is_hashed=True)
    from_hashed = stored_hash(client_hash("Secret123"), is_hashed=True)
    assert matches(from_hashed, "Secret123", is_hashed=False)


def test_a_wrong_password_does_not_match() -> None:
    stored = stored_hash("Secret123", is_hashed=False)
    assert not matches(stored, "secret123", is_hashed=False)
    assert not matches(stored, "", is_hashed=False)
    assert not matches(stored, "Secret123", is_hashed=True)


def test_a_blank_password_matches_only_a_user_without_one() -> None:
    assert stored_hash("", is_hashed=False) is None
    assert matches(None, "", is_hashed=True)
    assert not matches(None, "x", is_hashed=False)


def test_nothing_matches_an_unusable_password() -> None:
    assert not matches(UNUSABLE, "", is_hashed=False)
    assert not matches(UNUSABLE, "!", is_hashed=True)


def test_the_client_hash_is_the_salted_sha512_of_the_official_client() -> None:
    assert client_hash("") == ""
    assert len(client_hash("a")) == 128


def test_a_stored_hash_costs_a_thief_what_it_should() -> None:
    stored = stored_hash("Secret123", is_hashed=False)
    assert stored is not None and stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_the_hash_for_users_who_do_not_exist_costs_what_the_others_do() -> None:
    assert not _hasher.check_needs_rehash(_DECOY)
    assert matches(_DECOY, "nobody has this password", is_hashed=True)
    assert not matches(_DECOY, "another", is_hashed=True)
