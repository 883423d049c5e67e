"""The OS identity linked to a user or a workspace, between its columns and the wire."""

from typing import Protocol

from determined.errors import InvalidArgument
from determined.master.db.rows.users import UserValues
from determined.master.db.rows.workspaces import WorkspaceValues
from determined.master.services.naming import checked_text
from determined.wire.user import AgentUserGroup

_LARGEST = 2**31 - 1
_WIRE_NAMES = {
    "agent_uid": "agentUid",
    "agent_user": "agentUser",
    "agent_gid": "agentGid",
    "agent_group": "agentGroup",
}
COLUMNS = tuple(_WIRE_NAMES)


class HasAgentUser(Protocol):
    @property
    def agent_uid(self) -> int | None: ...
    @property
    def agent_user(self) -> str | None: ...
    @property
    def agent_gid(self) -> int | None: ...
    @property
    def agent_group(self) -> str | None: ...


def to_wire(row: HasAgentUser) -> AgentUserGroup | None:
    """Return the linked user and group; None when nothing is linked."""
    link = AgentUserGroup(
        agent_uid=row.agent_uid, agent_user=row.agent_user, agent_gid=row.agent_gid, agent_group=row.agent_group
    )
    return None if link == AgentUserGroup() else link


def of_user(link: AgentUserGroup | None) -> UserValues:
    """Return the columns to write, none when no field was sent. Raises InvalidArgument for a link that is not whole."""
    values = of_workspace(link)
    columns: UserValues = {
        "agent_uid": values.get("agent_uid"),
        "agent_user": values.get("agent_user"),
        "agent_gid": values.get("agent_gid"),
        "agent_group": values.get("agent_group"),
    }
    missing = [_WIRE_NAMES[name] for name, value in columns.items() if value is None]
    if len(missing) == len(columns):
        return {}
    if missing:
        raise InvalidArgument(
            f"agentUserGroup: {', '.join(missing)} cannot be empty; give all of {', '.join(_WIRE_NAMES.values())}"
        )
    return columns


def of_workspace(link: AgentUserGroup | None) -> WorkspaceValues:
    """Return the columns to write, in part where the link is; none when nothing was sent."""
    if link is None:
        return {}
    return {
        "agent_uid": _checked_id(link.agent_uid, "agentUid"),
        "agent_user": _checked_name(link.agent_user, "agentUser"),
        "agent_gid": _checked_id(link.agent_gid, "agentGid"),
        "agent_group": _checked_name(link.agent_group, "agentGroup"),
    }


def _checked_id(number: int | None, what: str) -> int | None:
    if number is not None and not 0 <= number <= _LARGEST:
        raise InvalidArgument(f"agentUserGroup: {what}={number} is no id of an OS; use 0 to {_LARGEST}")
    return number


def _checked_name(name: str | None, what: str) -> str | None:
    if name is not None and not checked_text(name, what).strip():
        raise InvalidArgument(f"agentUserGroup: {what} cannot be empty; give a name or leave it out")
    return name
