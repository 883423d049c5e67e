"""Tables of tasks that users submit themselves: commands, notebooks, shells, TensorBoards, generic tasks."""

from datetime import datetime

from sqlalchemy import JSON, Column, ForeignKey, Named, Table, Text, false

from determined._json import JsonObject
from determined.master.db.schema.base import Columns, Id, Time, metadata


class SubmittedTaskColumns(Columns):
    """Columns of a submitted task besides those of its task and its job."""

    task_id: Named[str] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    description: Named[str] = Column(Text)
    config: Named[JsonObject] = Column(JSON)  # fully defaulted
    submitted_config: Named[JsonObject] = Column(JSON)  # as the user sent it
    template: Named[str | None]
    submitter_python: Named[str | None]  # interpreter of the submitter's environment, local engine only
    experiment_ids: Named[list[int] | None] = Column(JSON(none_as_null=True))  # sources of a TensorBoard
    trial_ids: Named[list[int] | None] = Column(JSON(none_as_null=True))
    last_active: Named[datetime | None] = Column(Time)  # last use of its service, for idle timeouts
    share_links: Named[int] = Column(server_default="0")  # how many links to its service were made; the last one counts
    is_shared: Named[bool] = Column(server_default=false())  # the last link is valid
    # generic tasks only
    state: Named[str | None]  # of wire.task.GenericTaskState: ACTIVE, STOPPING_PAUSED, PAUSED, ...
    project_id: Named[int | None] = Column(Id, ForeignKey("projects.id", ondelete="SET NULL"), index=True)
    parent_id: Named[str | None] = Column(ForeignKey("tasks.id", ondelete="SET NULL"), index=True)
    forked_from: Named[str | None]
    no_pause: Named[bool] = Column(server_default=false())


submitted_tasks = Table("submitted_tasks", metadata, SubmittedTaskColumns)


class TaskContextColumns(Columns):
    """Packed context directory of a submitted task."""

    task_id: Named[str] = Column(ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True)
    tgz: Named[bytes]


task_contexts = Table("task_contexts", metadata, TaskContextColumns)
