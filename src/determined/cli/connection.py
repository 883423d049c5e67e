"""Connection of a command: its master and user. Named by `-m` or the environment, else this user's own."""

import argparse
import sys
from pathlib import Path
from urllib.parse import urlsplit

from determined._version import __version__
from determined.api import cert_store, certificates, environment, own_master
from determined.api.address import canonical
from determined.api.cert_store import CorruptCertificateCache
from determined.api.certificates import UntrustedMaster
from determined.api.login import DEFAULT_USER, cert_for, login, login_with_cache
from determined.api.own_master import MasterState
from determined.api.session import Session
from determined.api.token_store import TokenStore
from determined.cli import embedded_start, own_masters, passwords, render
from determined.errors import DeterminedError, Forbidden, MasterNotFound, Unauthenticated
from determined.wire.user import GET_ME


def connect(args: argparse.Namespace, *, start: bool = False) -> Session:
    """Return a logged-in session. With no master named, the user's own is used; `start` starts it if need be."""
    named = args.master or environment.master()
    if named:
        own = None if environment.task_user_token() else own_masters.at(named)
        return own_session(own, args.user_override) if own else _connect_named(named, args.user_override)
    state = _own(start)
    own_masters.say_which(state)
    return own_session(state, args.user_override)


def address(args: argparse.Namespace) -> str:
    """Return where the master is, without logging in."""
    named = args.master or environment.master()
    if not named:
        return _own(start=False).url
    if canonical(named).startswith("https:"):
        _greet(named)
    return canonical(named)


def own_session(state: MasterState, user: str | None = None) -> Session:
    """Log in with the password of the state file; a cached token saves the round trip."""
    store, cert = TokenStore(state.url, environment.config_dir()), cert_for(state.url)
    given = environment.credentials() if user is None else None
    if given is not None:
        return Session(state.url, token=login(state.url, *given, cert=cert), cert=cert, username=given[0])
    name = user or store.active_user() or DEFAULT_USER
    token = store.token(name)
    if token is not None:
        session = Session(state.url, token=token, cert=cert, username=name)
        try:
            session.call(GET_ME)
            return session
        except (Unauthenticated, Forbidden):
            store.forget_token(name)
    try:
        token = login(state.url, name, state.password, cert=cert)
    except (Unauthenticated, Forbidden):
        token = login(state.url, name, ask_password(name), cert=cert)
    store.save(name, token)
    return Session(state.url, token=token, cert=cert, username=name)


def ask_password(user: str) -> str:
    if not sys.stdin.isatty():
        raise Unauthenticated(
            f"no valid login for user '{user}' and no terminal to ask for a password; "
            f"run 'det user login {user}' or set DET_USER and DET_PASS"
        )
    return passwords.ask(f"Password for user '{user}': ")


def _connect_named(named: str, user: str | None) -> Session:
    _greet(named)
    return login_with_cache(named, user, cert=cert_for(named), ask_password=ask_password)


def _greet(named: str) -> None:
    """Find out early whether a master answers at all, and warn about one of another version.

    Raises:
        MasterNotFound: nobody answers; said at once rather than after the patience the command itself would have.
    """
    try:
        info = Session(canonical(named), cert=cert_for(named), retries=1, timeout=10.0).get("/info")
    except UntrustedMaster:
        _offer_trust(canonical(named))
        return
    except (MasterNotFound, CorruptCertificateCache):
        raise
    except DeterminedError:
        return
    theirs = info.get("serverVersion") if isinstance(info, dict) else None
    if theirs and theirs != __version__:
        render.warn(
            f"det {__version__} talks to a master of version {theirs}; upgrade the older one if something fails"
        )


def _is_embedded(state: MasterState) -> bool:
    """Return whether the master is embedded: a cluster of `det deploy local` is upgraded by its owner alone."""
    return Path(state.data_dir) == environment.state_dir() / own_master.EMBEDDED


def _offer_trust(url: str) -> None:
    """Show whom the master claims to be; a yes is remembered in certs.json."""
    parts = urlsplit(url)
    pem = certificates.fetch(parts.hostname or "", parts.port or 443)
    render.warn(f"The certificate of {url} is signed by nobody known here. Its SHA-256 fingerprint is:")
    render.warn(f"  {certificates.fingerprint(pem)}")
    if not sys.stdin.isatty():
        raise UntrustedMaster(
            f"{url} cannot be trusted and there is no terminal to ask; compare the fingerprint and run the command in "
            "a terminal once, or give the certificate with DET_MASTER_CERT_FILE"
        )
    if not render.ask("Trust this certificate from now on?"):
        raise UntrustedMaster(f"the certificate of {url} was not accepted")
    cert_store.trust(url, pem, environment.config_dir())


def _own(start: bool) -> MasterState:
    own = own_master.find(environment.state_dir())
    if own is not None and (own.version == __version__ or not start or not _is_embedded(own)):
        return own
    if not start:
        raise MasterNotFound(
            "no master is named and none of yours runs; name one with -m or $DET_MASTER, "
            "or start one with: det master start"
        )
    return embedded_start.start("Upgraded the master of your own" if own is not None else embedded_start.STARTED)
