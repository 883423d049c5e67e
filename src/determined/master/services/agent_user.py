"""The OS identity linked to a user or a workspace, between its columns and the wire."""

from typing import Any, Protocol

from determined.wire.user import AgentUserGroup


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
    """None when nothing is linked."""
    link = AgentUserGroup(
        agent_uid=row.agent_uid, agent_user=row.agent_user, agent_gid=row.agent_gid, agent_group=row.agent_group
    )
    return None if link == AgentUserGroup() else link


def to_columns(link: AgentUserGroup | None) -> dict[str, Any]:
    """The columns to write; none when nothing was sent."""
    if link is None:
        return {}
    return {
        "agent_uid": link.agent_uid,
        "agent_user": link.agent_user,
        "agent_gid": link.agent_gid,
        "agent_group": link.agent_group,
    }
