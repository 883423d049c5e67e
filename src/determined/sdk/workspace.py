"""Workspace and ResourcePool: who shares what."""

from determined.api import cluster
from determined.api import project as project_api
from determined.api import workspace as api
from determined.api.session import Session
from determined.sdk.project import Project
from determined.wire.project import PostProjectRequest


class Workspace:
    """Known by id or by name; exactly one must be given."""

    def __init__(self, session: Session, workspace_id: int | None = None, workspace_name: str | None = None) -> None:
        if (workspace_id is None) == (workspace_name is None):
            raise ValueError("give exactly one of workspace_id and workspace_name")
        self._session = session
        if workspace_name is not None:
            workspace_id = api.by_name(session, workspace_name).id
        assert workspace_id is not None
        self.id = workspace_id
        self.name: str | None = workspace_name

    def reload(self) -> None:
        self.name = api.get(self._session, self.id).name

    def list_pools(self) -> list["ResourcePool"]:
        return [ResourcePool(self._session, name) for name in api.pools(self._session, self.id)]

    def create_project(self, name: str, description: str | None = None) -> Project:
        request = PostProjectRequest(name=name, workspace_id=self.id, description=description or "")
        return Project._from_wire(self._session, project_api.create(self._session, request))

    def delete_project(self, name: str) -> None:
        project_api.delete(self._session, self.get_project(name).id)

    def get_project(self, project_name: str) -> Project:
        """Return the project. Raises NotFound when there is none of that name."""
        owner = api.get(self._session, self.id)  # by its id: the name may by now be that of another workspace
        self.name = owner.name
        return Project._from_wire(self._session, project_api.of_workspace(self._session, owner, project_name))

    def list_projects(self) -> list[Project]:
        return [Project._from_wire(self._session, p) for p in api.projects(self._session, self.id)]


class ResourcePool:
    def __init__(self, session: Session, name: str = "") -> None:
        self._session = session
        self.name = name

    def add_bindings(self, workspace_names: list[str]) -> None:
        cluster.bind(self._session, self.name, self._ids(workspace_names))

    def remove_bindings(self, workspace_names: list[str]) -> None:
        cluster.unbind(self._session, self.name, self._ids(workspace_names))

    def replace_bindings(self, workspace_names: list[str]) -> None:
        cluster.replace_bindings(self._session, self.name, self._ids(workspace_names))

    def list_workspaces(self) -> list[str]:
        """Return the names of the workspaces bound to this pool."""
        return [api.get(self._session, i).name for i in cluster.bindings(self._session, self.name)]

    def _ids(self, workspace_names: list[str]) -> list[int]:
        return [api.by_name(self._session, name).id for name in workspace_names]
