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
        description: default name of a task that users submit themselves; `{words}` stands for random words.
        program: module that is run in place of the user's entrypoint; it serves on the task's service socket.
        is_raw: its service takes raw bytes, not HTTP.
        fixed_slots: slots of every task of this kind, whatever its config says.
        is_preemptible: it can be asked to save and leave.
        reports_use: its program tells the master whether it is in use; requests through the proxy count besides.
        acts_for_owner: programs in it may do what its owner may, without administration.
    """

    type: TaskType
    job: JobType
    config: str = ""
    title: str = "{task_id}"
    usage: str = ""
    is_queued: bool = True
    counted_as: str = ""
    description: str = ""
    program: str = ""
    is_raw: bool = False
    fixed_slots: int | None = None
    is_preemptible: bool = False
    reports_use: bool = False
    acts_for_owner: bool = False

    @property
    def noun(self) -> str:
        """The kind in messages and paths."""
        return self.name.lower()

    @property
    def name(self) -> str:
        """The type as it is stored."""
        return self.type.name

    @property
    def usage_word(self) -> str:
        return self.usage or self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedTaskKind(TaskKind):
    """Kind of task that users submit by itself."""

    config: str = "config.job.JobConfig"
    title: str = "{description}"


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
COMMAND = SubmittedTaskKind(
    type=TaskType.COMMAND,
    job=JobType.COMMAND,
    counted_as="commands",
    description="Command ({words})",
    acts_for_owner=True,
)
NOTEBOOK = SubmittedTaskKind(
    type=TaskType.NOTEBOOK,
    job=JobType.NOTEBOOK,
    counted_as="notebooks",
    description="JupyterLab ({words})",
    program="determined.exec.notebook",
    reports_use=True,
    acts_for_owner=True,
)
SHELL = SubmittedTaskKind(
    type=TaskType.SHELL,
    job=JobType.SHELL,
    counted_as="shells",
    description="Shell ({words})",
    program="determined.exec.shell_server",
    is_raw=True,
    reports_use=True,
    acts_for_owner=True,
)
TENSORBOARD = SubmittedTaskKind(
    type=TaskType.TENSORBOARD,
    job=JobType.TENSORBOARD,
    counted_as="tensorboards",
    description="TensorBoard ({words})",
    program="determined.exec.tensorboard",
    fixed_slots=0,
)
GENERIC = SubmittedTaskKind(
    type=TaskType.GENERIC,
    job=JobType.GENERIC,
    config="config.job.GenericTaskConfig",
    description="Generic Task ({words})",
    is_preemptible=True,
    acts_for_owner=True,
)

KINDS: Mapping[str, TaskKind] = {
    kind.name: kind for kind in (TRIAL, CHECKPOINT_GC, COMMAND, NOTEBOOK, SHELL, TENSORBOARD, GENERIC)
}


def kind_of_job(job_type: str) -> TaskKind:
    """Kind of the tasks that a job of a stored type has."""
    return next(kind for kind in KINDS.values() if kind.job.name == job_type)
