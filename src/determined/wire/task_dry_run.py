"""Dry runs of commands, notebooks, shells and TensorBoards: what a submission would be, stored nowhere. Ours."""

import msgspec

from determined._json import JsonObject
from determined.wire.codec import Wire
from determined.wire.dry_run import Problem, Starts
from determined.wire.operation import Operation
from determined.wire.submitted_task import SourceIds
from determined.wire.task import TaskType


class DryRunTaskRequest(Wire):
    task_type: TaskType
    config: JsonObject | None = None
    template_name: str | None = None
    workspace_id: int | None = None
    experiment_ids: SourceIds | None = None
    trial_ids: SourceIds | None = None


class DryRunTaskResponse(Wire):
    """`config`: with everything filled in. What follows from a sound config alone is None where there are problems.

    `from_template`: paths of `config` that have what the template says.
    """

    problems: list[Problem]
    warnings: list[str] = msgspec.field(default_factory=list)
    config: JsonObject | None = None
    pool: str | None = None
    slots: int | None = None
    starts: Starts | None = None
    reason: str | None = None
    from_template: list[str] | None = None


DRY_RUN_TASK = Operation("POST", "/api/v1/tasks/dry-run", DryRunTaskRequest, DryRunTaskResponse, ours=True)
