"""Workspaces over HTTP."""

from collections.abc import Iterator

from determined.api.paging import pages
from determined.api.session import Session
from determined.errors import NotFound
from determined.wire.base import Paged
from determined.wire.project import Project
from determined.wire.workspace import (
    ARCHIVE_WORKSPACE,
    CREATE_WORKSPACE,
    DELETE_WORKSPACE,
    GET_WORKSPACE,
    LIST_PROJECTS,
    LIST_WORKSPACE_POOLS,
    LIST_WORKSPACES,
    PATCH_WORKSPACE,
    PIN_WORKSPACE,
    UNARCHIVE_WORKSPACE,
    UNPIN_WORKSPACE,
    ListProjects,
    ListWorkspaces,
    PatchWorkspace,
    PostWorkspaceRequest,
    Workspace,
)

_VERBS = {
    "archive": ARCHIVE_WORKSPACE,
    "unarchive": UNARCHIVE_WORKSPACE,
    "pin": PIN_WORKSPACE,
    "unpin": UNPIN_WORKSPACE,
}


def get(session: Session, workspace_id: int) -> Workspace:
    return session.call(GET_WORKSPACE, workspace_id=workspace_id).workspace


def by_name(session: Session, name: str) -> Workspace:
    for workspace in session.call(LIST_WORKSPACES, ListWorkspaces(name_case_sensitive=name)).workspaces:
        if workspace.name == name:
            return workspace
    raise NotFound(f"workspace '{name}' does not exist; list them with: det workspace list")


def iterate(session: Session, params: ListWorkspaces) -> Iterator[Workspace]:
    for page in pages(session, LIST_WORKSPACES, params):
        yield from page.workspaces


def create(session: Session, request: PostWorkspaceRequest) -> Workspace:
    return session.call(CREATE_WORKSPACE, request).workspace


def patch(session: Session, workspace_id: int, changes: PatchWorkspace) -> Workspace:
    return session.call(PATCH_WORKSPACE, changes, workspace_id=workspace_id).workspace


def act(session: Session, workspace_id: int, verb: str) -> None:
    """Archive, unarchive, pin or unpin."""
    session.call(_VERBS[verb], workspace_id=workspace_id)


def delete(session: Session, workspace_id: int) -> bool:
    """Delete it. False where it goes later, with the experiments in it."""
    return session.call(DELETE_WORKSPACE, workspace_id=workspace_id).completed


def projects(session: Session, workspace_id: int, params: ListProjects | None = None) -> Iterator[Project]:
    for page in pages(session, LIST_PROJECTS, params or ListProjects(), workspace_id=workspace_id):
        yield from page.projects


def pools(session: Session, workspace_id: int) -> list[str]:
    return session.call(LIST_WORKSPACE_POOLS, Paged(), workspace_id=workspace_id).resource_pools or []
