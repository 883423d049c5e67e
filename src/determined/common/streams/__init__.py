"""Upstream's `determined.common.streams`: changes of projects, models and model versions, as they happen."""

from determined.common.streams import wire
from determined.common.streams._client import (
    LomondStreamWebSocket,
    ModelSpec,
    ModelVersionSpec,
    ProjectSpec,
    Stream,
    StreamWebSocket,
    Sync,
)
from determined.common.streams._keys import range_encoded_keys

__all__ = [
    "LomondStreamWebSocket",
    "ModelSpec",
    "ModelVersionSpec",
    "ProjectSpec",
    "Stream",
    "StreamWebSocket",
    "Sync",
    "range_encoded_keys",
    "wire",
]
