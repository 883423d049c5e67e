"""Changes of a job in the queue: those of an experiment or of a submitted task, inside a write transaction."""

from datetime import datetime

from sqlalchemy import Connection

from determined.config.task_kinds import KINDS
from determined.errors import InvalidArgument
from determined.master.db import fetch
from determined.master.db.queries import job as jobs
from determined.master.db.queries import submitted_task as submitted_tasks
from determined.master.db.queries import task as tasks
from determined.master.db.rows.experiments import JobValues
from determined.master.lifecycle import experiment, submitted_task


def set_resources(conn: Connection, now: datetime, job_id: str, changes: JobValues) -> None:
    """Change what scheduling knows of a job: priority, weight, pool.

    Raises:
        NotFound, InvalidArgument, FailedPrecondition: no such job, a wrong value, or it has ended.
    """
    experiment_id = jobs.experiment_of(conn, job_id)
    if experiment_id is not None:
        experiment.set_resources(conn, now, experiment_id, changes)
        return
    task_id = fetch.existing(submitted_tasks.of_job(conn, job_id), f"job {job_id} not found")
    if "pool" in changes:
        noun = KINDS[tasks.get(conn, task_id).type].noun
        raise InvalidArgument(f"only experiments can move to another resource pool; start the {noun} there instead")
    submitted_task.set_resources(conn, task_id, changes)
