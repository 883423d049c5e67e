"""Messages of `/stream` by upstream's names (docs/architecture/stream.md)."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

__all__ = [
    "DeleteMsg",
    "ModelMsg",
    "ModelVersionMsg",
    "ModelVersionsDeleted",
    "ModelsDeleted",
    "ProjectMsg",
    "ProjectsDeleted",
    "ServerMsg",
]


@dataclass
class ServerMsg:
    """A row that is new or has changed; `seq` grows from one change to the next."""

    @classmethod
    def from_json(cls, obj: dict[str, Any]) -> Self:
        """Read a decoded message; fields of later releases are ignored."""
        return cls(**{field.name: obj[field.name] for field in fields(cls)})

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class DeleteMsg:
    """Ids of rows that are gone: "1,4-9"."""

    keys: str

    @classmethod
    def from_json(cls, keys: str) -> Self:
        return cls(keys)

    def to_json(self) -> str:
        return self.keys


@dataclass
class ProjectMsg(ServerMsg):
    id: int
    name: str
    description: str
    archived: bool
    created_at: float
    notes: Any
    workspace_id: int
    user_id: int
    immutable: bool
    state: str
    key: str
    seq: int


class ProjectsDeleted(DeleteMsg):
    pass


@dataclass
class ModelMsg(ServerMsg):
    id: int
    name: str
    description: str
    archived: bool
    creation_time: float
    notes: str
    workspace_id: int
    user_id: int
    last_updated_time: float
    metadata: Any
    labels: list[str]
    seq: int


class ModelsDeleted(DeleteMsg):
    pass


@dataclass
class ModelVersionMsg(ServerMsg):
    id: int
    name: str
    version: int
    checkpoint_uuid: str
    creation_time: float
    last_updated_time: float
    metadata: Any
    model_id: int
    user_id: int
    comment: str
    labels: list[str]
    notes: str
    workspace_id: str  # a text, as upstream sends it
    seq: int


class ModelVersionsDeleted(DeleteMsg):
    pass
