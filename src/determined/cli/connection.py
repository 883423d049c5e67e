"""Which master a command talks to, and as whom: named by `-m` or the environment, else this user's own."""

import argparse
import getpass
import sys

from determined._version import __version__
from determined.api import environment, own_master
from determined.api.address import canonical
from determined.api.login import DEFAULT_USER, cert_from_environment, login, login_with_cache
from determined.api.own_master import MasterState
from determined.api.session import CertSpec, Session
from determined.api.token_store import TokenStore
from determined.cli import render
from determined.errors import DeterminedError, Forbidden, MasterNotFound, Unauthenticated


def connect(args: argparse.Namespace, *, start: bool = False) -> Session:
    """A logged-in session. With no master named, the user's own is used; `start` starts it when it does not run."""
    named = args.master or environment.master()
    if named:
        return _connect_named(named, args.user_override)
    return own_session(_own(start), args.user_override)


def address(args: argparse.Namespace) -> str:
    """Where the master is, without logging in."""
    named = args.master or environment.master()
    return canonical(named) if named else _own(start=False).url


def own_session(state: MasterState, user: str | None = None) -> Session:
    """Log in with the password of the state file; a cached token saves the round trip."""
    store = TokenStore(state.url, environment.config_dir())
    name = user or store.active_user() or DEFAULT_USER
    token = store.token(name)
    if token is not None:
        session = Session(state.url, token=token, username=name)
        try:
            session.get("/api/v1/me")
            return session
        except (Unauthenticated, Forbidden):
            store.forget_token(name)
    try:
        token = login(state.url, name, state.password)
    except (Unauthenticated, Forbidden):
        token = login(state.url, name, ask_password(name))
    store.save(name, token)
    return Session(state.url, token=token, username=name)


def ask_password(user: str) -> str:
    if not sys.stdin.isatty():
        raise Unauthenticated(
            f"no valid login for user '{user}' and no terminal to ask for a password; "
            f"run 'det user login {user}' or set DET_USER and DET_PASS"
        )
    return getpass.getpass(f"Password for user '{user}': ")


def _connect_named(named: str, user: str | None) -> Session:
    cert = cert_from_environment()
    _greet(named, cert)
    return login_with_cache(named, user, cert=cert, ask_password=ask_password)


def _greet(named: str, cert: CertSpec | None) -> None:
    """Find out early whether a master answers at all, and warn about one of another version.

    Raises:
        MasterNotFound: nobody answers; said at once rather than after the patience the command itself would have.
    """
    try:
        info = Session(canonical(named), cert=cert, retries=1, timeout=10.0).get("/info")
    except MasterNotFound:
        raise
    except DeterminedError:
        return
    theirs = info.get("serverVersion") if isinstance(info, dict) else None
    if theirs and theirs != __version__:
        render.warn(
            f"det {__version__} talks to a master of version {theirs}; upgrade the older one if something fails"
        )


def _own(start: bool) -> MasterState:
    found = own_master.find(environment.state_dir())
    if found is not None and (found.version == __version__ or not start):
        return found
    if not start:
        raise MasterNotFound(
            "no master is named and none of yours runs; name one with -m or $DET_MASTER, "
            "or start one with: det master start"
        )
    from determined.deploy import embedded

    state, started = embedded.ensure()
    if started:
        said = "Upgraded the master of your own" if found is not None else "Started a master of your own"
        render.line(f"{said} at {state.url} (data in {state.data_dir}; stop it with: det master stop)", file=sys.stderr)
    return state
