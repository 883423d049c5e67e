"""Agents, slots, pools, the job queue and the master itself over HTTP."""

from collections.abc import Iterator

from determined._json import JsonObject
from determined.api.paging import pages
from determined.api.session import Session
from determined.wire.agent import (
    ADD_AGENT,
    DISABLE_AGENT,
    DISABLE_SLOT,
    ENABLE_AGENT,
    ENABLE_SLOT,
    LIST_AGENTS,
    REMOVE_AGENT,
    Agent,
    DisableAgentRequest,
    DisableSlotRequest,
    ListAgents,
    PostAgentRequest,
)
from determined.wire.base import Paged
from determined.wire.job import LIST_JOBS_V2, UPDATE_JOB_QUEUE, ListJobs, QueueControl, RBACJob, UpdateJobQueueRequest
from determined.wire.log import STREAM_MASTER_LOGS, LogEntry, MasterLogQuery
from determined.wire.master import GET_MASTER, GET_MASTER_CONFIG, GetMasterResponse
from determined.wire.pool import (
    BIND_POOL,
    LIST_POOL_BINDINGS,
    LIST_POOLS,
    OVERWRITE_POOL_BINDINGS,
    UNBIND_POOL,
    BindRPToWorkspaceRequest,
    ListPools,
    OverwriteRPWorkspaceBindingsRequest,
    ResourcePool,
    UnbindRPFromWorkspaceRequest,
)
from determined.wire.task import LIST_TASKS_RAW


def agents(session: Session) -> list[Agent]:
    return session.call(LIST_AGENTS, ListAgents()).agents or []


def set_agent(session: Session, agent_id: str, *, enabled: bool, drain: bool = False) -> None:
    if enabled:
        session.call(ENABLE_AGENT, agent_id=agent_id)
    else:
        session.call(DISABLE_AGENT, DisableAgentRequest(agent_id=agent_id, drain=drain), agent_id=agent_id)


def add_agent(session: Session, agent_id: str, pool: str, slots: int) -> None:
    session.call(ADD_AGENT, PostAgentRequest(id=agent_id, resource_pool=pool, slots=slots))


def remove_agent(session: Session, agent_id: str) -> None:
    session.call(REMOVE_AGENT, agent_id=agent_id)


def set_slot(session: Session, agent_id: str, slot_id: str, *, enabled: bool) -> None:
    if enabled:
        session.call(ENABLE_SLOT, agent_id=agent_id, slot_id=slot_id)
    else:
        session.call(DISABLE_SLOT, DisableSlotRequest(), agent_id=agent_id, slot_id=slot_id)


def tasks(session: Session) -> JsonObject:
    """Return allocation id -> summary of every running task."""
    return session.call(LIST_TASKS_RAW)


def resource_pools(session: Session) -> list[ResourcePool]:
    return session.call(LIST_POOLS, ListPools()).resource_pools or []


def bindings(session: Session, pool: str) -> list[int]:
    return session.call(LIST_POOL_BINDINGS, Paged(), pool=pool).workspace_ids or []


def bind(session: Session, pool: str, workspace_ids: list[int]) -> None:
    session.call(BIND_POOL, BindRPToWorkspaceRequest(resource_pool_name=pool, workspace_ids=workspace_ids), pool=pool)


def unbind(session: Session, pool: str, workspace_ids: list[int]) -> None:
    request = UnbindRPFromWorkspaceRequest(resource_pool_name=pool, workspace_ids=workspace_ids)
    session.call(UNBIND_POOL, request, pool=pool)


def replace_bindings(session: Session, pool: str, workspace_ids: list[int]) -> None:
    request = OverwriteRPWorkspaceBindingsRequest(resource_pool_name=pool, workspace_ids=workspace_ids)
    session.call(OVERWRITE_POOL_BINDINGS, request, pool=pool)


def jobs(session: Session, params: ListJobs, *, all_pages: bool) -> Iterator[RBACJob]:
    for page in pages(session, LIST_JOBS_V2, params, all_pages=all_pages):
        yield from page.jobs


def update_jobs(session: Session, updates: list[QueueControl]) -> None:
    session.call(UPDATE_JOB_QUEUE, UpdateJobQueueRequest(updates=updates))


def master(session: Session) -> GetMasterResponse:
    return session.call(GET_MASTER)


def master_config(session: Session) -> JsonObject:
    return session.call(GET_MASTER_CONFIG).config


def master_logs(session: Session, params: MasterLogQuery) -> Iterator[LogEntry]:
    for item in session.follow(STREAM_MASTER_LOGS, params):
        yield item.log_entry
