"""TensorBoards: which experiments and trials they show, and what they take over from them."""

from collections.abc import Container, Sequence

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig, mask_secrets
from determined.config.task_kinds import TENSORBOARD
from determined.errors import Forbidden, InvalidArgument, NotFound
from determined.master.auth.identity import Caller
from determined.master.config import MasterConfig
from determined.master.context import MasterContext
from determined.master.db.queries import tensorboard_source as queries
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.db.queries.tensorboard_source import SourceExperiment
from determined.master.lifecycle.task_storage import cluster_storage
from determined.master.services import experiment_bulk, submitted_task
from determined.master.services.submitted_task import Sources
from determined.wire.tensorboard import LaunchTensorboardRequest

_MOST = 10_000  # experiments of one TensorBoard
_STORAGE = "checkpoint_storage"


async def launch(ctx: MasterContext, caller: Caller, asked: LaunchTensorboardRequest) -> tuple[TaskDetail, list[str]]:
    """Store a new TensorBoard of the named experiments and trials and of those that the filters match."""
    sources = await sources_of(ctx, caller, asked)
    return await submitted_task.launch(ctx, caller, TENSORBOARD, asked, sources)


async def sources_of(ctx: MasterContext, caller: Caller, asked: LaunchTensorboardRequest) -> Sources:
    """Return what a TensorBoard would show.

    Raises:
        InvalidArgument: no sources, or too many.
        NotFound: a source does not exist.
        Forbidden: a source lies in a storage whose credentials are not the caller's.
    """
    experiment_ids, trial_ids = await _ids(ctx, asked)
    experiments = await ctx.db.read(lambda conn: _experiments(conn, experiment_ids, trial_ids))
    for one in experiments:
        _require_storage(ctx.config, caller, one)
    return Sources(experiment_ids, trial_ids, _inherited(caller, experiments[-1]))


async def _ids(ctx: MasterContext, asked: LaunchTensorboardRequest) -> tuple[list[int], list[int]]:
    experiment_ids, trial_ids = set(asked.experiment_ids or ()), set(asked.trial_ids or ())
    if not experiment_ids and not trial_ids and asked.filters is None:
        raise InvalidArgument("must set experiment, trial ids, or filters")
    if asked.filters is not None:
        experiment_ids.update(await experiment_bulk.select(ctx, (), asked.filters, None))
    if not experiment_ids and not trial_ids:
        raise InvalidArgument("no experiments found; change the filters")
    if len(experiment_ids) > _MOST:
        raise InvalidArgument(f"{len(experiment_ids)} experiments are too many for a TensorBoard; the limit is {_MOST}")
    return sorted(experiment_ids), sorted(trial_ids)


def _experiments(conn: Connection, experiment_ids: Sequence[int], trial_ids: Sequence[int]) -> list[SourceExperiment]:
    """List the experiments of all sources by id. Raises NotFound."""
    of_trials = queries.experiments_of_trials(conn, trial_ids)
    _require("trial", trial_ids, of_trials)
    found = queries.list_experiments(conn, sorted({*experiment_ids, *of_trials.values()}))
    _require("experiment", experiment_ids, {one.id for one in found})
    return found


def _require(noun: str, ids: Sequence[int], existing: Container[int]) -> None:
    missing = [id_ for id_ in ids if id_ not in existing]
    if missing:
        raise NotFound(f"{noun} {missing[0]} not found")


def _require_storage(config: MasterConfig, caller: Caller, experiment: SourceExperiment) -> None:
    """Refuse a storage with credentials of somebody else's: the TensorBoard is the caller's task and would get them."""
    if caller.admin or caller.user_id == experiment.owner_id:
        return
    secrets = _secrets(ExperimentConfig.load(experiment.config).checkpoint_storage.raw)
    given_to_all = (cluster_storage(config), experiment.workspace_storage or {})
    if not any(secrets.items() <= storage.items() for storage in given_to_all):
        raise Forbidden(
            f"experiment {experiment.id} keeps its files with credentials of '{experiment.username}', which a"
            f" TensorBoard of yours would get; ask '{experiment.username}' or an administrator to start it"
        )


def _secrets(storage: JsonObject) -> JsonObject:
    shown = mask_secrets({_STORAGE: storage})[_STORAGE]
    return {key: value for key, value in storage.items() if shown[key] != value}


def _inherited(caller: Caller, newest: SourceExperiment) -> JsonObject:
    """Return what is laid under the request: the image of the newest experiment, and how to pull it."""
    environment = ExperimentConfig.load(newest.config).environment
    taken: JsonObject = {"image": environment.image.raw} if environment.image.raw else {}
    pull_secrets = ((environment.pod_spec or {}).get("spec") or {}).get("imagePullSecrets")
    if pull_secrets:
        taken["pod_spec"] = {"spec": {"imagePullSecrets": pull_secrets}}
    if environment.registry_auth and (caller.admin or caller.user_id == newest.owner_id):
        taken["registry_auth"] = environment.registry_auth.raw
    return {"environment": taken} if taken else {}
