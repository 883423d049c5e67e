"""Projects over HTTP."""

from typing import Any

from determined.api import workspace
from determined.api.session import Session
from determined.errors import NotFound
from determined.wire.project import GetProjectResponse, PatchProjectResponse, PostProjectResponse, Project

_ROOT = "/api/v1/projects"


def get(session: Session, project_id: int) -> Project:
    return session.get_as(f"{_ROOT}/{project_id}", GetProjectResponse).project


def by_name(session: Session, workspace_name: str, project_name: str) -> Project:
    owner = workspace.by_name(session, workspace_name)
    for found in workspace.projects(session, owner.id, name=project_name):
        if found.name == project_name:
            return found
    raise NotFound(
        f"workspace '{workspace_name}' has no project '{project_name}'; "
        f"list them with: det project list {workspace_name}"
    )


def create(session: Session, workspace_id: int, body: dict[str, Any]) -> Project:
    path = f"/api/v1/workspaces/{workspace_id}/projects"
    return session.post_as(path, {"workspaceId": workspace_id, **body}, PostProjectResponse).project


def patch(session: Session, project_id: int, changes: dict[str, Any]) -> Project:
    return session.patch_as(f"{_ROOT}/{project_id}", changes, PatchProjectResponse).project


def act(session: Session, project_id: int, verb: str) -> None:
    """archive, unarchive."""
    session.post(f"{_ROOT}/{project_id}/{verb}", {})


def delete(session: Session, project_id: int) -> bool:
    """False where it goes later, with the experiments in it."""
    return bool((session.delete(f"{_ROOT}/{project_id}") or {}).get("completed", True))


def put_notes(session: Session, project_id: int, notes: list[dict[str, str]]) -> None:
    session.put(f"{_ROOT}/{project_id}/notes", {"projectId": project_id, "notes": notes})
