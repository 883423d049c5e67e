"""Model: versions, metadata, labels and aliases of one name in the model registry."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self

from determined.api import model as api
from determined.api import model_alias, model_version
from determined.api.session import Session
from determined.sdk.deprecation import warn_deprecated
from determined.sdk.enums import OrderBy
from determined.sdk.model_alias import ModelAlias, ModelAliasChange
from determined.sdk.model_version import ModelVersion
from determined.wire.base import OrderBy as WireOrderBy
from determined.wire.model import Model as WireModel
from determined.wire.model import PatchModel
from determined.wire.model_alias import ListModelAliasHistory, PutModelAliasRequest
from determined.wire.model_version import ListModelVersions, PostModelVersionRequest


class Model:
    """A registered model. Attributes are those of the last `reload()`; None before the first.

    Example:
        >>> model = client.create_model("mnist", description="digits")
        >>> version = model.register_version(checkpoint.uuid)
        >>> model.set_alias("production", version.model_version)
        >>> client.get_model("mnist").get_version("production").download("serving")
    """

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self.name = name
        self.model_id: int | None = None
        self.description: str | None = None
        self.creation_time: datetime | None = None
        self.last_updated_time: datetime | None = None
        self.metadata: dict[str, Any] | None = None
        self.labels: list[str] | None = None
        self.username: str | None = None
        self.workspace_id: int | None = None
        self.archived: bool | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self._key))

    def get_version(self, version: int | str = -1) -> ModelVersion | None:
        """Return a version by its number or by an alias; the latest by default.

        Args:
            version: a number, an alias such as "production", or -1 for the latest version.

        Returns:
            The version; None where the latest is asked for and the model has none.

        Raises:
            NotFound: the model has no such version or alias.
        """
        if version != -1:
            return ModelVersion._from_wire(self._session, model_version.get(self._session, self._key, version))
        latest = ListModelVersions(limit=1, order_by=WireOrderBy.DESC)
        rows = model_version.iterate(self._session, self._key, latest, all_pages=False)
        return next((ModelVersion._from_wire(self._session, row) for row in rows), None)

    def list_versions(self, order_by: OrderBy = OrderBy.DESC) -> list[ModelVersion]:
        """List all versions, the latest first unless `order_by` says otherwise."""
        params = ListModelVersions(order_by=WireOrderBy(order_by.value))
        rows = model_version.iterate(self._session, self._key, params)
        return [ModelVersion._from_wire(self._session, row) for row in rows]

    def get_versions(self, order_by: OrderBy = OrderBy.DESC) -> list[ModelVersion]:
        """Deprecated: list_versions."""
        warn_deprecated("Model.get_versions()", "Model.list_versions()")
        return self.list_versions(order_by)

    def register_version(self, checkpoint_uuid: str) -> ModelVersion:
        """Make a checkpoint the next version of this model; it is then kept by garbage collection.

        Raises:
            NotFound: there is no such checkpoint.
            FailedPrecondition: the model is archived, or the checkpoint is not COMPLETED.
        """
        request = PostModelVersionRequest(checkpoint_uuid=checkpoint_uuid, model_name=self.name)
        return ModelVersion._from_wire(self._session, model_version.register(self._session, self._key, request))

    def set_alias(self, alias: str, version: int | str, expected_version: int | None = None) -> ModelAlias:
        """Point an alias, such as "production", at a version, wherever it pointed before.

        Args:
            alias: begins with a letter, and has letters, digits, `.`, `_` and `-`.
            version: a number, another alias, or "latest".
            expected_version: the number that the alias has now, 0 for none; by default it does not matter.

        Raises:
            NotFound: the model has no such version.
            Conflict: somebody else has moved the alias: it does not have `expected_version`.
        """
        request = PutModelAliasRequest(version=version, expected_version=expected_version)
        return ModelAlias._from_wire(model_alias.put(self._session, self._key, alias, request))

    def remove_alias(self, alias: str) -> None:
        """Remove an alias. Raises NotFound when the model has no such alias."""
        model_alias.remove(self._session, self._key, alias)

    def list_aliases(self) -> list[ModelAlias]:
        return [ModelAlias._from_wire(row) for row in model_alias.listing(self._session, self._key)]

    def list_alias_changes(self, alias: str | None = None) -> list[ModelAliasChange]:
        """List who changed which alias and when, oldest first; only of one alias where it is given."""
        rows = model_alias.history(self._session, self._key, ListModelAliasHistory(alias=alias))
        return [ModelAliasChange._from_wire(row) for row in rows]

    def add_metadata(self, metadata: dict[str, Any]) -> None:
        """Replace the given top-level keys."""
        self.reload()
        self._patch(PatchModel(metadata={**(self.metadata or {}), **metadata}))

    def remove_metadata(self, keys: list[str]) -> None:
        """Remove top-level keys. Raises ValueError when `keys` is no list of texts."""
        names = _texts("remove_metadata()", keys)
        self.reload()
        self._patch(PatchModel(metadata={k: v for k, v in (self.metadata or {}).items() if k not in names}))

    def set_labels(self, labels: list[str]) -> None:
        """Replace all labels. Raises ValueError when `labels` is no list of texts."""
        self._patch(PatchModel(labels=_texts("set_labels()", labels)))

    def set_description(self, description: str) -> None:
        self._patch(PatchModel(description=description))

    def move_to_workspace(self, workspace_name: str) -> None:
        self._patch(PatchModel(workspace_name=workspace_name))

    def archive(self) -> None:
        """Refuse changes and new versions from now on; versions can still be read."""
        api.act(self._session, self._key, "archive")
        self.archived = True

    def unarchive(self) -> None:
        api.act(self._session, self._key, "unarchive")
        self.archived = False

    def delete(self) -> None:
        """Delete the model with its versions; their checkpoints stay."""
        api.delete(self._session, self._key)

    def __repr__(self) -> str:
        return f"Model(id={self.model_id}, name={self.name}, metadata={json.dumps(self.metadata)})"

    @classmethod
    def _from_wire(cls, session: Session, row: WireModel) -> "Model":
        return cls(session, row.name)._load(row)

    @property
    def _key(self) -> str | int:
        """Return the key for requests: the id if it is known (it survives a new name), else the name."""
        return self.name if self.model_id is None else self.model_id

    def _load(self, row: WireModel) -> Self:
        self.model_id, self.name, self.description = row.id, row.name, row.description or ""
        self.creation_time = datetime.fromisoformat(row.creation_time)
        self.last_updated_time = datetime.fromisoformat(row.last_updated_time)
        self.metadata, self.labels = dict(row.metadata or {}), list(row.labels or [])
        self.username, self.workspace_id, self.archived = row.username, row.workspace_id, row.archived
        return self

    def _patch(self, changes: PatchModel) -> None:
        self._load(api.patch(self._session, self._key, changes))


def _texts(call: str, values: Any) -> list[str]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{call} takes a list of texts, got {values!r}")
    texts = list(values)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{call} takes a list of texts, got {texts!r}")
    return texts
