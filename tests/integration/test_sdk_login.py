"""Logging in with the Python SDK: whose token is used, where it is kept, and how one gets out again."""

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined.api.token_store import TokenStore
from determined.errors import EnterpriseOnlyError, MasterNotFound, Unauthenticated
from determined.experimental import client
from determined.sdk.determined import Determined

Sdk = Callable[..., Determined]


@pytest.fixture(autouse=True)
def nobody_logged_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """`client` remembers one login per process."""
    monkeypatch.setattr(client, "_determined", None)


def _revoke(master: Any, token: str | None) -> None:
    answer = master.anonymous.post("/api/v1/auth/logout", headers={"Authorization": f"Bearer {token}"})
    assert answer.status == 200


def test_a_token_is_kept_in_a_private_file_and_used_without_a_password(
    sdk: Sdk, master: Any, client_files: Path
) -> None:
    first = sdk("admin")
    assert stat.S_IMODE((client_files / "auth.json").stat().st_mode) == 0o600
    again = Determined(master.url, "admin")
    assert again._session.token == first._session.token
    assert again.whoami().username == again.get_session_username() == "admin"
    assert TokenStore(master.url, client_files).active_user() is None


def test_a_wrong_password_is_refused_and_the_token_of_before_stays(sdk: Sdk, master: Any, client_files: Path) -> None:
    token = sdk()._session.token
    with pytest.raises(Unauthenticated, match="wrong user name or password for '"):
        Determined(master.url, "determined", "wrong")
    with pytest.raises(Unauthenticated, match="wrong user name or password for '"):
        Determined(master.url, "nobody", "")
    assert TokenStore(master.url, client_files).token("determined") == token


def test_the_address_may_come_from_the_environment(
    master: Any, client_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DET_MASTER", master.url.removeprefix("http://"))
    assert Determined(user="admin", password="").whoami().admin is True
    assert Determined().whoami().username == "determined", "the last resort, with a blank password"
    monkeypatch.setenv("DET_USER", "admin")
    monkeypatch.setenv("DET_PASS", "")
    assert Determined().whoami().username == "admin"
    monkeypatch.setenv("DET_MASTER", "http://127.0.0.1:1")
    assert Determined(master.url).whoami().username == "admin", "an argument wins over the environment"


def test_two_masters_have_tokens_of_their_own(
    start_master: Callable[..., Any], tmp_path: Path, sqlite_url: str, client_files: Path
) -> None:
    one = start_master(sqlite_url)
    two = start_master(f"sqlite:///{tmp_path / 'other.db'}", data_dir=tmp_path / "other")
    first, second = Determined(one.url, "admin", ""), Determined(two.url, "admin", "")
    assert first._session.token != second._session.token
    first.logout()
    assert TokenStore(one.url, client_files).token("admin") is None
    assert Determined(two.url, "admin").whoami().username == "admin"


def test_logging_out_ends_the_token_everywhere(sdk: Sdk, master: Any, client_files: Path) -> None:
    session = sdk()
    other_copy = Determined(master.url, "determined")
    session.logout()
    assert TokenStore(master.url, client_files).token("determined") is None
    for each in (session, other_copy):
        with pytest.raises(Unauthenticated):
            each.whoami()


def test_a_token_that_was_revoked_elsewhere_is_forgotten_by_logging_out(
    sdk: Sdk, master: Any, client_files: Path
) -> None:
    session = sdk()
    _revoke(master, session._session.token)
    session.logout()
    assert TokenStore(master.url, client_files).token("determined") is None


def test_the_module_can_log_in_again_after_its_token_was_revoked(master: Any, client_files: Path) -> None:
    client.login(master.url, "determined", "")
    _revoke(master, TokenStore(master.url, client_files).token("determined"))
    with pytest.raises(Unauthenticated):
        client.whoami()
    client.logout()
    client.login(master.url, "admin", "")
    assert client.get_session_username() == "admin"
    client.logout()


def test_the_module_logs_in_by_itself_once(master: Any, client_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DET_MASTER", master.url)
    assert client.whoami().username == "determined"
    with pytest.raises(ValueError, match="called twice, or after another function"):
        client.login(master.url, "admin", "")
    assert [w.name for w in client.list_workspaces()] == ["Uncategorized"]
    assert client.list_experiments() == []
    client.logout()


def test_a_login_that_fails_leaves_the_module_without_one(master: Any, client_files: Path) -> None:
    with pytest.raises(Unauthenticated):
        client.login(master.url, "determined", "wrong")
    client.login(master.url, "determined", "")
    client.logout()


def test_a_master_that_stops_is_not_found_with_its_address(
    start_master: Callable[..., Any], sqlite_url: str, client_files: Path
) -> None:
    master = start_master(sqlite_url)
    session = Determined(master.url, "determined", "")
    session._session._retry = session._session._retry.new(total=0)
    master.stop()
    with pytest.raises(MasterNotFound, match=f"no master answers at {master.url}") as caught:
        session.whoami()
    assert caught.value.__suppress_context__, "what urllib3 tried is noise below a script's own traceback"


def test_a_master_without_oauth_clients_says_so(
    start_master: Callable[..., Any], sqlite_url: str, client_files: Path
) -> None:
    session = Determined(start_master(sqlite_url).url, "admin", "")
    calls: list[Callable[[], object]] = [
        session.list_oauth_clients,
        lambda: session.add_oauth_client("https://idp.example", "people"),
        lambda: session.remove_oauth_client("1"),
    ]
    for call in calls:
        with pytest.raises(EnterpriseOnlyError, match="serves no OAuth clients; log in with a password"):
            call()
