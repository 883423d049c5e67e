"""A submission of a task that stores nothing: what is wrong with it, and when it would start."""

from determined._json import JsonObject
from determined.config import mask_secrets
from determined.config.task_kinds import GENERIC, KINDS, TENSORBOARD, TaskKind
from determined.errors import DeterminedError, InvalidArgument
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.lifecycle import cluster as clusters
from determined.master.lifecycle import queue_forecast
from determined.master.lifecycle.queue_forecast import Wanted
from determined.master.lifecycle.submitted_task import NewTask
from determined.master.services import submitted_task, task_template, tensorboard
from determined.master.services.config_problems import problems_of
from determined.wire.dry_run import Problem, Starts
from determined.wire.submitted_task import LaunchRequest
from determined.wire.task_dry_run import DryRunTaskRequest, DryRunTaskResponse
from determined.wire.tensorboard import LaunchTensorboardRequest


async def dry_run(ctx: MasterContext, caller: Caller, asked: DryRunTaskRequest) -> DryRunTaskResponse:
    """Answer also for a faulty config: its problems are the answer. Raises InvalidArgument for other kinds of tasks."""
    kind = KINDS.get(asked.task_type.name)
    if kind is None or not kind.description or kind is GENERIC:
        raise InvalidArgument(f"{asked.task_type} cannot be tried; name a command, notebook, shell or TensorBoard")
    raw = asked.config or {}
    try:
        await task_template.part(ctx, kind, asked.template_name)
    except DeterminedError as e:
        return DryRunTaskResponse(problems=[Problem(path="template", message=e.message)])
    try:
        prepared = await _prepare(ctx, caller, kind, asked)
    except DeterminedError as e:
        return DryRunTaskResponse(problems=_problems(e, raw))
    new = prepared.new
    reason = await _reason(ctx, new)
    return DryRunTaskResponse(
        problems=[],
        warnings=prepared.messages,
        config=mask_secrets(new.config),
        pool=new.pool,
        slots=new.slots,
        starts=Starts.NOW if reason is None else Starts.WAITS,
        reason=reason,
        from_template=prepared.from_template,
    )


def _problems(error: DeterminedError, raw: JsonObject) -> list[Problem]:
    """Return what is wrong, each at its place. What the pool can never run is about the slots."""
    prefix, found, reason = error.message.partition(f"{submitted_task.UNFULFILLABLE}: ")
    if found and not prefix:
        return [Problem(path="resources.slots", message=reason.replace("slots_per_trial=", "slots="))]
    return problems_of(error, "", raw, {})


async def _prepare(
    ctx: MasterContext, caller: Caller, kind: TaskKind, asked: DryRunTaskRequest
) -> submitted_task.Prepared:
    async with ctx.config_turns.take(caller.user_id):
        sources = None
        if kind is TENSORBOARD:
            shown = LaunchTensorboardRequest(experiment_ids=asked.experiment_ids, trial_ids=asked.trial_ids)
            sources = await tensorboard.sources_of(ctx, caller, shown)
        request = LaunchRequest(config=asked.config, template_name=asked.template_name, workspace_id=asked.workspace_id)
        return await submitted_task.prepare(ctx, caller, kind, request, sources)


async def _reason(ctx: MasterContext, new: NewTask) -> str | None:
    """Return what the task would wait for; None when it would start."""
    wanted = Wanted(
        pool=new.pool,
        slots=new.slots,
        preemptible=new.kind.is_preemptible,
        single_node=new.single_node,
        priority=new.priority,
        weight=new.weight,
        max_slots=new.max_slots,
    )
    world = queue_forecast.scheduling_input(clusters.of(ctx.bus), ctx.config)
    now = ctx.clock.now()
    return await ctx.db.read(lambda conn: queue_forecast.task_waits_for(conn, now, world, wanted))
