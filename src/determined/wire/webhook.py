"""Webhooks: addresses that are told of events, what triggers them, and what was sent."""

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta

from determined.wire.base import Paged, Pagination
from determined.wire.codec import Wire
from determined.wire.log import LogLevel
from determined.wire.operation import Nothing, Operation
from determined.wire.upstream import Ours, UpstreamRequired

MAX_TRIGGERS = 50  # of one webhook

UrlText = Annotated[str, Meta(max_length=2000)]
NameText = Annotated[str, Meta(max_length=200)]
TitleText = Annotated[str, Meta(max_length=1000)]
DescriptionText = Annotated[str, Meta(max_length=10_000)]


class WebhookType(StrEnum):
    UNSPECIFIED = "WEBHOOK_TYPE_UNSPECIFIED"
    DEFAULT = "WEBHOOK_TYPE_DEFAULT"
    SLACK = "WEBHOOK_TYPE_SLACK"


class WebhookMode(StrEnum):
    UNSPECIFIED = "WEBHOOK_MODE_UNSPECIFIED"
    WORKSPACE = "WEBHOOK_MODE_WORKSPACE"
    SPECIFIC = "WEBHOOK_MODE_SPECIFIC"


class TriggerType(StrEnum):
    UNSPECIFIED = "TRIGGER_TYPE_UNSPECIFIED"
    EXPERIMENT_STATE_CHANGE = "TRIGGER_TYPE_EXPERIMENT_STATE_CHANGE"
    METRIC_THRESHOLD_EXCEEDED = "TRIGGER_TYPE_METRIC_THRESHOLD_EXCEEDED"
    TASK_LOG = "TRIGGER_TYPE_TASK_LOG"
    CUSTOM = "TRIGGER_TYPE_CUSTOM"


class DeliveryState(StrEnum):
    UNSPECIFIED = "DELIVERY_STATE_UNSPECIFIED"
    PENDING = "DELIVERY_STATE_PENDING"  # it waits for its time
    SENDING = "DELIVERY_STATE_SENDING"
    DELIVERED = "DELIVERY_STATE_DELIVERED"  # the receiver has answered 2xx
    FAILED = "DELIVERY_STATE_FAILED"  # it is not sent again


class Trigger(Wire):
    """`condition`: {"state": "COMPLETED"}, {"regex": "..."}, {} for alerts, and for metrics
    {"metric": "validation_loss", "group": "validation", "operator": "<", "value": 0.1} or {"no_report_for": "30m"}.
    """

    trigger_type: TriggerType = TriggerType.UNSPECIFIED
    condition: dict[str, Any] | None = None
    id: int | None = None
    webhook_id: int | None = None


class LastDelivery(Wire):
    """The newest delivery of a webhook, without what was sent."""

    id: int
    state: DeliveryState
    attempts: int
    created_at: str
    status_code: int | None = None
    error: str | None = None


class Webhook(Wire):
    """`workspace_id`: None or 0 for one that is told of every workspace.

    Answers alone have `may_change` (whoever asks may change, test and delete it) and, where true, `last_delivery`.
    """

    url: UrlText
    webhook_type: UpstreamRequired[WebhookType] = WebhookType.DEFAULT
    mode: UpstreamRequired[WebhookMode] = WebhookMode.WORKSPACE
    name: UpstreamRequired[NameText] = ""
    id: int | None = None
    triggers: Annotated[list[Trigger], Meta(max_length=MAX_TRIGGERS)] | None = None
    workspace_id: int | None = None
    may_change: Ours[bool | None] = None
    last_delivery: Ours[LastDelivery | None] = None


class GetWebhooksResponse(Wire):
    webhooks: list[Webhook]


class PostWebhookResponse(Wire):
    webhook: Webhook
    messages: Ours[list[str]] = []  # what whoever creates it should know


class PatchWebhook(Wire):
    url: UrlText


class TestWebhookResponse(Wire):
    """Answer of the receiver; `answer` is the beginning of its body."""

    completed: bool
    status_code: Ours[int | None] = None
    answer: Ours[str | None] = None


class CustomWebhookEventData(Wire):
    title: TitleText | None = None
    description: DescriptionText | None = None
    level: LogLevel | None = None


class PostWebhookEventDataRequest(Wire):
    data: CustomWebhookEventData
    experiment_id: int
    trial_id: int | None = None


class WebhookDelivery(Wire):
    """`payload`: the body as it is sent. `answer`: the beginning of what the receiver said. `error`: why it failed."""

    id: int
    webhook_id: int
    event_id: str
    event_type: str
    state: DeliveryState
    payload: str
    attempts: int
    created_at: str
    url: str | None = None  # of the last attempt
    next_attempt_at: str | None = None  # of one that waits
    finished_at: str | None = None
    status_code: int | None = None
    answer: str | None = None
    error: str | None = None


class GetWebhookDeliveriesResponse(Wire):
    deliveries: list[WebhookDelivery]
    pagination: Pagination


class ListDeliveries(Paged):
    """Deliveries of a webhook, the newest first."""

    states: Annotated[list[DeliveryState] | None, Meta(description="Any of these states.")] = None


class GetWebhookSigningKeyResponse(Wire):
    signing_key: str


LIST_WEBHOOKS = Operation("GET", "/api/v1/webhooks", Nothing, GetWebhooksResponse)
CREATE_WEBHOOK = Operation("POST", "/api/v1/webhooks", Webhook, PostWebhookResponse)
PATCH_WEBHOOK = Operation("PATCH", "/api/v1/webhooks/{webhook_id:int}", PatchWebhook, Nothing, id_names=("id",))
DELETE_WEBHOOK = Operation("DELETE", "/api/v1/webhooks/{webhook_id:int}", Nothing, Nothing, id_names=("id",))
TEST_WEBHOOK = Operation(
    "POST", "/api/v1/webhooks/{webhook_id:int}/test", Nothing, TestWebhookResponse, id_names=("id",)
)
POST_WEBHOOK_EVENT_DATA = Operation("POST", "/api/v1/webhooks/custom", PostWebhookEventDataRequest, Nothing)
LIST_WEBHOOK_DELIVERIES = Operation(
    "GET", "/api/v1/webhooks/{webhook_id:int}/deliveries", ListDeliveries, GetWebhookDeliveriesResponse, ours=True
)
GET_WEBHOOK_SIGNING_KEY = Operation(
    "GET", "/api/v1/webhooks/signing-key", Nothing, GetWebhookSigningKeyResponse, ours=True
)
