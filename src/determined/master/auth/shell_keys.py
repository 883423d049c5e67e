"""SSH keys of a shell: the pair of its owner and that of the server. Both are derived from the cluster secret.

A key is HMAC(cluster secret, purpose and task id), so nothing is stored that another user could read, a shell has the
same keys after a restart of the master, and a shell's keys say nothing about another's. The server gets its own private
key and the owner's public one; the owner's private key never lies in the task.

Ed25519 needs no library (ed25519.py). `security.ssh` of the master config may ask for ECDSA or RSA instead; those need
`cryptography`, which the extra `shell` brings (other_ssh_keys.py).
"""

import functools
import hashlib
import hmac
from dataclasses import dataclass, field

import msgspec

from determined._json import JsonObject
from determined.master.auth import openssh_key
from determined.master.config.file import SshKeys
from determined.wire.shell_settings import ShellSettings

_OWNER, _HOST, _TERMINAL = b"shell owner:", b"shell host:", b"shell terminal:"
_CACHED = 1024  # RSA keys take seconds to derive


@dataclass(frozen=True, slots=True)
class KeyPair:
    """`private`: PEM in OpenSSH's format. `public`: a line of authorized_keys."""

    private: str = field(repr=False)
    public: str


def owner_key(secret: bytes, task_id: str, ssh: SshKeys | None = None) -> KeyPair:
    """Return the key pair with which the owner of a shell logs in.

    An RSA key of 4096 bits takes ten seconds the first time; call this in a thread.

    Raises:
        FailedPrecondition: `security.ssh` asks for a kind that needs a package which is not installed.
    """
    kind = (ssh.key_type if ssh else None) or "ED25519"
    return _owner_key(secret, task_id, kind, ssh.rsa_key_size if ssh else None)


@functools.lru_cache(maxsize=_CACHED)
def host_key(secret: bytes, task_id: str) -> KeyPair:
    """Return the key pair of the server of a shell, by whose public half clients know it. Always Ed25519."""
    return _ed25519_pair(_derive(secret, _HOST, task_id), task_id)


def terminal_key(secret: bytes, task_id: str) -> str:
    """Return the key by which the program of a shell knows the master, which asks for a terminal (wire/terminal.py)."""
    return _derive(secret, _TERMINAL, task_id).hex()


def server_settings(
    secret: bytes, task_id: str, ssh: SshKeys | None, server: str, *, reports_idle: bool = False
) -> JsonObject:
    """Return the settings of `determined.exec.shell_server`.

    Args:
        secret: of the cluster.
        task_id: the shell.
        ssh: `security.ssh` of the master config.
        server: `shell.server` of the shell's config, asyncssh or openssh.
        reports_idle: the shell has an idle timeout.
    """
    settings = ShellSettings(
        host_key=host_key(secret, task_id).private,
        authorized_keys=[owner_key(secret, task_id, ssh).public],
        server=server,
        terminal_key=terminal_key(secret, task_id),
        reports_idle=reports_idle,
    )
    plain: JsonObject = msgspec.to_builtins(settings)
    return plain


@functools.lru_cache(maxsize=_CACHED)
def _owner_key(secret: bytes, task_id: str, kind: str, rsa_bits: int | None) -> KeyPair:
    seed = _derive(secret, _OWNER, task_id)
    if kind == "ED25519":
        return _ed25519_pair(seed, task_id)
    from determined.master.auth import other_ssh_keys

    return KeyPair(*other_ssh_keys.key_pair(seed, kind, rsa_bits))


def _ed25519_pair(seed: bytes, comment: str) -> KeyPair:
    return KeyPair(openssh_key.private_pem(seed, comment), openssh_key.public_line(seed, comment))


def _derive(secret: bytes, purpose: bytes, task_id: str) -> bytes:
    return hmac.digest(secret, purpose + task_id.encode(), hashlib.sha256)
