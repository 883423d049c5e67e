"""ssh between the nodes of one task, for launchers that cannot do without: keys made here, sshd, reaching the peers.

Every node makes its own keys and tells the others only the public halves, through the master; nothing secret travels.
"""

import contextlib
import shutil
import socket
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from determined._info import ClusterInfo
from determined.api.session import CertSpec, Session
from determined.errors import FailedPrecondition

_TOPIC = "ssh keys"
_GREETING = b"SSH-"
_CONFIG = """
ListenAddress {address}
HostKey {directory}/host
AuthorizedKeysFile {directory}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """Files of this node, in a directory of the task's own."""

    directory: Path

    @property
    def identity(self) -> Path:
        return self.directory / "identity"


def session_of(info: ClusterInfo) -> Session:
    return Session(
        info.master_url,
        token=info.session_token,
        allocation_token=True,
        allocation_id=info.allocation_id,
        cert=CertSpec(info.master_cert_file, info.master_cert_name),
    )


def exchange_keys(session: Session, info: ClusterInfo, directory: Path) -> Keys:
    """Blocks until every node has told its own. Afterwards the chief may log in everywhere, and nobody else."""
    directory.mkdir(mode=0o700, exist_ok=True)
    keys = Keys(directory)
    _make_key(directory / "host")
    own = {"rank": info.container_rank, "public": _make_key(keys.identity)}
    body = {
        "allocationId": info.allocation_id, "requestUuid": str(uuid.uuid4()), "topic": _TOPIC,
        "numPeers": len(info.container_addrs), "data": own,
    }  # fmt: skip
    everyone = session.post(f"/api/v1/allocations/{info.allocation_id}/all_gather", body)["data"]
    chief = next(peer["public"] for peer in everyone if int(peer["rank"]) == 0)
    (directory / "authorized_keys").write_text(f"{chief}\n")
    return keys


def sshd(keys: Keys, address: str, port: int) -> list[str]:
    """The command that serves this node. Raises FailedPrecondition where there is no sshd."""
    found = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin") or shutil.which("sshd")
    if found is None:
        raise FailedPrecondition("Horovod on several nodes needs sshd, and this node has none; install openssh-server")
    config = keys.directory / "sshd_config"
    config.write_text(_CONFIG.format(directory=keys.directory, address=address))
    return [found, "-D", "-e", "-f", str(config), "-p", str(port)]


def wait_for_peers(addresses: list[str], port: int, seconds: float) -> None:
    """Until each has greeted. Raises FailedPrecondition naming the first that did not."""
    deadline = time.monotonic() + seconds
    for address in addresses:
        while not _greets(address, port):
            if time.monotonic() > deadline:
                raise FailedPrecondition(f"no sshd answers at {address} port {port} within {seconds:g} s; see its log")
            time.sleep(0.2)


def _make_key(path: Path) -> str:
    """The public half."""
    for old in (path, path.with_suffix(".pub")):
        old.unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "determined", "-f", str(path)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.SubprocessError) as e:
        raise FailedPrecondition(f"ssh-keygen does not work on this node ({e}); install openssh-client") from e
    return path.with_suffix(".pub").read_text().strip()


def _greets(address: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1) as connection:
        return connection.recv(len(_GREETING)) == _GREETING
    return False
