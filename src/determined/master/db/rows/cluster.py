"""Rows of the cluster itself: its settings, what people set on nodes, nodes added by hand.

Written by scripts/make_rows.py from db/schema/cluster.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonValue


class ClusterSettingValues(TypedDict, total=False):
    key: str
    value: JsonValue


class NodeOverride(msgspec.Struct, frozen=True):
    """Nodes and slots that people enabled, disabled or drained; slot_id -1 is the whole node."""

    node_id: str
    slot_id: int
    enabled: bool
    draining: bool


class NodeOverrideValues(TypedDict, total=False):
    node_id: str
    slot_id: int
    enabled: bool
    draining: bool


class LocalNode(msgspec.Struct, frozen=True):
    """Nodes added to the local engine at run time (`det deploy local agent-up`)."""

    node_id: str
    pool: str
    slots: int
    created_at: datetime


class LocalNodeValues(TypedDict, total=False):
    node_id: str
    pool: str
    slots: int
    created_at: datetime
