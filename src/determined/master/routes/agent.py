"""Agents and their slots."""

from typing import Annotated, Any

from litestar import Request, Router, delete, get, post
from litestar.params import QueryParameter

from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.body import read_body
from determined.master.routes.params import Limit, Offset
from determined.master.services import agent as agents
from determined.master.services.paging import page
from determined.wire.agent import (
    DisableAgentRequest,
    DisableAgentResponse,
    DisableSlotRequest,
    DisableSlotResponse,
    EnableAgentResponse,
    EnableSlotResponse,
    GetAgentResponse,
    GetAgentsRequestSortBy,
    GetAgentsResponse,
    GetSlotResponse,
    GetSlotsResponse,
    PostAgentRequest,
)
from determined.wire.base import OrderBy

AnyRequest = Request[Any, Any, Any]

_AGENT = "/api/v1/agents/{agent_id:str}"
_SLOT = _AGENT + "/slots/{slot_id:str}"


@get("/api/v1/agents", opt=ANY_USER)
async def list_agents(
    ctx: MasterContext,
    sort_by: Annotated[GetAgentsRequestSortBy | None, QueryParameter(name="sortBy")] = None,
    order_by: Annotated[OrderBy | None, QueryParameter(name="orderBy")] = None,
    exclude_slots: Annotated[bool, QueryParameter(name="excludeSlots")] = False,
    exclude_containers: Annotated[bool, QueryParameter(name="excludeContainers")] = False,
    limit: Limit = None,
    offset: Offset = None,
) -> GetAgentsResponse:
    found = await agents.list_agents(ctx)
    by_time = sort_by == GetAgentsRequestSortBy.TIME
    found.sort(key=lambda a: (a.registered_time or "" if by_time else "", a.id), reverse=order_by == OrderBy.DESC)
    for agent in found:
        agent.slots = None if exclude_slots else agent.slots
        agent.containers = None if exclude_containers else agent.containers
    shown, pagination = page(found, limit, offset)
    return GetAgentsResponse(agents=shown, pagination=pagination)


@post("/api/v1/agents", status_code=200, opt=ADMIN)
async def add_agent(request: AnyRequest, ctx: MasterContext, caller: Caller) -> GetAgentResponse:
    """Ours: another node of the local engine."""
    asked = await read_body(request, PostAgentRequest)
    return GetAgentResponse(agent=await agents.add(ctx, caller, asked))


@delete(_AGENT, status_code=200, opt=ADMIN)
async def remove_agent(ctx: MasterContext, caller: Caller, agent_id: str) -> dict[str, Any]:
    """Ours: the opposite."""
    await agents.remove(ctx, caller, agent_id)
    return {}


@get(_AGENT, opt=ANY_USER)
async def get_agent(ctx: MasterContext, agent_id: str) -> GetAgentResponse:
    return GetAgentResponse(agent=await agents.get(ctx, agent_id))


@post(_AGENT + "/enable", status_code=200, opt=ADMIN)
async def enable_agent(ctx: MasterContext, caller: Caller, agent_id: str) -> EnableAgentResponse:
    return EnableAgentResponse(agent=await agents.set_enabled(ctx, caller, agent_id, enabled=True))


@post(_AGENT + "/disable", status_code=200, opt=ADMIN)
async def disable_agent(request: AnyRequest, ctx: MasterContext, caller: Caller, agent_id: str) -> DisableAgentResponse:
    asked = await read_body(request, DisableAgentRequest)
    agent = await agents.set_enabled(ctx, caller, agent_id, enabled=False, drain=bool(asked.drain))
    return DisableAgentResponse(agent=agent)


@get(_AGENT + "/slots", opt=ANY_USER)
async def list_slots(ctx: MasterContext, agent_id: str) -> GetSlotsResponse:
    agent = await agents.get(ctx, agent_id)
    return GetSlotsResponse(slots=list((agent.slots or {}).values()))


@get(_SLOT, opt=ANY_USER)
async def get_slot(ctx: MasterContext, agent_id: str, slot_id: str) -> GetSlotResponse:
    return GetSlotResponse(slot=await agents.get_slot(ctx, agent_id, slot_id))


@post(_SLOT + "/enable", status_code=200, opt=ADMIN)
async def enable_slot(ctx: MasterContext, caller: Caller, agent_id: str, slot_id: str) -> EnableSlotResponse:
    return EnableSlotResponse(slot=await agents.set_slot_enabled(ctx, caller, agent_id, slot_id, enabled=True))


@post(_SLOT + "/disable", status_code=200, opt=ADMIN)
async def disable_slot(
    request: AnyRequest, ctx: MasterContext, caller: Caller, agent_id: str, slot_id: str
) -> DisableSlotResponse:
    asked = await read_body(request, DisableSlotRequest)
    slot = await agents.set_slot_enabled(ctx, caller, agent_id, slot_id, enabled=False, drain=bool(asked.drain))
    return DisableSlotResponse(slot=slot)


router = Router(
    path="",
    route_handlers=[
        add_agent,
        disable_agent,
        disable_slot,
        enable_agent,
        enable_slot,
        get_agent,
        get_slot,
        list_agents,
        list_slots,
        remove_agent,
    ],
)
