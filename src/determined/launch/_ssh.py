"""ssh between the nodes of one task, for launchers that cannot do without: keys made here, sshd, reaching the peers.

Every node makes its own keys and tells the others only the public halves, through the master; nothing secret travels.
"""

import contextlib
import shlex
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from determined._info import ClusterInfo
from determined.api.session import CertSpec, Session
from determined.errors import FailedPrecondition
from determined.wire.allocation import ALL_GATHER, AllocationAllGatherRequest

_TOPIC = "ssh keys"
_GREETING = b"SSH-"
_REPLY = b"SSH-2.0-determined\r\n"  # without it sshd would log a stranger
# MaxStartups: all ranks of a node log in at once, and from the tenth on sshd would begin to turn them away.
_CONFIG = """
ListenAddress {address}
Port {port}
HostKey {host}
AuthorizedKeysFile {authorized}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
AllowTcpForwarding no
AllowAgentForwarding no
X11Forwarding no
MaxStartups 1000
LogLevel ERROR
SetEnv {variables}
"""
# Found by horovodrun instead of the system's; of options given twice the first counts.
_SSH = """#!/bin/sh
exec {ssh} -F none -o StrictHostKeyChecking=yes -o {known} -o GlobalKnownHostsFile=/dev/null \\
    -o IdentitiesOnly=yes -o BatchMode=yes "$@"
"""
# Where Debian's sshd must find an empty directory when root starts it; its service makes it, and here is no service.
_PRIVILEGE_SEPARATION = Path("/run/sshd")


@dataclass(frozen=True, slots=True)
class Keys:
    """Files of this node, in a directory of the task's own; `hosts`: the public key of every node's sshd."""

    directory: Path
    hosts: list[str]

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
    host, public = _make_key(directory / "host"), _make_key(directory / "identity")
    request = AllocationAllGatherRequest(
        allocation_id=info.allocation_id,
        request_uuid=str(uuid.uuid4()),
        topic=_TOPIC,
        num_peers=len(info.container_addrs),
        data={"rank": info.container_rank, "public": public, "host": host},
    )
    peers = session.call(ALL_GATHER, request, allocation_id=info.allocation_id).data
    everyone = sorted(peers, key=lambda peer: int(peer["rank"]))
    (directory / "authorized_keys").write_text(f"{everyone[0]['public']}\n")
    return Keys(directory, [peer["host"] for peer in everyone])


def find_sshd() -> str:
    """Return the path of sshd. Raises FailedPrecondition where there is none."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin") or shutil.which("sshd")
    if program is None:
        raise FailedPrecondition("Horovod on several nodes needs sshd, and this node has none; install openssh-server")
    with contextlib.suppress(OSError):
        _PRIVILEGE_SEPARATION.mkdir(mode=0o755)
    return program


def write_sshd_config(keys: Keys, address: str, port: int, variables: Mapping[str, str]) -> Path:
    """`variables`: those that a program which is started by a login finds; sshd gives it none of its own."""
    config = keys.directory / "sshd_config"
    entries = " ".join(_quoted(f"{name}={value}") for name, value in variables.items() if "\n" not in value)
    host, authorized = (_quoted(str(keys.directory / name)) for name in ("host", "authorized_keys"))
    config.write_text(_CONFIG.format(address=address, port=port, host=host, authorized=authorized, variables=entries))
    return config


def write_ssh(keys: Keys, names: list[str], port: int) -> Path:
    """A directory for PATH with an `ssh` that knows the nodes by their own keys, and nobody else."""
    known_hosts = keys.directory / "known_hosts"
    known_hosts.write_text(
        "".join(f"{name},[{name}]:{port} {key}\n" for name, key in zip(names, keys.hosts, strict=True))
    )
    ssh = shutil.which("ssh")
    if ssh is None:
        raise FailedPrecondition("Horovod on several nodes needs ssh, and this node has none; install openssh-client")
    program = keys.directory / "bin" / "ssh"
    program.parent.mkdir(mode=0o700, exist_ok=True)
    program.write_text(_SSH.format(ssh=shlex.quote(ssh), known=shlex.quote(f'UserKnownHostsFile="{known_hosts}"')))
    program.chmod(0o700)
    return program.parent


def wait_for_peers(addresses: list[str], port: int, seconds: float) -> None:
    """Wait until each has greeted. Raises FailedPrecondition naming the first that did not."""
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


def _quoted(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _greets(address: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=1) as connection:
        greeting = connection.recv(len(_GREETING))
        connection.sendall(_REPLY)
        return greeting == _GREETING
    return False
