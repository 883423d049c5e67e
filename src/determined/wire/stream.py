"""Messages of the `/stream` WebSocket: one subscription in, rows and deletions out (docs/architecture/stream.md).

Upstream's protocol and its snake_case, with more nouns. A row travels as `{"trial": {...}}`, deletions as
`{"trials_deleted": "3,5-9"}`. Messages of rows are declared in `master/db/queries/streamed.py`.
"""

import msgspec

FROM_NOW = -1  # as `since`: nothing of what is there, only what changes from now on


class SubscriptionSpec(msgspec.Struct):
    """Subscription to things of a noun: any that has one of the ids or owners; all when none is named."""

    since: int | None = None  # everything up to this number has been seen
    workspace_ids: list[int] | None = None
    project_ids: list[int] | None = None
    experiment_ids: list[int] | None = None
    trial_ids: list[int] | None = None
    task_ids: list[str] | None = None
    job_ids: list[str] | None = None
    model_ids: list[int] | None = None
    model_version_ids: list[int] | None = None
    user_ids: list[int] | None = None  # owners of models and versions


class StartupMsg(msgspec.Struct):
    """Message of a client: its whole subscription, which replaces the one before."""

    sync_id: str
    subscribe: dict[str, SubscriptionSpec]
    known: dict[str, str] = {}  # ids that it has, by noun: "1,4-9"
    extended: bool = False  # it reads several messages in one frame, `reset` and `alive`
    epoch: str = ""  # what the last SyncMsg said: the numbers that it has seen belong to this database


class SyncMsg(msgspec.Struct, omit_defaults=True):
    """Start, or end (`complete`), of what a subscription has missed."""

    sync_id: str
    complete: bool
    seq: int | None = None
    epoch: str | None = None


class ResetMsg(msgspec.Struct):
    """Reset of nouns for which it is not known what changed since: read everything again."""

    reset: list[str]


class AliveMsg(msgspec.Struct):
    """Sent when there is nothing to say; `alive` is the number up to which everything was said."""

    alive: int


class AgentMsg(msgspec.Struct):
    """Nodes live in the memory of a master, so their numbers mean nothing to the next one."""

    id: str
    enabled: bool
    draining: bool
    resource_pools: list[str]
    slots: int
    used: int
    seq: int


class MetricsMsg(msgspec.Struct):
    """A tick: this series has new reports. The values are fetched by whoever draws them."""

    trial_id: int
    group: str
    last_batch: int
    seq: int
