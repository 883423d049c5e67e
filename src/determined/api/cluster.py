"""Agents, slots, pools, the job queue and the master itself over HTTP."""

from collections.abc import Iterator
from typing import Any

from determined.api.paging import given, pages
from determined.api.session import Session
from determined.wire.agent import Agent, GetAgentsResponse
from determined.wire.codec import convert
from determined.wire.job import GetJobsV2Response, RBACJob
from determined.wire.log import LogEntry, MasterLogsResponse
from determined.wire.master import GetMasterResponse
from determined.wire.pool import GetResourcePoolsResponse, ListWorkspacesBoundToRPResponse, ResourcePool

_POOLS = "/api/v1/resource-pools"


def agents(session: Session) -> list[Agent]:
    return session.get_as("/api/v1/agents", GetAgentsResponse).agents or []


def set_agent(session: Session, agent_id: str, *, enabled: bool, drain: bool = False) -> None:
    verb = "enable" if enabled else "disable"
    body = {} if enabled else {"agentId": agent_id, "drain": drain}
    session.post(f"/api/v1/agents/{agent_id}/{verb}", body)


def add_agent(session: Session, agent_id: str, pool: str, slots: int) -> None:
    session.post("/api/v1/agents", {"id": agent_id, "resourcePool": pool, "slots": slots})


def remove_agent(session: Session, agent_id: str) -> None:
    session.delete(f"/api/v1/agents/{agent_id}")


def set_slot(session: Session, agent_id: str, slot_id: str, *, enabled: bool) -> None:
    verb = "enable" if enabled else "disable"
    session.post(f"/api/v1/agents/{agent_id}/slots/{slot_id}/{verb}", {})


def tasks(session: Session) -> dict[str, Any]:
    """Allocation id -> summary of every running task."""
    answer = session.get("/tasks")
    return answer if isinstance(answer, dict) else {}


def resource_pools(session: Session) -> list[ResourcePool]:
    return session.get_as(_POOLS, GetResourcePoolsResponse).resource_pools or []


def bindings(session: Session, pool: str) -> list[int]:
    path = f"{_POOLS}/{pool}/workspace-bindings"
    return session.get_as(path, ListWorkspacesBoundToRPResponse).workspace_ids or []


def change_bindings(session: Session, pool: str, workspace_ids: list[int], verb: str) -> None:
    """verb: post (add), delete (remove), put (replace)."""
    body = {"resourcePoolName": pool, "workspaceIds": workspace_ids}
    getattr(session, verb)(f"{_POOLS}/{pool}/workspace-bindings", body)


def jobs(
    session: Session, pool: str | None, *, limit: int, offset: int, all_pages: bool, **filters: Any
) -> Iterator[RBACJob]:
    def fetch(size: int, start: int) -> GetJobsV2Response:
        params = given(resourcePool=pool, limit=size, offset=start, **filters)
        return session.get_as("/api/v1/job-queues-v2", GetJobsV2Response, params=params)

    for page in pages(fetch, limit=limit, offset=offset, all_pages=all_pages):
        yield from page.jobs


def update_jobs(session: Session, updates: list[dict[str, Any]]) -> None:
    session.post("/api/v1/job-queues", {"updates": updates})


def master(session: Session) -> GetMasterResponse:
    return session.get_as("/api/v1/master", GetMasterResponse)


def master_config(session: Session) -> dict[str, Any]:
    answer: dict[str, Any] = session.get("/api/v1/master/config")
    config: dict[str, Any] = answer["config"]
    return config


def master_logs(session: Session, **filters: Any) -> Iterator[LogEntry]:
    for item in session.stream("/api/v1/master/logs", params=given(**filters)):
        yield convert(item, MasterLogsResponse).log_entry
