"""Agents and their slots."""

from determined.errors import AlreadyExists
from determined.master.auth.identity import Caller
from determined.master.auth.permission import ADMIN, ANY_USER
from determined.master.context import MasterContext
from determined.master.routes.serve import serve
from determined.master.services import agent as agents
from determined.master.services.paging import page
from determined.wire.agent import (
    ADD_AGENT,
    DISABLE_AGENT,
    DISABLE_SLOT,
    ENABLE_AGENT,
    ENABLE_SLOT,
    GET_AGENT,
    GET_SLOT,
    LIST_AGENTS,
    LIST_SLOTS,
    REMOVE_AGENT,
    DisableAgentRequest,
    DisableAgentResponse,
    DisableSlotRequest,
    DisableSlotResponse,
    EnableAgentResponse,
    EnableSlotResponse,
    GetAgentResponse,
    GetAgentsResponse,
    GetSlotResponse,
    GetSlotsResponse,
    ListAgents,
    PostAgentRequest,
)


@serve(LIST_AGENTS, ANY_USER)
async def list_agents(ctx: MasterContext, params: ListAgents) -> GetAgentsResponse:
    shown, pagination = page(await agents.list_agents(ctx, params), params.limit, params.offset)
    return GetAgentsResponse(agents=shown, pagination=pagination)


@serve(ADD_AGENT, ADMIN, errors=(AlreadyExists,))
async def add_agent(payload: PostAgentRequest, ctx: MasterContext, caller: Caller) -> GetAgentResponse:
    """Add a node to the local engine (ours)."""
    return GetAgentResponse(agent=await agents.add(ctx, caller, payload))


@serve(REMOVE_AGENT, ADMIN)
async def remove_agent(ctx: MasterContext, caller: Caller, agent_id: str) -> None:
    """Remove a node that was added to the local engine (ours)."""
    await agents.remove(ctx, caller, agent_id)


@serve(GET_AGENT, ANY_USER)
async def get_agent(ctx: MasterContext, agent_id: str) -> GetAgentResponse:
    return GetAgentResponse(agent=await agents.get(ctx, agent_id))


@serve(ENABLE_AGENT, ADMIN)
async def enable_agent(ctx: MasterContext, caller: Caller, agent_id: str) -> EnableAgentResponse:
    return EnableAgentResponse(agent=await agents.set_enabled(ctx, caller, agent_id, enabled=True))


@serve(DISABLE_AGENT, ADMIN)
async def disable_agent(
    payload: DisableAgentRequest, ctx: MasterContext, caller: Caller, agent_id: str
) -> DisableAgentResponse:
    agent = await agents.set_enabled(ctx, caller, agent_id, enabled=False, drain=bool(payload.drain))
    return DisableAgentResponse(agent=agent)


@serve(LIST_SLOTS, ANY_USER)
async def list_slots(ctx: MasterContext, agent_id: str) -> GetSlotsResponse:
    agent = await agents.get(ctx, agent_id)
    return GetSlotsResponse(slots=list((agent.slots or {}).values()))


@serve(GET_SLOT, ANY_USER)
async def get_slot(ctx: MasterContext, agent_id: str, slot_id: str) -> GetSlotResponse:
    return GetSlotResponse(slot=await agents.get_slot(ctx, agent_id, slot_id))


@serve(ENABLE_SLOT, ADMIN)
async def enable_slot(ctx: MasterContext, caller: Caller, agent_id: str, slot_id: str) -> EnableSlotResponse:
    return EnableSlotResponse(slot=await agents.set_slot_enabled(ctx, caller, agent_id, slot_id, enabled=True))


@serve(DISABLE_SLOT, ADMIN)
async def disable_slot(
    payload: DisableSlotRequest, ctx: MasterContext, caller: Caller, agent_id: str, slot_id: str
) -> DisableSlotResponse:
    slot = await agents.set_slot_enabled(ctx, caller, agent_id, slot_id, enabled=False, drain=bool(payload.drain))
    return DisableSlotResponse(slot=slot)
