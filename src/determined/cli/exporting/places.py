"""Workspaces, projects and owners of exported experiments, each read once."""

from dataclasses import dataclass, field

from determined.api import project, user, workspace
from determined.api.session import Session
from determined.bundle.layout import Places, ProjectEntry, UserEntry, WorkspaceEntry


@dataclass(slots=True)
class PlaceReader:
    session: Session
    _users: dict[str, UserEntry] = field(default_factory=dict)
    _workspaces: dict[int, WorkspaceEntry] = field(default_factory=dict)
    _projects: dict[int, ProjectEntry] = field(default_factory=dict)

    def add(self, project_id: int, owner: str) -> ProjectEntry:
        """Take a project, its workspace and the owners of both, and the owner of an experiment in it."""
        self._user(owner)
        if project_id not in self._projects:
            self._projects[project_id] = self._project(project_id)
        return self._projects[project_id]

    def workspace(self, workspace_id: int) -> WorkspaceEntry:
        if workspace_id not in self._workspaces:
            row = workspace.get(self.session, workspace_id)
            self._workspaces[row.id] = WorkspaceEntry(row.id, row.name, self._user(row.username), row.archived)
        return self._workspaces[workspace_id]

    def users(self) -> list[UserEntry]:
        return sorted(self._users.values(), key=lambda entry: entry.id)

    def places(self) -> Places:
        workspaces = sorted(self._workspaces.values(), key=lambda entry: entry.id)
        return Places(workspaces, sorted(self._projects.values(), key=lambda entry: entry.id))

    def _project(self, project_id: int) -> ProjectEntry:
        row = project.get(self.session, project_id)
        self.workspace(row.workspace_id)
        return ProjectEntry(
            id=row.id,
            workspace_id=row.workspace_id,
            name=row.name,
            owner=self._user(row.username),
            key=row.key,
            description=row.description or "",
            notes=[{"name": note.name, "contents": note.contents} for note in row.notes],
            archived=row.archived,
        )

    def _user(self, name: str) -> str:
        if name not in self._users:
            row = user.by_name(self.session, name)
            self._users[name] = UserEntry(row.id or 0, row.username, row.display_name or "", row.active)
        return name
