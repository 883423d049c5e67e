"""Names that look like secrets: of variables and keys, and logins inside of URLs."""

import re

from determined.constants import MASKED

# Each word of a variable's name, upper case: WANDB_API_KEY, HF_TOKEN, DBPASSWORD; not TOKENIZERS_PARALLELISM.
_SECRET_WORD = re.compile(
    r".*(?:KEYS?|TOKEN|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|CREDS?)|PASS|PWD|AUTH|AUTHORIZATION|DSN"
)
_NOT_SECRET = frozenset({"PWD", "OLDPWD"})
_CONNECTION = "CONNECTION_STRING"
# Keys of `data`, which is the user's own: only words that mean nothing else there; `pad_token` is a tokenizer's.
_SECRET_KEY = re.compile(
    r"(?:.*[_-])?(?:password|passwd|passphrase|secret|secret_?key|access_?key|private_?key|api_?key|api_?token|"
    r"auth_?token|access_?token|credentials?)",
    re.IGNORECASE,
)
# `://user:password@` of any scheme, and `https://token@`; a path, query or fragment is no login.
_LOGIN = re.compile(r"(?<=://)[^/?#\s:@]*:[^/?#\s]*@|(?<=http://)[^/?#\s]+@|(?<=https://)[^/?#\s]+@")
_SHOWN_LOGIN, _EMPTY_LOGIN = f"://{MASKED}@", "://:@"


def is_secret_variable(name: str) -> bool:
    """Return whether an environment variable of this name holds a secret, as far as its name tells."""
    upper = name.upper()
    if upper in _NOT_SECRET:
        return False
    return _CONNECTION in upper or any(_SECRET_WORD.fullmatch(word) for word in re.split(r"[^A-Z0-9]+", upper))


def is_secret_key(name: str) -> bool:
    """Return whether a key of `data` names a secret."""
    return _SECRET_KEY.fullmatch(name) is not None


def mask_logins(text: str) -> str:
    """Hide the user and password in every URL of a text."""
    return _LOGIN.sub(f"{MASKED}@", text) if "@" in text else text


def mask_variable(entry: str) -> str:
    """Hide the value of `NAME=value` where the name looks like a secret's, else only logins in it."""
    name, equals, value = entry.partition("=")
    if equals and is_secret_variable(name):
        return f"{name}={MASKED}"
    return f"{name}{equals}{mask_logins(value)}"


def unmask(text: str) -> str:
    """Put something empty in the place of a mask, which `mask_logins` and `mask_variable` would mask again."""
    if text == MASKED:
        return ""
    return text.replace(_SHOWN_LOGIN, _EMPTY_LOGIN).removesuffix(MASKED) if MASKED in text else text
