"""Aliases of model versions as users see them."""

from dataclasses import dataclass
from datetime import datetime

from determined.wire.model_alias import ModelAlias as WireModelAlias
from determined.wire.model_alias import ModelAliasChange as WireModelAliasChange


@dataclass(frozen=True)
class ModelAlias:
    """A name of a version, such as "production", with who set it and when."""

    alias: str
    version: int
    username: str
    set_time: datetime

    @classmethod
    def _from_wire(cls, row: WireModelAlias) -> "ModelAlias":
        return cls(row.alias, row.version, row.username, datetime.fromisoformat(row.set_time))


@dataclass(frozen=True)
class ModelAliasChange:
    """A change of an alias. `version` is None where it was removed, `previous_version` where it was new."""

    alias: str
    version: int | None
    previous_version: int | None
    username: str
    time: datetime

    @classmethod
    def _from_wire(cls, row: WireModelAliasChange) -> "ModelAliasChange":
        return cls(row.alias, row.version, row.previous_version, row.username, datetime.fromisoformat(row.time))
