"""Rows of the model registry: models, versions, aliases of versions and the history of those.

Written by scripts/make_rows.py from db/schema/models.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class Model(msgspec.Struct, frozen=True):
    id: int
    name: str
    description: str
    metadata: JsonObject
    labels: list[str]
    notes: str
    user_id: int
    workspace_id: int
    archived: bool
    last_version: int
    num_versions: int
    created_at: datetime
    updated_at: datetime


class ModelValues(TypedDict, total=False):
    id: int
    name: str
    description: str
    metadata: JsonObject
    labels: list[str]
    notes: str
    user_id: int
    workspace_id: int
    archived: bool
    last_version: int
    num_versions: int
    created_at: datetime
    updated_at: datetime


class ModelVersion(msgspec.Struct, frozen=True):
    id: int
    model_id: int
    version: int
    checkpoint_uuid: str
    user_id: int
    name: str
    comment: str
    notes: str
    metadata: JsonObject
    labels: list[str]
    created_at: datetime
    updated_at: datetime


class ModelVersionValues(TypedDict, total=False):
    id: int
    model_id: int
    version: int
    checkpoint_uuid: str
    user_id: int
    name: str
    comment: str
    notes: str
    metadata: JsonObject
    labels: list[str]
    created_at: datetime
    updated_at: datetime


class ModelAlias(msgspec.Struct, frozen=True):
    """Name of a version that can be moved to another: `production`."""

    model_id: int
    alias: str
    version: int
    user_id: int
    set_at: datetime


class ModelAliasValues(TypedDict, total=False):
    model_id: int
    alias: str
    version: int
    user_id: int
    set_at: datetime


class ModelAliasChange(msgspec.Struct, frozen=True):
    """Change of an alias: it was set, moved (`previous_version`) or removed (no `version`)."""

    id: int
    model_id: int
    alias: str
    version: int | None
    previous_version: int | None
    user_id: int
    changed_at: datetime


class ModelAliasChangeValues(TypedDict, total=False):
    id: int
    model_id: int
    alias: str
    version: int | None
    previous_version: int | None
    user_id: int
    changed_at: datetime
