"""Upstream's `determined.common.streams`: changes of projects, models and model versions, as they happen."""

from determined.common.streams import wire
from determined.common.streams._client import ModelSpec, ModelVersionSpec, ProjectSpec, Stream, Sync
from determined.common.streams._keys import range_encoded_keys
from determined.common.streams._socket import LomondStreamWebSocket, StreamWebSocket

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
