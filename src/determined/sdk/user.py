"""User: name, rights and the OS identity of tasks."""

from typing import Self

from determined.api import user as api
from determined.api.session import Session
from determined.wire.user import AgentUserGroup, PatchUser
from determined.wire.user import User as WireUser


class User:
    def __init__(self, user_id: int, session: Session) -> None:
        self.user_id = user_id
        self._session = session
        self.username: str | None = None
        self.admin: bool | None = None
        self.active: bool | None = None
        self.remote: bool | None = None
        self.display_name: str | None = None
        self.agent_uid: int | None = None
        self.agent_gid: int | None = None
        self.agent_user: str | None = None
        self.agent_group: str | None = None

    def reload(self) -> None:
        self._load(api.get(self._session, self.user_id))

    def rename(self, new_username: str) -> None:
        self._patch(PatchUser(username=new_username))

    def activate(self) -> None:
        self._patch(PatchUser(active=True))

    def deactivate(self) -> None:
        self._patch(PatchUser(active=False))

    def change_display_name(self, display_name: str) -> None:
        self._patch(PatchUser(display_name=display_name))

    def change_password(self, new_password: str) -> None:
        """Change the password. Raises ValueError when it is too weak."""
        api.check_password(new_password)
        api.set_password(self._session, self.user_id, new_password)

    def link_with_agent(
        self,
        agent_uid: int | None = None,
        agent_gid: int | None = None,
        agent_user: str | None = None,
        agent_group: str | None = None,
    ) -> None:
        link = AgentUserGroup(agent_uid=agent_uid, agent_gid=agent_gid, agent_user=agent_user, agent_group=agent_group)
        self._patch(PatchUser(agent_user_group=link))

    @classmethod
    def _from_wire(cls, session: Session, row: WireUser) -> "User":
        assert row.id is not None
        return cls(row.id, session)._load(row)

    def _load(self, row: WireUser) -> Self:
        self.username, self.admin, self.active = row.username, row.admin, row.active
        self.remote, self.display_name = row.remote, row.display_name
        link = row.agent_user_group
        if link is not None:
            self.agent_uid, self.agent_gid = link.agent_uid, link.agent_gid
            self.agent_user, self.agent_group = link.agent_user, link.agent_group
        return self

    def _patch(self, changes: PatchUser) -> None:
        self._load(api.patch(self._session, self.user_id, changes))
