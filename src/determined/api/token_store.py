"""Login tokens and the active user per master, in `<config dir>/auth.json` (upstream's version 2 format)."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from determined.api.address import canonical
from determined.api.own_master import locked, write_private
from determined.errors import DeterminedError

_VERSION = 2


class CorruptTokenCache(DeterminedError):
    code = "corrupt_token_cache"


@dataclass(slots=True)
class MasterEntry:
    active_user: str | None = None
    tokens: dict[str, str] = field(default_factory=dict)


class TokenStore:
    """Store of tokens, one per master. Each call reads and replaces the file under a lock: processes may share it."""

    def __init__(self, master_url: str, directory: Path, *, name: str = "auth.json") -> None:
        self.master_url = canonical(master_url)
        self.path = directory / name

    def active_user(self) -> str | None:
        return self._read().active_user

    def token(self, user: str) -> str | None:
        return self._read().tokens.get(user)

    def users(self) -> list[str]:
        return sorted(self._read().tokens)

    def save(self, user: str, token: str) -> None:
        self._change(lambda entry: entry.tokens.__setitem__(user, token))

    def activate(self, user: str) -> None:
        def change(entry: MasterEntry) -> None:
            entry.active_user = user

        self._change(change)

    def clear_active(self) -> None:
        def change(entry: MasterEntry) -> None:
            entry.active_user = None

        self._change(change)

    def forget_token(self, user: str) -> None:
        """Forget an expired token: the user stays active and is asked for a password next time."""
        self._change(lambda entry: _discard(entry.tokens, user))

    def drop(self, user: str) -> None:
        """Forget a token; a user who was active is no longer."""

        def change(entry: MasterEntry) -> None:
            entry.tokens.pop(user, None)
            if entry.active_user == user:
                entry.active_user = None

        self._change(change)

    def _read(self) -> MasterEntry:
        if not self.path.exists():
            return MasterEntry()
        with self._locked():
            return self._load().get(self.master_url, MasterEntry())

    def _change(self, change: Callable[[MasterEntry], None]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._locked():
            masters = self._load()
            change(masters.setdefault(self.master_url, MasterEntry()))
            self._replace(masters)

    def _locked(self) -> AbstractContextManager[None]:
        return locked(self.path.with_name(f"{self.path.name}.lock"))

    def _load(self) -> dict[str, MasterEntry]:
        try:
            return _parse(json.loads(self.path.read_text()), self.master_url)
        except FileNotFoundError:
            return {}
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            self.path.unlink(missing_ok=True)
            raise CorruptTokenCache(
                f"{self.path} was damaged and has been removed; log in again with: det user login"
            ) from e

    def _replace(self, masters: dict[str, MasterEntry]) -> None:
        data = {
            "version": _VERSION,
            "masters": {
                url: {"active_user": m.active_user, "tokens": m.tokens} if m.active_user else {"tokens": m.tokens}
                for url, m in masters.items()
            },
        }
        # not through a file of a fixed name: one that lies there already would keep its mode and its readers
        write_private(self.path, json.dumps(data, indent=4, sort_keys=True).encode())


def _discard(tokens: dict[str, str], user: str) -> None:
    tokens.pop(user, None)


def _parse(data: Any, master_url: str) -> dict[str, MasterEntry]:
    version = data.get("version", 0)
    if version == 0:
        return {master_url: _entry(data)}
    if version not in {1, _VERSION}:
        raise ValueError(f"unknown version {version}")
    return {canonical(url): _entry(entry) for url, entry in data["masters"].items()}


def _entry(data: dict[str, Any]) -> MasterEntry:
    tokens = data.get("tokens") or {}
    if not all(isinstance(k, str) and isinstance(v, str) for k, v in tokens.items()):
        raise ValueError("tokens must be text")
    active_user = data.get("active_user")
    if not isinstance(active_user, str | None):
        raise ValueError("the active user must be text")
    return MasterEntry(active_user=active_user, tokens=dict(tokens))
