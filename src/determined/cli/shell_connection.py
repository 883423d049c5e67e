"""Connection of `ssh` to a shell: the words of the command, its block in an ssh_config, and the files that both name.

Bytes go through the master: ssh starts our tunnel as its ProxyCommand. ssh checks the key of the server, which the
master has told us, in a known_hosts file of this shell's own; the user's is left alone.
"""

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from determined.api.certificates import CertSpec
from determined.api.login import cert_for
from determined.api.session import Session
from determined.errors import FailedPrecondition, Forbidden
from determined.wire.shell import Shell

_DEFAULT_USER = "root"
_SHORT = 8  # characters of an id that tell shells apart


@dataclass(frozen=True, slots=True)
class Master:
    """The master as a tunnel reaches it. `user`: whose login it uses."""

    url: str
    cert: CertSpec | None
    user: str | None

    @classmethod
    def of(cls, session: Session) -> "Master":
        return cls(session.master_url, cert_for(session.master_url), session.username)


@dataclass(frozen=True, slots=True)
class Connection:
    """A shell whose key lies in `directory`."""

    shell: Shell
    master: Master
    directory: Path

    @property
    def user(self) -> str:
        """Name of the account that the shell runs as."""
        return str((self.shell.agent_user_group or {}).get("user") or _DEFAULT_USER)

    @property
    def options(self) -> dict[str, str]:
        """The options of ssh, by their names in an ssh_config."""
        return {
            "ProxyCommand": self._proxy_command(),
            "IdentityFile": f'"{_path(self.directory / "key")}"',
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": f'"{_path(self.directory / "known_hosts")}"',
            "GlobalKnownHostsFile": "none",
            "StrictHostKeyChecking": "yes",
            "UpdateHostKeys": "no",
            "HostKeyAlias": self.shell.id,
        }

    def argv(self, words: Sequence[str] = (), *, terminal: bool = True) -> list[str]:
        """Return the command that connects.

        ssh itself asks for a terminal when there is no command; it must not where standard input is none. `words` are
        options of ssh or a command: ssh takes both after the host.
        """
        flags = [f"-o{name}={value}" for name, value in self.options.items()]
        return ["ssh", *flags, *([] if terminal else ["-T"]), f"{self.user}@{self.shell.id}", *words]

    def host_block(self) -> str:
        """Return the block for an ssh_config, with which editors and other programs connect."""
        lines = [f"Host {short_name(self.shell.id)} {self.shell.id}", f"    HostName {self.shell.id}"]
        lines += [f"    User {self.user}", *(f"    {name} {value}" for name, value in self.options.items())]
        return "\n".join(lines) + "\n"

    def _proxy_command(self) -> str:
        words = [_path(Path(sys.executable)), "-m", "determined.cli.tunnel", self.master.url, "%h"]
        cert = self.master.cert
        # A pinned certificate is in this user's own store, where the tunnel finds it too.
        if cert is not None and cert.file:
            words += ["--cert-file", cert.file]
        if cert is not None and cert.name:
            words += ["--cert-name", cert.name]
        if self.master.user:
            words += ["-u", self.master.user]
        return " ".join(word if word == "%h" else shlex.quote(word).replace("%", "%%") for word in [*words, "--auth"])


def prepare(shell: Shell, master: Master, directory: Path) -> Connection:
    """Write the key of a shell into an existing private directory, and beside it the public key of its server.

    Raises:
        Forbidden: the master did not show us the key.
    """
    if not shell.private_key:
        raise Forbidden(f"shell {shell.id} belongs to {shell.username}: its owner and administrators can open it")
    if not shell.host_public_key:
        raise FailedPrecondition(f"the master did not send the host key of shell {shell.id}; upgrade the master")
    _write(directory / "key", shell.private_key)
    _write(directory / "known_hosts", f"{shell.id} {' '.join(shell.host_public_key.split()[:2])}\n")
    return Connection(shell, master, directory)


def keep(shell: Shell, master: Master, cache: Path) -> Connection:
    """Write the files to a place where they stay as long as the shell, for commands that the user starts later."""
    directory = cache / "shell" / shell.id
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = prepare(shell, master, directory)
    _write(directory / "config", connection.host_block())
    return connection


def forget(shell_ids: Sequence[str], cache: Path) -> None:
    """Remove the files of shells that have ended."""
    for shell_id in shell_ids:
        if "/" not in shell_id and shell_id not in ("", ".", ".."):
            shutil.rmtree(cache / "shell" / shell_id, ignore_errors=True)


def kept(cache: Path) -> list[str]:
    """Return the ids of shells whose files are kept."""
    folder = cache / "shell"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def short_name(shell_id: str) -> str:
    """Return the name of a shell in an ssh_config."""
    return f"det-{shell_id[:_SHORT]}"


def _write(path: Path, text: str) -> None:
    """Write a file that only this user may read. It is new: one that lay there could be open to others."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(text)


def _path(path: Path) -> str:
    return path.as_posix()  # ssh on Windows takes a backslash for an escape
