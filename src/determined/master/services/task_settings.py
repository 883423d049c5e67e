"""Settings of the programs that notebooks, shells and TensorBoards run, secrets included."""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection

from determined._json import JsonObject
from determined.config import ExperimentConfig
from determined.config.job import JobConfig
from determined.config.task_kinds import NOTEBOOK, SHELL, TENSORBOARD
from determined.master.auth import allocation_token, shell_keys
from determined.master.context import MasterContext
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import trial as trials
from determined.master.db.queries.submitted_task import TaskDetail
from determined.master.lifecycle.idle import idle_timeout
from determined.master.services.experiment_layers import master_storage
from determined.master.services.notebook_settings import notebook_settings
from determined.master.services.tensorboard_settings import SourceTrial, tensorboard_settings


def of_task(conn: Connection, ctx: MasterContext, task_id: str) -> JsonObject | None:
    """Return the settings of a task; None for a kind without a program of its own."""
    task = submitted_tasks.detail(conn, task_id)
    settings = _OF_KIND.get(task.type) if task is not None else None
    return None if task is None or settings is None else settings(conn, ctx, task)


def _of_shell(conn: Connection, ctx: MasterContext, task: TaskDetail) -> JsonObject:
    server = JobConfig.load(task.config).shell.server
    reports_idle = idle_timeout(ctx.config, task.type, task.config) is not None
    secret, ssh = ctx.cluster.secret, ctx.config.security.ssh
    return shell_keys.server_settings(secret, task.task_id, ssh, server, reports_idle=reports_idle)


def _of_notebook(conn: Connection, ctx: MasterContext, task: TaskDetail) -> JsonObject:
    return notebook_settings(
        allocation_token.app_token(ctx.cluster.secret, task.allocation_id),
        JobConfig.load(task.config),
        idle_timeout=idle_timeout(ctx.config, task.type, task.config),
        storage=master_storage(ctx.config),
        cluster_id=ctx.cluster.cluster_id,
        user_id=task.owner_id,
    )


def _of_tensorboard(conn: Connection, ctx: MasterContext, task: TaskDetail) -> JsonObject:
    whole = {id_: _storage(conn, id_) for id_ in task.experiment_ids or ()}
    single = [_trial(conn, id_) for id_ in task.trial_ids or ()]
    return tensorboard_settings(whole, single, JobConfig.load(task.config), ctx.cluster.cluster_id)


def _trial(conn: Connection, trial_id: int) -> SourceTrial:
    experiment_id = trials.get(conn, trial_id).experiment_id
    return SourceTrial(trial_id, experiment_id, _storage(conn, experiment_id))


def _storage(conn: Connection, experiment_id: int) -> JsonObject:
    return ExperimentConfig.load(experiments.get(conn, experiment_id).config).checkpoint_storage.raw


Settings = Callable[[Connection, MasterContext, TaskDetail], JsonObject]
_OF_KIND: Mapping[str, Settings] = {
    NOTEBOOK.name: _of_notebook,
    SHELL.name: _of_shell,
    TENSORBOARD.name: _of_tensorboard,
}
