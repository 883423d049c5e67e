"""auth.json: its format, older versions, damage, and two processes at once."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from determined.api.token_store import CorruptTokenCache, TokenStore

URL = "http://host:8080"


def _written(directory: Path) -> dict[str, object]:
    data: dict[str, object] = json.loads((directory / "auth.json").read_text())
    return data


def test_tokens_and_the_active_user_are_kept_per_master(tmp_path: Path) -> None:
    first, second = TokenStore("host", tmp_path), TokenStore("https://other", tmp_path)
    first.save("a", "T1")
    first.activate("a")
    second.save("b", "T2")
    assert (first.token("a"), first.active_user(), first.users()) == ("T1", "a", ["a"])
    assert (second.token("a"), second.token("b"), second.active_user()) == (None, "T2", None)
    assert _written(tmp_path) == {
        "version": 2,
        "masters": {
            URL: {"active_user": "a", "tokens": {"a": "T1"}},
            "https://other:443": {"tokens": {"b": "T2"}},
        },
    }


def test_the_file_is_private_and_sorted_with_four_spaces(tmp_path: Path) -> None:
    directory = tmp_path / "config"
    TokenStore(URL, directory).save("a", "T")
    assert stat.S_IMODE((directory / "auth.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    text = (directory / "auth.json").read_text()
    assert text == json.dumps(json.loads(text), indent=4, sort_keys=True)


def test_dropping_a_token_makes_nobody_active_but_forgetting_one_does_not(tmp_path: Path) -> None:
    store = TokenStore(URL, tmp_path)
    store.save("a", "T")
    store.activate("a")
    store.forget_token("a")
    assert (store.token("a"), store.active_user()) == (None, "a")
    store.drop("a")
    assert store.active_user() is None


def test_version_0_is_one_master_and_is_upgraded(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(json.dumps({"active_user": "a", "tokens": {"a": "T"}}))
    store = TokenStore(URL, tmp_path)
    assert (store.token("a"), store.active_user()) == ("T", "a")
    store.save("b", "T2")
    assert _written(tmp_path)["version"] == 2


def test_version_1_addresses_become_canonical(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(json.dumps({"version": 1, "masters": {"host": {"tokens": {"a": "T"}}}}))
    assert TokenStore(URL, tmp_path).token("a") == "T"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"version": 3, "masters": {}}',
        '{"version": 2}',
        '{"version": 2, "masters": {"h": {"tokens": {"a": 1}}}}',
    ],
)
def test_a_damaged_file_is_removed_and_said_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "auth.json").write_text(text)
    store = TokenStore(URL, tmp_path)
    with pytest.raises(CorruptTokenCache, match="det user login"):
        store.token("a")
    assert store.token("a") is None


_SAVE_MANY = """
import sys
from pathlib import Path
from determined.api.token_store import TokenStore
store = TokenStore(sys.argv[1], Path(sys.argv[2]))
for number in range(20):
    store.save(f"{sys.argv[3]}{number}", "T")
"""


def test_two_processes_lose_none_of_each_others_tokens(tmp_path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", _SAVE_MANY, URL, str(tmp_path), name]) for name in ("a", "b")]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0]
    assert len(TokenStore(URL, tmp_path).users()) == 40


def test_a_file_left_beside_the_store_gives_nobody_the_tokens(tmp_path: Path) -> None:
    left = tmp_path / "auth.json.temp"
    left.touch(mode=0o666)
    left.chmod(0o666)
    TokenStore("http://m:1", tmp_path).save("ada", "the token")
    assert (tmp_path / "auth.json").stat().st_mode & 0o777 == 0o600
    assert "the token" not in left.read_text()


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "masters": {"h": {"active_user": 7}}}',
        '{"version": 2, "masters": {"h": {"active_user": ["a"], "tokens": {}}}}',
        '{"version": 2, "masters": {"h": {"tokens": ["T"]}}}',
        '{"version": 2, "masters": {"ftp://h": {"tokens": {}}}}',
        '{"version": [2], "masters": {}}',
        "null",
        "\ud800".encode("utf-16", "surrogatepass").decode("latin-1"),
    ],
)
def test_damage_of_any_kind_is_told_before_a_token_is_saved_over_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "auth.json").write_bytes(text.encode("latin-1"))
    store = TokenStore(URL, tmp_path)
    with pytest.raises(CorruptTokenCache, match=r"auth\.json was damaged and has been removed; .*det user login"):
        store.save("a", "T")
    store.save("a", "T")
    assert store.token("a") == "T"


def test_a_token_file_that_others_could_read_becomes_private_with_the_next_login(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text('{"version": 2, "masters": {}}')
    (tmp_path / "auth.json").chmod(0o644)
    TokenStore(URL, tmp_path).save("a", "T")
    assert stat.S_IMODE((tmp_path / "auth.json").stat().st_mode) == 0o600


def test_nobody_else_can_open_the_lock_and_keep_it(tmp_path: Path) -> None:
    lock = tmp_path / "auth.json.lock"
    lock.touch()
    lock.chmod(0o666)
    TokenStore(URL, tmp_path).save("a", "T")
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_reading_writes_nothing_where_nobody_ever_logged_in(tmp_path: Path) -> None:
    store = TokenStore(URL, tmp_path / "config")
    assert (store.token("a"), store.active_user(), store.users()) == (None, None, [])
    assert not (tmp_path / "config").exists()


def test_one_master_under_two_spellings_has_one_entry_and_another_port_its_own(tmp_path: Path) -> None:
    TokenStore("host", tmp_path).save("a", "T")
    assert TokenStore("HTTP://Host:8080/", tmp_path).token("a") == "T"
    for other in ("host:8081", "https://host:8080", "http://host:8080/prefix", "other"):
        assert TokenStore(other, tmp_path).token("a") is None, other


def test_dropping_one_user_leaves_the_others_and_the_active_one(tmp_path: Path) -> None:
    store, other = TokenStore(URL, tmp_path), TokenStore("other", tmp_path)
    for name in ("a", "b"):
        store.save(name, name.upper())
        other.save(name, name.upper())
    store.activate("a")
    store.drop("b")
    store.drop("never there")
    assert (store.users(), store.active_user(), other.users()) == (["a"], "a", ["a", "b"])


def test_a_version_0_file_belongs_to_the_master_that_is_asked_for_first(tmp_path: Path) -> None:
    (tmp_path / "auth.json").write_text(json.dumps({"active_user": "a", "tokens": {"a": "T"}}))
    TokenStore("first", tmp_path).save("b", "T2")
    assert TokenStore("first", tmp_path).users() == ["a", "b"]
    assert TokenStore("second", tmp_path).users() == []
