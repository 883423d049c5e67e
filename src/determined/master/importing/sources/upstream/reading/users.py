"""Upstream's users, their accounts on nodes, settings and roles."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from determined.master.importing.sources.upstream.source import Source

CLUSTER_ADMIN = 1  # id of the role


class UserRow(msgspec.Struct, frozen=True):
    id: int
    username: str
    password_hash: str | None
    admin: bool
    active: bool
    display_name: str | None
    modified_at: datetime
    remote: bool
    last_auth_at: datetime | None
    agent_user: str | None
    agent_uid: int | None
    agent_group: str | None
    agent_gid: int | None
    is_cluster_admin: bool


class SettingRow(msgspec.Struct, frozen=True):
    user_id: int
    storage_path: str
    key: str
    value: str | None  # JSON text


class GroupRow(msgspec.Struct, frozen=True):
    """A group that people made; the hidden personal ones are left out."""

    name: str
    members: list[str]
    roles: list[str]  # `<role id>` or `<role id> in workspace <id>`


_USERS = """
SELECT u.id, u.username, u.password_hash, u.admin, u.active, u.display_name, u.modified_at, u.remote, {last_auth_at},
       a.user_, a.uid, a.group_, a.gid,
       EXISTS (SELECT FROM user_group_membership m
               JOIN role_assignments ra ON ra.group_id = m.group_id
               JOIN role_assignment_scopes s ON s.id = ra.scope_id
               WHERE m.user_id = u.id AND ra.role_id = %(role)s AND s.scope_workspace_id IS NULL)
FROM users u LEFT JOIN agent_user_groups a ON a.user_id = u.id
WHERE u.id = ANY(%(ids)s) ORDER BY u.id
"""
_GROUPS = """
SELECT g.group_name,
       COALESCE((SELECT array_agg(u.username::text ORDER BY u.username) FROM user_group_membership m
                 JOIN users u ON u.id = m.user_id WHERE m.group_id = g.id), '{}'),
       COALESCE((SELECT array_agg(ra.role_id || COALESCE(' in workspace ' || s.scope_workspace_id, '')
                                  ORDER BY ra.role_id)
                 FROM role_assignments ra JOIN role_assignment_scopes s ON s.id = ra.scope_id
                 WHERE ra.group_id = g.id), '{}')
FROM groups g WHERE g.user_id IS NULL ORDER BY g.id
"""


_OWNERS = """
SELECT u.username::text, ARRAY[]::text[],
       array_agg(ra.role_id || COALESCE(' in workspace ' || s.scope_workspace_id, '') ORDER BY ra.role_id)
FROM groups g JOIN users u ON u.id = g.user_id JOIN role_assignments ra ON ra.group_id = g.id
JOIN role_assignment_scopes s ON s.id = ra.scope_id
WHERE NOT (ra.role_id = %(role)s AND s.scope_workspace_id IS NULL) GROUP BY u.id, u.username ORDER BY u.id
"""


def ids(source: Source) -> list[int]:
    return [id_ for (id_,) in source.tuples("SELECT id FROM users ORDER BY id")]


def names(source: Source) -> dict[str, int]:
    return {str(name): id_ for name, id_ in source.tuples("SELECT username::text, id FROM users")}


def read(source: Source, user_ids: Sequence[int]) -> list[UserRow]:
    query = _USERS.format(last_auth_at=source.column("users", "last_auth_at", "u.last_auth_at"))
    return source.rows(query, UserRow, {"ids": list(user_ids), "role": CLUSTER_ADMIN})


def settings(source: Source, user_ids: Sequence[int]) -> list[SettingRow]:
    query = "SELECT user_id, storage_path, key, value::text FROM user_web_settings WHERE user_id = ANY(%(ids)s)"
    return source.rows(query, SettingRow, {"ids": list(user_ids)})


def groups(source: Source) -> list[GroupRow]:
    return source.rows(_GROUPS, GroupRow)


def owners_of_roles(source: Source) -> list[GroupRow]:
    """List users with roles of their own, by the hidden groups of one; ClusterAdmin has a place here."""
    return source.rows(_OWNERS, GroupRow, {"role": CLUSTER_ADMIN})


def access_tokens(source: Source) -> list[tuple[str, str]]:
    """List (user, description) of the access tokens that were valid."""
    query = """
    SELECT u.username::text, COALESCE(s.description, '') FROM user_sessions s JOIN users u ON u.id = s.user_id
    WHERE s.token_type::text = 'ACCESS_TOKEN' AND s.revoked_at IS NULL ORDER BY 1, 2
    """
    return [(str(name), str(text)) for name, text in source.tuples(query)]
