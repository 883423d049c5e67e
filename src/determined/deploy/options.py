"""Options that a master of this user is started with, kept beside its data so that the next start is the same."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from determined.api.own_master import write_private
from determined.wire.codec import text_of

_FILE = "options.json"

AUTO: Literal["auto"] = "auto"
SlotsOption = int | Literal["auto"]  # artificial CPU slots; auto: the GPUs, or one CPU slot


class MasterOptions(msgspec.Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = 0  # 0: the port it had before where that is free, else any
    config_file: str | None = None
    config: dict[str, Any] = {}
    slots: int | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return text_of(self)


def stored(directory: Path) -> MasterOptions:
    """Return the options of the last start; the defaults when there was none or its record cannot be read."""
    try:
        return msgspec.json.decode((directory / _FILE).read_bytes(), type=MasterOptions)
    except (FileNotFoundError, msgspec.DecodeError):
        return MasterOptions()


def keep(directory: Path, options: MasterOptions) -> None:
    write_private(directory / _FILE, msgspec.json.format(msgspec.json.encode(options), indent=2))
