"""Rows of people: users, their sessions and settings.

Written by scripts/make_rows.py from db/schema/users.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec


class User(msgspec.Struct, frozen=True):
    id: int
    username: str
    display_name: str
    password_hash: str | None
    admin: bool
    active: bool
    remote: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    created_at: datetime
    modified_at: datetime
    last_auth_at: datetime | None


class UserValues(TypedDict, total=False):
    id: int
    username: str
    display_name: str
    password_hash: str | None
    admin: bool
    active: bool
    remote: bool
    agent_uid: int | None
    agent_user: str | None
    agent_gid: int | None
    agent_group: str | None
    created_at: datetime
    modified_at: datetime
    last_auth_at: datetime | None


class SessionValues(TypedDict, total=False):
    id: int
    user_id: int
    token_hash: str
    kind: str
    description: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    parent_id: int | None


class UserSettingValues(TypedDict, total=False):
    user_id: int
    storage_path: str
    key: str
    value: str | None
