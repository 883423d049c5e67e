"""Users: passwords stay as upstream hashed them until the first login."""

from determined.master.auth.password import UNUSABLE
from determined.master.db.rows.users import UserSettingValues, UserValues
from determined.master.importing.notes import Note
from determined.master.importing.sources.upstream import rules
from determined.master.importing.sources.upstream.mapping.mapped import Mapped
from determined.master.importing.sources.upstream.reading.users import SettingRow, UserRow


def map_user(row: UserRow) -> Mapped:
    admin = row.admin or row.is_cluster_admin
    values: UserValues = {
        "id": row.id,
        "username": row.username.lower(),
        "display_name": row.display_name or "",
        "password_hash": UNUSABLE if row.password_hash == "" else row.password_hash,
        "admin": admin,
        "active": row.active,
        "remote": row.remote,
        "agent_uid": row.agent_uid,
        "agent_user": row.agent_user,
        "agent_gid": row.agent_gid,
        "agent_group": row.agent_group,
        "created_at": row.modified_at,
        "modified_at": row.modified_at,
        "last_auth_at": row.last_auth_at,
    }
    notes = []
    if admin and not row.admin:
        notes.append(Note(rules.CLUSTER_ADMIN, row.username))
    if row.password_hash is None and row.active and not row.remote:
        notes.append(Note(rules.BLANK_PASSWORD, row.username))
    return Mapped([("users", values)], notes)


def map_setting(row: SettingRow) -> Mapped:
    values: UserSettingValues = {
        "user_id": row.user_id,
        "storage_path": row.storage_path,
        "key": row.key,
        "value": row.value,
    }
    return Mapped([("user_settings", values)])
