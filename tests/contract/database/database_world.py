"""Rows to try queries on, made by the queries themselves. Ids are the database's own: no case may expect a number."""

import itertools
import uuid
from datetime import UTC, datetime, timedelta
from functools import cached_property

from sqlalchemy import Connection

from determined.master.db.queries import (
    allocation,
    checkpoint,
    experiment,
    job,
    model,
    model_version,
    project,
    runner,
    task,
    trial,
    user,
)
from determined.master.db.queries import workspace as workspaces
from determined.master.db.rows.allocations import AllocationValues, RunnerValues, TaskValues
from determined.master.db.rows.checkpoints import CheckpointValues
from determined.master.db.rows.experiments import ExperimentValues, JobValues, TrialValues
from determined.master.db.rows.models import ModelValues, ModelVersion, ModelVersionValues
from determined.master.db.rows.users import UserValues
from determined.master.db.rows.workspaces import ProjectValues, WorkspaceValues

NOW = datetime(2026, 11, 15, 4, 0, 0, 123_457, tzinfo=UTC)  # the microseconds must come back
AWKWARD = '50%_off\'d \\ "Größe" 学習 🚀 ; DROP'  # what LIKE, quoting and encodings trip over


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


class World:
    """Maker of users, projects, experiments, trials and what hangs on them, each with a name of its own."""

    def __init__(self, conn: Connection, name: str = "one") -> None:
        self.conn = conn
        self._world = name
        self._numbers = itertools.count(1)

    @cached_property
    def owner(self) -> int:
        return self.user({})

    @cached_property
    def home(self) -> int:
        """Id of the project that experiments are in unless they name another."""
        return self.project({})

    @cached_property
    def workspace_id(self) -> int:
        return self.workspace({})

    def user(self, values: UserValues) -> int:
        return user.create(self.conn, NOW, {"username": self._name("user"), **values})

    def workspace(self, values: WorkspaceValues) -> int:
        return workspaces.create(self.conn, NOW, {"name": self._name("workspace"), "user_id": self.owner, **values})

    def project(self, values: ProjectValues) -> int:
        made: ProjectValues = {
            "name": self._name("project"),
            "user_id": self.owner,
            "workspace_id": values.get("workspace_id") or self.workspace_id,
            "notes": [],
            **values,
        }
        return project.create(self.conn, NOW, made)

    def job(self, values: JobValues) -> str:
        made: JobValues = {
            "id": str(uuid.uuid4()),
            "type": "EXPERIMENT",
            "owner_id": self.owner,
            "workspace_id": self.workspace_id,
            "pool": "default",
            "priority": 42,
            "weight": 1.0,
            "submitted_at": NOW,
            "position": 1.0,
            **values,
        }
        job.insert_row(self.conn, made)
        return made["id"]

    def experiment(self, values: ExperimentValues, job_values: JobValues | None = None) -> int:
        made: ExperimentValues = {
            "job_id": self.job(job_values or {}),
            "project_id": self.home,
            "owner_id": self.owner,
            "state": "ACTIVE",
            "name": self._name("experiment"),
            "labels": [],
            "config": {"searcher": {"name": "single", "metric": "loss"}},
            "original_config": "",
            "generation": "late",
            "searcher_metric": "loss",
            "smaller_is_better": True,
            "start_time": NOW,
            **values,
        }
        return experiment.insert_row(self.conn, made)

    def trial(self, experiment_id: int, values: TrialValues) -> int:
        request = self._name("request")
        made: TrialValues = {
            "experiment_id": experiment_id,
            "request_id": request,
            "task_id": f"{experiment_id}.{request}",
            "state": "ACTIVE",
            "hparams": {"lr": 0.1},
            "seed": 2**40 + 1,
            "run_id": 1,
            "start_time": NOW,
            **values,
        }
        trial_id = trial.insert_rows(self.conn, [made])[made["task_id"]]
        job_id = experiment.get(self.conn, experiment_id).job_id
        self.task({"id": made["task_id"], "trial_id": trial_id, "experiment_id": experiment_id, "job_id": job_id})
        return trial_id

    def task(self, values: TaskValues) -> str:
        made: TaskValues = {"id": self._name("task"), "type": "TRIAL", "start_time": NOW, **values}
        task.insert_row(self.conn, made)
        return made["id"]

    def allocation(self, trial_id: int, values: AllocationValues) -> str:
        task_id = trial.get(self.conn, trial_id).task_id
        made: AllocationValues = {
            "id": f"{task_id}.{self._number()}",
            "task_id": task_id,
            "trial_id": trial_id,
            "run_id": 1,
            "state": "RUNNING",
            "slots": 1,
            "pool": "default",
            "preemptible": True,
            "requested_at": NOW,
            **values,
        }
        allocation.insert_row(self.conn, made)
        return made["id"]

    def runner(self, allocation_id: str, values: RunnerValues) -> str:
        made: RunnerValues = {
            "resource_id": self._name("resource"),
            "allocation_id": allocation_id,
            "container_id": self._name("container"),
            "rank": 0,
            "engine": "local",
            "node_id": "node-1",
            "slot_ids": [0],
            "device": "cpu",
            "state": "RUNNING",
            **values,
        }
        runner.insert_rows(self.conn, [made])
        return made["resource_id"]

    def checkpoint(self, trial_id: int, values: CheckpointValues) -> str:
        owner = trial.get(self.conn, trial_id)
        made: CheckpointValues = {
            "uuid": str(uuid.uuid4()),
            "task_id": owner.task_id,
            "trial_id": trial_id,
            "experiment_id": owner.experiment_id,
            "run_id": 1,
            "state": "COMPLETED",
            "steps_completed": 100,
            "metadata": {"steps_completed": 100},
            "resources": {"model.pt": 10},
            "size": 10,
            "report_time": NOW,
            **values,
        }
        checkpoint.insert_row(self.conn, made)
        return made["uuid"]

    def model(self, values: ModelValues) -> int:
        made: ModelValues = {
            "name": self._name("model"),
            "metadata": {},
            "labels": [],
            "user_id": self.owner,
            "workspace_id": self.workspace_id,
            **values,
        }
        return model.create(self.conn, NOW, made)

    def model_version(self, model_id: int, checkpoint_uuid: str, seconds: float = 0) -> ModelVersion:
        """Register a checkpoint as the next version of a model."""
        number = model.next_version(self.conn, after(seconds), model_id)
        made: ModelVersionValues = {
            "model_id": model_id,
            "version": number,
            "checkpoint_uuid": checkpoint_uuid,
            "user_id": self.owner,
            "metadata": {},
            "labels": [],
        }
        model_version.create(self.conn, after(seconds), made)
        row = model_version.get(self.conn, model_id, number)
        assert row is not None
        return row

    def _name(self, kind: str) -> str:
        return f"{kind}-{self._world}-{self._number()}"

    def _number(self) -> int:
        return next(self._numbers)
