"""Secrets in command lines and addresses: found by the names beside them, and replaced by a mask. Pure."""

import json
import math
import re
from collections.abc import Iterator, Sequence

from determined.constants import MASKED

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SECRET = re.compile(
    r"(?:^|[_.-])(?:token|bearer|jwt|signature|[a-z0-9]*(?:passwords?|passwd)|passphrase|secrets?|api[_-]?key|authorization|credentials?)"
    r"(?:$|[_.-])"
    r"|(?:^|[_.-])(?:pass|pwd|auth|key|cookies?)$",
    re.IGNORECASE,
)
# `user:password@` and `token@` of a URL, also a password with a slash in it; `host:80/` is no user.
_LOGIN = re.compile(r"(?<=://)(?:[^/?#\s]*@|[^/?#\s:@]*:(?!\d+(?:[/?#]|$))\S*@)")
_HEADER = re.compile(r"([\w-]+):(\s*)\S.*", re.DOTALL)  # of HTTP: `Authorization: Bearer abc`
_QUOTED_HEADER = re.compile(r"(?<=[\"'])([\w-]+):(\s+)[^\"']+(?=[\"'])")
_PARAMETER = re.compile(r"(?<=[?&;])([^?=&#\s]+)=[^&#\s]*")
_NAMES = re.compile(r"(?<![\w.-])[\w.-]+(?=[\"']?\s*[:=])")
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][\w+.-]*://)(?P<authority>[^/?#\s]*)(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)


def is_secret(name: str) -> bool:
    """Return whether an option or key of this name holds a secret: `dbPassword`, `hf_token`, `openai-key`."""
    return _SECRET.search(_CAMEL.sub("_", name)) is not None


def _is_secret_parameter(name: str) -> bool:
    """Return whether a parameter of a URL holds a secret; `sig` is that of Azure's shared access signatures."""
    return is_secret(name) or name.lower() == "sig"


def masked_words(words: Sequence[str]) -> list[str]:
    """Return the words of a command with secrets masked."""
    return list(_masked_words(words))


def masked_value(value: object) -> object:
    """Return a value as JSON has it, with secrets in it masked; numbers that JSON does not know become text."""
    if isinstance(value, dict):
        return {key: MASKED if is_secret(key) else masked_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [masked_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return masked_text(value) if isinstance(value, str) else value


def masked_text(text: str) -> str:
    """Return a text with the secrets in it masked: of JSON, of a command, of URLs."""
    if text[:1] in {"[", "{"}:
        return _masked_json(text)
    header = _HEADER.fullmatch(text)
    if header is not None and is_secret(header[1]):
        return f"{header[1]}:{header[2]}{MASKED}"
    text = _QUOTED_HEADER.sub(lambda found: f"{found[1]}:{found[2]}{MASKED}" if is_secret(found[1]) else found[0], text)
    if " " in text:
        return " ".join(_masked_words(text.split(" ")))
    text = _PARAMETER.sub(lambda found: f"{found[1]}={MASKED}" if _is_secret_parameter(found[1]) else found[0], text)
    return _LOGIN.sub(f"{MASKED}@", text)


def remote_without_credentials(url: str) -> str | None:
    """Return the address of a remote without user, password and query; None where a password may remain."""
    parts = _ADDRESS.fullmatch(url)
    if parts is None:
        return url  # `git@host:path` and directories hold none
    if "@" in parts["path"] + parts["rest"]:
        return None  # perhaps the end of a password with a slash or a question mark in it
    return parts["scheme"] + parts["authority"].rpartition("@")[2] + parts["path"]


def _masked_words(words: Sequence[str]) -> Iterator[str]:
    is_value_secret = False
    for word in words:
        option, equals, value = word.partition("=")
        name = option.lstrip("-+")
        if is_value_secret:
            yield MASKED
        elif equals and is_secret(name) and " " not in name:
            yield f"{option}={MASKED}"
        elif equals and name.isidentifier():
            yield f"{option}={masked_text(value)}"
        else:
            yield masked_text(word)
        is_value_secret = not is_value_secret and word.startswith("-") and not equals and is_secret(name)


def _masked_json(text: str) -> str:
    """Return JSON with secrets masked, unchanged where it has none; what cannot be parsed is masked as a whole."""
    try:
        content = json.loads(text)
        masked = masked_value(content)
    except (ValueError, RecursionError):
        return MASKED if any(map(is_secret, _NAMES.findall(text))) else _LOGIN.sub(f"{MASKED}@", text)
    return text if masked == content else json.dumps(masked)
