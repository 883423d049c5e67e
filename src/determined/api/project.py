"""Projects over HTTP."""

from determined.api import workspace
from determined.api.session import Session
from determined.errors import NotFound
from determined.wire.project import (
    ARCHIVE_PROJECT,
    CREATE_PROJECT,
    DELETE_PROJECT,
    GET_PROJECT,
    PATCH_PROJECT,
    PUT_PROJECT_NOTES,
    UNARCHIVE_PROJECT,
    Note,
    PatchProject,
    PostProjectRequest,
    Project,
    PutProjectNotesRequest,
)
from determined.wire.workspace import ListProjects, Workspace


def get(session: Session, project_id: int) -> Project:
    return session.call(GET_PROJECT, project_id=project_id).project


def by_name(session: Session, workspace_name: str, project_name: str) -> Project:
    return of_workspace(session, workspace.by_name(session, workspace_name), project_name)


def of_workspace(session: Session, owner: Workspace, project_name: str) -> Project:
    """Return the project of that name. Raises NotFound."""
    for project in workspace.projects(session, owner.id, ListProjects(name=project_name)):
        if project.name == project_name:
            return project
    raise NotFound(
        f"workspace '{owner.name}' has no project '{project_name}'; list them with: det project list {owner.name}"
    )


def create(session: Session, request: PostProjectRequest) -> Project:
    return session.call(CREATE_PROJECT, request, workspace_id=request.workspace_id).project


def patch(session: Session, project_id: int, changes: PatchProject) -> Project:
    return session.call(PATCH_PROJECT, changes, project_id=project_id).project


def act(session: Session, project_id: int, verb: str) -> None:
    """Archive or unarchive."""
    session.call({"archive": ARCHIVE_PROJECT, "unarchive": UNARCHIVE_PROJECT}[verb], project_id=project_id)


def delete(session: Session, project_id: int) -> bool:
    """Delete it. False where it goes later, with the experiments in it."""
    return session.call(DELETE_PROJECT, project_id=project_id).completed


def put_notes(session: Session, project_id: int, notes: list[dict[str, str]]) -> None:
    request = PutProjectNotesRequest(project_id=project_id, notes=[Note(**note) for note in notes])
    session.call(PUT_PROJECT_NOTES, request, project_id=project_id)
