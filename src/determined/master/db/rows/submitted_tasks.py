"""Rows of tasks that users submit themselves: commands, notebooks, shells, TensorBoards, generic tasks.

Written by scripts/make_rows.py from db/schema/submitted_tasks.py; do not edit.
"""

from datetime import datetime
from typing import TypedDict

import msgspec

from determined._json import JsonObject


class SubmittedTask(msgspec.Struct, frozen=True):
    """Columns of a submitted task besides those of its task and its job."""

    task_id: str
    description: str
    config: JsonObject
    submitted_config: JsonObject
    template: str | None
    submitter_python: str | None
    experiment_ids: list[int] | None
    trial_ids: list[int] | None
    last_active: datetime | None
    share_links: int
    is_shared: bool
    state: str | None
    project_id: int | None
    parent_id: str | None
    forked_from: str | None
    no_pause: bool


class SubmittedTaskValues(TypedDict, total=False):
    task_id: str
    description: str
    config: JsonObject
    submitted_config: JsonObject
    template: str | None
    submitter_python: str | None
    experiment_ids: list[int] | None
    trial_ids: list[int] | None
    last_active: datetime | None
    share_links: int
    is_shared: bool
    state: str | None
    project_id: int | None
    parent_id: str | None
    forked_from: str | None
    no_pause: bool
