"""A master this user started on this machine: where it listens, and the secret by which it proves itself.

Its state file is 0600 and belongs to this user. A master found by it must answer a challenge before any token is
sent: another user may listen on a port that ours has left.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import urllib3

from determined.api.address import canonical
from determined.api.certificates import CertSpec, context_of
from determined.constants import IDENTITY_PURPOSE
from determined.errors import DeterminedError

STATE_FILE = "state.json"
EMBEDDED = "embedded"


class UnsafeState(DeterminedError):
    """Somebody else could have written it, so nothing in it is believed."""

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


def find(state_dir: Path) -> MasterState | None:
    """The running master of this user: a cluster of `det deploy local` before the embedded one. None when none runs."""
    for directory in directories(state_dir):
        with contextlib.suppress(DamagedState):  # starting it again mends the file; see deploy/process.py
            state = load(directory / STATE_FILE)
            if state is not None and proves_itself(state):
                return state
    return None


def directories(state_dir: Path) -> Iterator[Path]:
    """Where a master of this user may keep its state, in the order in which they are asked."""
    yield from sorted(p for p in (state_dir / "clusters").glob("*") if p.is_dir())
    yield state_dir / EMBEDDED


def certificate_of(url: str, state_dir: Path) -> str | None:
    """The certificate of the master that this user runs at this address."""
    for directory in directories(state_dir):
        with contextlib.suppress(DamagedState, UnsafeState):
            state = load(directory / STATE_FILE)
            if state is not None and canonical(state.url) == url:
                return state.certificate
    return None


def load(path: Path) -> MasterState | None:
    """Raises UnsafeState or DamagedState."""
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
        return msgspec.json.decode(path.read_bytes(), type=MasterState)
    except (msgspec.DecodeError, msgspec.ValidationError) as e:
        raise DamagedState(f"{path} is damaged ({e}); remove it and try again: rm {path}") from e


def save(path: Path, state: MasterState) -> None:
    write_private(path, msgspec.json.format(msgspec.json.encode(state), indent=2))


def write_private(path: Path, data: bytes) -> None:
    """Replace `path` with a file nobody else can read, at no moment half-written."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    temporary.replace(path)


def proves_itself(state: MasterState, timeout: float = 2.0) -> bool:
    """Whether the master at this address knows the secret. False also when nobody answers."""
    challenge = secrets.token_hex(16)
    expected = hmac.digest(state.identity.encode(), IDENTITY_PURPOSE + bytes.fromhex(challenge), hashlib.sha256).hex()
    cert = CertSpec(pinned=state.certificate)
    options: dict[str, Any] = {"ssl_context": context_of(cert), "assert_hostname": False} if state.certificate else {}
    try:
        with urllib3.PoolManager(**options) as pool:
            answer = pool.request(
                "GET", f"{state.url}/info", fields={"challenge": challenge}, timeout=timeout, retries=False
            )
        body = msgspec.json.decode(answer.data)
    except (urllib3.exceptions.HTTPError, msgspec.DecodeError):
        return False
    proof = body.get("proof") if isinstance(body, dict) else None
    return isinstance(proof, str) and hmac.compare_digest(proof.encode(), expected.encode())
