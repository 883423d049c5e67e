"""TensorBoards: which experiments and trials they show."""

from sqlalchemy import Connection

from determined.config.task_kinds import TENSORBOARD
from determined.errors import InvalidArgument, NotFound
from determined.master.auth.identity import Caller
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import metric_series
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.services import experiment_bulk, submitted_task
from determined.master.services.submitted_task import Sources
from determined.wire.tensorboard import LaunchTensorboardRequest


async def launch(ctx: MasterContext, caller: Caller, asked: LaunchTensorboardRequest) -> tuple[TaskDetail, list[str]]:
    """Store a new TensorBoard of the named experiments and trials and of those that the filters match."""
    sources = await sources_of(ctx, asked)
    return await submitted_task.launch(ctx, caller, TENSORBOARD, asked, sources)


async def sources_of(ctx: MasterContext, asked: LaunchTensorboardRequest) -> Sources:
    """Return what a TensorBoard would show. Raises InvalidArgument without any, NotFound for an unknown id."""
    experiment_ids, trial_ids = set(asked.experiment_ids or ()), set(asked.trial_ids or ())
    if not experiment_ids and not trial_ids and asked.filters is None:
        raise InvalidArgument("must set experiment, trial ids, or filters")
    if asked.filters is not None:
        experiment_ids.update(await experiment_bulk.select(ctx, (), asked.filters, None))
    if not experiment_ids and not trial_ids:
        raise InvalidArgument("no experiments found; change the filters")
    sources = Sources(sorted(experiment_ids), sorted(trial_ids))
    await ctx.db.read(lambda conn: _require(conn, sources))
    return sources


def _require(conn: Connection, sources: Sources) -> None:
    missing = set(sources.experiment_ids) - experiments.existing(conn, sources.experiment_ids)
    if missing:
        raise NotFound(f"experiment {min(missing)} not found")
    unknown = set(sources.trial_ids) - metric_series.existing_trials(conn, sources.trial_ids)
    if unknown:
        raise NotFound(f"trial {min(unknown)} not found")
