"""Login: from an address and maybe a user to a session. User choice, cached tokens, prompts."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from determined import constants
from determined.api import cert_store, environment, own_master
from determined.api.address import canonical
from determined.api.session import CertSpec, Session
from determined.api.token_store import TokenStore
from determined.errors import Forbidden, Unauthenticated
from determined.wire.user import GET_ME, LOGIN, LoginRequest

DEFAULT_USER = "determined"


def login_with_cache(
    master: str,
    user: str | None = None,
    password: str | None = None,
    *,
    cert: CertSpec | None = None,
    ask_password: Callable[[str], str] | None = None,
    config_dir: Path | None = None,
) -> Session:
    """Open a session for `user`, or for whom the environment, the token store or the default names.

    Raises:
        Unauthenticated: the password is wrong, or nobody is logged in and there is nobody to ask.
    """
    url = canonical(master)
    store = TokenStore(url, config_dir or environment.config_dir())
    chosen, secret, fallback = choose(store, user, password)
    cached = _cached(url, store, chosen, cert)
    if cached is not None:
        return cached
    from_task = environment.task_user_token()
    if from_task and user in {None, from_task[0]}:
        return Session(url, token=from_task[1], cert=cert, username=from_task[0])
    if secret is None and not fallback:
        if ask_password is None:
            raise Unauthenticated(f"no valid login for user '{chosen}' at {url}; run: det -m {url} user login {chosen}")
        secret = ask_password(chosen)
    try:
        token = login(url, chosen, secret or "", cert=cert)
    except (Forbidden, Unauthenticated) as e:
        if fallback:
            raise Unauthenticated(f"not logged in at {url}; run: det -m {url} user login") from e
        raise
    store.save(chosen, token)
    return Session(url, token=token, cert=cert, username=chosen)


def login(master_url: str, username: str, password: str, *, cert: CertSpec | None = None) -> str:
    """Get a fresh token for a name and a password."""
    request = LoginRequest(username=username, password=salted(password), is_hashed=True)
    return Session(master_url, cert=cert).call(LOGIN, request).token


def choose(store: TokenStore, user: str | None, password: str | None) -> tuple[str, str | None, bool]:
    """Choose who logs in: (user, password, whether this is the last resort)."""
    if user is not None:
        return user, password, False
    from_environment = environment.credentials()
    if from_environment is not None:
        return from_environment[0], from_environment[1], False
    active = store.active_user()
    if active is not None:
        return active, password, False
    return DEFAULT_USER, password or "", True


def cert_for(master: str) -> CertSpec | None:
    """Decide how to trust a master: as the environment says, else by a certificate that this user has or accepted."""
    file, name = environment.cert_file(), environment.cert_name()
    if file or name:
        return CertSpec(file, name)
    if not canonical(master).startswith("https:"):
        return None
    own = own_master.at(canonical(master), environment.state_dir())
    pem = own.certificate if own is not None else None
    pem = pem or cert_store.trusted(master, environment.config_dir())
    return CertSpec(pinned=pem) if pem else None


def salted(password: str) -> str:
    """Hash a password as it travels; a blank one stays blank."""
    if not password:
        return ""
    return hashlib.sha512((constants.PASSWORD_SALT + password).encode()).hexdigest()


def _cached(url: str, store: TokenStore, user: str, cert: CertSpec | None) -> Session | None:
    token = store.token(user)
    if token is None:
        return None
    session = Session(url, token=token, cert=cert, username=user)
    try:
        session.call(GET_ME)
    except (Unauthenticated, Forbidden):
        store.forget_token(user)
        return None
    return session
