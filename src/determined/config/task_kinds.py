"""Registry of the kinds of tasks. What lists, queues, counts and configs know of a kind is in its row here.

The database stores the name of the type on the wire: `TRIAL` of `TASK_TYPE_TRIAL`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from determined.wire.job import JobType
from determined.wire.task import TaskType


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskKind:
    """Kind of task.

    Attributes:
        type: of the task, on the wire.
        job: type of the job that the task belongs to.
        config: where its config is declared, below `determined`; empty where users write none.
        title: name of a task in lists; fields in braces are columns of its allocation.
        usage: word for it in reports of used slots; empty: its name.
        is_queued: its job is shown in the queue.
        counted_as: field of the count of active tasks; empty: it is not counted.
    """

    type: TaskType
    job: JobType
    config: str = ""
    title: str = "{task_id}"
    usage: str = ""
    is_queued: bool = True
    counted_as: str = ""

    @property
    def name(self) -> str:
        """The type as it is stored."""
        return self.type.name

    @property
    def usage_word(self) -> str:
        return self.usage or self.name.lower()


TRIAL = TaskKind(
    type=TaskType.TRIAL,
    job=JobType.EXPERIMENT,
    config="config.experiment_schema.ExperimentConfig",
    title="Trial {trial_id} (Experiment {experiment_id})",
    usage="training",
)
CHECKPOINT_GC = TaskKind(
    type=TaskType.CHECKPOINT_GC,
    job=JobType.CHECKPOINT_GC,
    title="Checkpoint GC (Experiment {experiment_id})",
    is_queued=False,
)
_JOB_CONFIG = "config.job.JobConfig"

KINDS: Mapping[str, TaskKind] = {
    kind.name: kind
    for kind in (
        TRIAL,
        CHECKPOINT_GC,
        TaskKind(type=TaskType.COMMAND, job=JobType.COMMAND, config=_JOB_CONFIG, counted_as="commands"),
        TaskKind(type=TaskType.NOTEBOOK, job=JobType.NOTEBOOK, config=_JOB_CONFIG, counted_as="notebooks"),
        TaskKind(type=TaskType.SHELL, job=JobType.SHELL, config=_JOB_CONFIG, counted_as="shells"),
        TaskKind(type=TaskType.TENSORBOARD, job=JobType.TENSORBOARD, config=_JOB_CONFIG, counted_as="tensorboards"),
        TaskKind(type=TaskType.GENERIC, job=JobType.GENERIC, config="config.job.GenericTaskConfig"),
    )
}


def kind_of_job(job_type: str) -> TaskKind:
    """Kind of the tasks that a job of a stored type has."""
    return next(kind for kind in KINDS.values() if kind.job.name == job_type)
