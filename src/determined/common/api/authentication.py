"""Upstream's `determined.common.api.authentication`: logins and the file of tokens.

Scripts that hold no session of their own use `determined.experimental.client` instead.
"""

import contextlib
import getpass
import sys
from pathlib import Path

from determined.api import environment, own_master
from determined.api import login as client_login
from determined.api import token_store as client_store
from determined.api import user as client_user
from determined.api.session import Session as HttpSession
from determined.common.api._session import Session, TaskSession
from determined.common.api.certs import Cert
from determined.constants import PASSWORD_SALT
from determined.errors import DeterminedError

__all__ = [
    "PASSWORD_SALT",
    "TokenStore",
    "check_password_complexity",
    "default_load_user_password",
    "login",
    "login_from_task",
    "login_with_cache",
    "logout",
    "logout_all",
    "salt_and_hash",
]

salt_and_hash = client_login.salted


class TokenStore:
    """Tokens and the active user of one master, in `auth.json` of this user or in another file."""

    def __init__(self, master_address: str, path: Path | None = None) -> None:
        file = Path(path) if path is not None else environment.config_dir() / "auth.json"
        self._store = client_store.TokenStore(master_address, file.parent, name=file.name)

    def get_active_user(self) -> str | None:
        return self._store.active_user()

    def get_all_users(self) -> list[str]:
        return self._store.users()

    def get_token(self, user: str) -> str | None:
        return self._store.token(user)

    def set_token(self, username: str, token: str) -> None:
        self._store.save(username, token)

    def drop_user(self, username: str) -> None:
        self._store.forget_token(username)

    def set_active(self, username: str) -> None:
        if self.get_token(username) is None:
            raise DeterminedError(f"user {username!r} is not logged in; call login_with_cache() first")
        self._store.activate(username)

    def clear_active(self) -> None:
        self._store.clear_active()

    def delete_token_cache(self) -> None:
        """Remove the file with the tokens of all masters."""
        self._store.path.unlink(missing_ok=True)


def check_password_complexity(password: str | None) -> None:
    """Raise ValueError, with a line per rule, for a password that is too weak."""
    client_user.check_password(password or "")


def login(master_address: str, username: str, password: str, cert: Cert | None = None) -> Session:
    """Log in and touch no file. Raises UnauthenticatedException."""
    token = client_login.login(master_address, username, password, cert=cert.spec if cert is not None else None)
    return Session(master_address, username, token, cert)


def default_load_user_password(
    requested_user: str | None, password: str | None, token_store: TokenStore
) -> tuple[str, str | None, bool]:
    """Choose a user and a password; the third value says that nobody named one and `determined` is tried."""
    return client_login.choose(token_store._store, requested_user, password)


def login_with_cache(
    master_address: str, requested_user: str | None = None, password: str | None = None, cert: Cert | None = None
) -> Session:
    """Return a session by a token of the file while it is valid, else log in and keep the new one.

    A valid token is used without a look at `password`. Asks for a password where none is known.
    """
    users = TokenStore(master_address).get_all_users()
    own = own_master.at(master_address, environment.state_dir())
    session = client_login.login_with_cache(
        master_address,
        requested_user or None,
        password if own is None else password or own.password,
        cert=cert.spec if cert is not None else None,
        ask_password=lambda user: getpass.getpass(f"Password for user '{user}': "),
    )
    if password is not None and session.username not in users:
        _warn_of_weakness(password)
    return _own(session, cert)


def logout(master_address: str, requested_user: str | None, cert: Cert | None) -> str | None:
    """Drop the token of a user and revoke it; return who that was, None when nobody was logged in."""
    store = TokenStore(master_address)
    user, _, _ = default_load_user_password(requested_user, None, store)
    token = store.get_token(user)
    if token is None:
        return None
    store.drop_user(user)
    with contextlib.suppress(DeterminedError):  # a token that has expired is as good as revoked
        client_user.logout(Session(master_address, user, token, cert))
    return user


def logout_all(master_address: str, cert: Cert | None) -> None:
    """Log out every user of the file at this master."""
    for user in TokenStore(master_address).get_all_users():
        logout(master_address, user, cert)


def login_from_task(master_address: str, cert: Cert | None) -> TaskSession:
    """Return a session with the token of the task around this process. Raises ValueError outside of one."""
    claim, credentials = environment.task_claim(), environment.task_user_token()
    if claim is None or credentials is None:
        raise ValueError("this process runs in no task: DET_SESSION_TOKEN and DET_USER are not set")
    return TaskSession(master_address, credentials[0], claim[2], cert)


def _own(session: HttpSession, cert: Cert | None) -> Session:
    return Session(session.master_url, session.username or "", session.token or "", cert)


def _warn_of_weakness(password: str) -> None:
    try:
        check_password_complexity(password)
    except ValueError as err:
        sys.stderr.write(f"Warning: {err}\nChange it with: det user change-password\n")
