"""A master this user started on this machine: where it listens, and the secret by which it proves itself.

Its state file is 0600 and belongs to this user. A master found by it must answer a challenge before any token is
sent, over that very connection: another user may listen on a port that ours has left.
"""

import contextlib
import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from determined.api import proof
from determined.api.address import canonical, is_same_place
from determined.api.certificates import CertSpec, UntrustedMaster, context_of
from determined.errors import DeterminedError
from determined.wire.codec import text_of

STATE_FILE = "state.json"
EMBEDDED = "embedded"
_MOST_PAST_URLS = 50


class UnsafeState(DeterminedError):
    """State file that another OS user could have written; its content is not trusted."""

    code = "unsafe_state"


class DamagedState(DeterminedError):
    code = "damaged_state"


class MasterState(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    pid: int
    version: str
    identity: str  # hex; shared with the master through a 0600 file
    password: str  # of the users `determined` and `admin`
    data_dir: str
    certificate: str | None = None  # PEM of what it shows, when it serves https
    past_urls: list[str] = []  # where it was before, newest first: whoever is there now may be a stranger

    def __repr__(self) -> str:
        return text_of(self)


def find(state_dir: Path) -> MasterState | None:
    """Return the running master of this user: a cluster of `det deploy local` before the embedded one; None if none."""
    for directory in directories(state_dir):
        with contextlib.suppress(DamagedState):  # starting it again mends the file; see deploy/process.py
            state = load(directory / STATE_FILE)
            if state is not None and proves_itself(state):
                return state
    return None


def directories(state_dir: Path) -> Iterator[Path]:
    """Yield where a master of this user may keep its state, in the order in which they are asked."""
    yield from sorted(p for p in (state_dir / "clusters").glob("*") if p.is_dir())
    yield state_dir / EMBEDDED


def at(url: str, state_dir: Path) -> MasterState | None:
    """Return the state of this user's master at `url`: of one that runs there, else of one that did."""
    states = list(_readable(state_dir))
    for state in states:
        if is_same_place(state.url, url):
            return state
    return next((s for s in states if any(is_same_place(past, url) for past in s.past_urls)), None)


def moved_to(url: str, previous: MasterState | None) -> list[str]:
    """`past_urls` of a master that is at `url` now."""
    past = [previous.url, *previous.past_urls] if previous is not None else []
    return [old for old in dict.fromkeys(past) if old != url][:_MOST_PAST_URLS]


def expected(state: MasterState) -> proof.OwnMaster:
    """Return whom to expect at the address in a state file."""
    return proof.OwnMaster(state.url, state.identity, state.data_dir)


def _readable(state_dir: Path) -> Iterator[MasterState]:
    for directory in directories(state_dir):
        with contextlib.suppress(DamagedState, UnsafeState):
            if (state := load(directory / STATE_FILE)) is not None:
                yield state


def load(path: Path) -> MasterState | None:
    """Load a state file. Raises UnsafeState or DamagedState."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    if stat.st_uid != os.getuid() or stat.st_mode & 0o077:
        raise UnsafeState(
            f"{path} must belong to you and be readable by you alone (mode 0600); "
            f"if you wrote it: chmod 600 {path}; else: rm {path}"
        )
    try:
        state = msgspec.json.decode(path.read_bytes(), type=MasterState)
        for url in (state.url, *state.past_urls):
            canonical(url)
        return state
    except ValueError as e:  # no JSON, not these fields, or no addresses
        raise DamagedState(f"{path} is damaged ({e}); remove it and try again: rm {path}") from e


def save(path: Path, state: MasterState) -> None:
    write_private(path, msgspec.json.format(msgspec.json.encode(state), indent=2))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made where it is missing.

    The file is for its owner alone: a user who can open a file can lock it, and would keep everybody waiting.
    """
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(lock, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def write_private(path: Path, data: bytes) -> None:
    """Replace `path` with a file nobody else can read, at no moment half-written."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    temporary.replace(path)


def proves_itself(state: MasterState, timeout: float = 2.0) -> bool:
    """Return whether the master at this address knows the secret. False also when nobody answers."""
    try:
        with _dial(state, timeout) as sock:
            proof.demand(sock, expected(state), seconds=timeout)
    except (OSError, UntrustedMaster):
        return False
    return True


def _dial(state: MasterState, timeout: float) -> socket.socket:
    url = urlsplit(state.url)
    sock = socket.create_connection((url.hostname or "", url.port or 80), timeout)
    if not state.certificate:
        return sock
    try:
        return context_of(CertSpec(pinned=state.certificate)).wrap_socket(sock, server_hostname=url.hostname)
    except BaseException:
        sock.close()
        raise
