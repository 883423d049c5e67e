"""Agents (nodes), their slots and containers."""

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from determined.wire.base import Ordered, Pagination
from determined.wire.codec import Wire
from determined.wire.operation import Nothing, Operation


class DeviceStats(Wire):
    disabled: int
    draining: int
    total: int
    states: dict[str, int] | None = None


class SlotStats(Wire):
    brand_stats: dict[str, DeviceStats]
    type_stats: dict[str, DeviceStats]


class ContainerState(StrEnum):
    __upstream__ = "containerv1State"

    UNSPECIFIED = "STATE_UNSPECIFIED"
    ASSIGNED = "STATE_ASSIGNED"
    PULLING = "STATE_PULLING"
    STARTING = "STATE_STARTING"
    RUNNING = "STATE_RUNNING"
    TERMINATED = "STATE_TERMINATED"


class DeviceType(StrEnum):
    __upstream__ = "devicev1Type"

    UNSPECIFIED = "TYPE_UNSPECIFIED"
    CPU = "TYPE_CPU"
    CUDA = "TYPE_CUDA"
    ROCM = "TYPE_ROCM"


class Device(Wire):
    brand: str | None = None
    id: int | None = None
    type: DeviceType | None = None
    uuid: str | None = None


class Container(Wire):
    id: str
    state: ContainerState
    devices: list[Device] | None = None
    parent: str | None = None
    permission_denied: bool | None = None


class Slot(Wire):
    container: Container | None = None
    device: Device | None = None
    draining: bool | None = None
    enabled: bool | None = None
    id: str | None = None


class Agent(Wire):
    id: str
    slot_stats: SlotStats
    addresses: list[str] | None = None
    containers: dict[str, Container] | None = None
    draining: bool | None = None
    enabled: bool | None = None
    registered_time: str | None = None
    resource_pools: list[str] | None = None
    slots: dict[str, Slot] | None = None
    version: str | None = None


class GetAgentResponse(Wire):
    agent: Agent


class GetAgentsRequestSortBy(StrEnum):
    UNSPECIFIED = "SORT_BY_UNSPECIFIED"
    ID = "SORT_BY_ID"
    TIME = "SORT_BY_TIME"


class GetAgentsResponse(Wire):
    agents: list[Agent]
    pagination: Pagination | None = None


class GetSlotResponse(Wire):
    slot: Slot | None = None


class GetSlotsResponse(Wire):
    slots: list[Slot] | None = None


class DisableAgentRequest(Wire):
    agent_id: str | None = None
    drain: bool | None = None


class DisableAgentResponse(Wire):
    agent: Agent | None = None


class EnableAgentResponse(Wire):
    agent: Agent | None = None


class DisableSlotRequest(Wire):
    agent_id: str | None = None
    drain: bool | None = None
    slot_id: str | None = None


class DisableSlotResponse(Wire):
    slot: Slot | None = None


class EnableSlotResponse(Wire):
    slot: Slot | None = None


class PostAgentRequest(Wire):
    """Request of our own: offer another node of the local engine with so many artificial slots."""

    id: str
    slots: int
    resource_pool: str = "default"


class ListAgents(Ordered):
    """Query of agents, ordered by id, or by the time of registration."""

    sort_by: Annotated[GetAgentsRequestSortBy | None, Meta(description="What to sort by; the id by default.")] = None
    exclude_slots: Annotated[bool, Meta(description="Leave the slots out.")] = False
    exclude_containers: Annotated[bool, Meta(description="Leave the containers out.")] = False


LIST_AGENTS = Operation("GET", "/api/v1/agents", ListAgents, GetAgentsResponse)
ADD_AGENT = Operation("POST", "/api/v1/agents", PostAgentRequest, GetAgentResponse, ours=True)
DISABLE_AGENT = Operation("POST", "/api/v1/agents/{agent_id:str}/disable", DisableAgentRequest, DisableAgentResponse)
DISABLE_SLOT = Operation(
    "POST", "/api/v1/agents/{agent_id:str}/slots/{slot_id:str}/disable", DisableSlotRequest, DisableSlotResponse
)
ENABLE_AGENT = Operation("POST", "/api/v1/agents/{agent_id:str}/enable", Nothing, EnableAgentResponse)
ENABLE_SLOT = Operation("POST", "/api/v1/agents/{agent_id:str}/slots/{slot_id:str}/enable", Nothing, EnableSlotResponse)
REMOVE_AGENT = Operation("DELETE", "/api/v1/agents/{agent_id:str}", Nothing, Nothing, ours=True)
GET_AGENT = Operation("GET", "/api/v1/agents/{agent_id:str}", Nothing, GetAgentResponse)
GET_SLOT = Operation("GET", "/api/v1/agents/{agent_id:str}/slots/{slot_id:str}", Nothing, GetSlotResponse)
LIST_SLOTS = Operation("GET", "/api/v1/agents/{agent_id:str}/slots", Nothing, GetSlotsResponse)
