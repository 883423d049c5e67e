"""Ed25519 keys as OpenSSH writes them: the private one as a PEM file without a passphrase, the public one as a line.

The format is OpenSSH's own PROTOCOL.key: a magic word, the names of cipher and key derivation, the public half, and the
private half between two equal numbers, padded with 1, 2, 3.
"""

import base64
import textwrap

from determined.master.auth import ed25519

_TYPE = b"ssh-ed25519"
_MAGIC = b"openssh-key-v1\0"
_BLOCK = 8  # what the private half is padded to when nothing encrypts it


def private_pem(seed: bytes, comment: str) -> str:
    """Return the private key as `ssh -i` reads it."""
    public = ed25519.public_key(seed)
    # The two numbers tell a reader whether it deciphered the rest. Nothing is enciphered here, so they may be constant:
    # the same seed then gives the same file.
    check = b"\0\0\0\0"
    private = 2 * check + _strings(_TYPE, public, seed + public, comment.encode())
    private += bytes(range(1, -len(private) % _BLOCK + 1))
    count = (1).to_bytes(4, "big")
    body = _MAGIC + _strings(b"none", b"none", b"") + count + _strings(_public_blob(public), private)
    lines = textwrap.wrap(base64.b64encode(body).decode(), 70)
    return "\n".join(["-----BEGIN OPENSSH PRIVATE KEY-----", *lines, "-----END OPENSSH PRIVATE KEY-----", ""])


def public_line(seed: bytes, comment: str = "") -> str:
    """Return the public key as authorized_keys and known_hosts have it."""
    blob = base64.b64encode(_public_blob(ed25519.public_key(seed))).decode()
    return f"{_TYPE.decode()} {blob} {comment}".rstrip()


def _public_blob(public: bytes) -> bytes:
    return _strings(_TYPE, public)


def _strings(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
