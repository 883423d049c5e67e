"""Workspaces over HTTP."""

from collections.abc import Iterator
from typing import Any

from determined.api.paging import PAGE, given, pages
from determined.api.session import Session
from determined.errors import NotFound
from determined.wire.project import Project
from determined.wire.workspace import (
    GetWorkspaceProjectsResponse,
    GetWorkspaceResponse,
    GetWorkspacesResponse,
    ListRPsBoundToWorkspaceResponse,
    PatchWorkspaceResponse,
    PostWorkspaceResponse,
    Workspace,
)

_ROOT = "/api/v1/workspaces"


def get(session: Session, workspace_id: int) -> Workspace:
    return session.get_as(f"{_ROOT}/{workspace_id}", GetWorkspaceResponse).workspace


def by_name(session: Session, name: str) -> Workspace:
    params = {"nameCaseSensitive": name}
    for found in session.get_as(_ROOT, GetWorkspacesResponse, params=params).workspaces:
        if found.name == name:
            return found
    raise NotFound(f"workspace '{name}' does not exist; list them with: det workspace list")


def iterate(session: Session, *, limit: int = PAGE, offset: int = 0, **filters: Any) -> Iterator[Workspace]:
    def fetch(size: int, start: int) -> GetWorkspacesResponse:
        return session.get_as(_ROOT, GetWorkspacesResponse, params=given(limit=size, offset=start, **filters))

    for page in pages(fetch, limit=limit, offset=offset):
        yield from page.workspaces


def create(session: Session, body: dict[str, Any]) -> Workspace:
    return session.post_as(_ROOT, body, PostWorkspaceResponse).workspace


def patch(session: Session, workspace_id: int, changes: dict[str, Any]) -> Workspace:
    return session.patch_as(f"{_ROOT}/{workspace_id}", changes, PatchWorkspaceResponse).workspace


def act(session: Session, workspace_id: int, verb: str) -> None:
    """archive, unarchive, pin, unpin."""
    session.post(f"{_ROOT}/{workspace_id}/{verb}", {})


def delete(session: Session, workspace_id: int) -> bool:
    """False where it goes later, with the experiments in it."""
    return bool((session.delete(f"{_ROOT}/{workspace_id}") or {}).get("completed", True))


def projects(
    session: Session, workspace_id: int, *, limit: int = PAGE, offset: int = 0, **filters: Any
) -> Iterator[Project]:
    def fetch(size: int, start: int) -> GetWorkspaceProjectsResponse:
        params = given(limit=size, offset=start, **filters)
        return session.get_as(f"{_ROOT}/{workspace_id}/projects", GetWorkspaceProjectsResponse, params=params)

    for page in pages(fetch, limit=limit, offset=offset):
        yield from page.projects


def pools(session: Session, workspace_id: int) -> list[str]:
    path = f"{_ROOT}/{workspace_id}/available-resource-pools"
    return session.get_as(path, ListRPsBoundToWorkspaceResponse).resource_pools or []
