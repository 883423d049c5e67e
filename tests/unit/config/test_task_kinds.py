"""The registry of task kinds."""

from importlib import import_module

import pytest

from determined.config.task_kinds import KINDS, TaskKind, kind_of_job
from determined.schema.section import Section
from determined.wire.job import JobType
from determined.wire.task import GetActiveTasksCountResponse, TaskType


def test_every_type_on_the_wire_is_a_kind_of_its_own() -> None:
    assert {kind.type for kind in KINDS.values()} == set(TaskType) - {TaskType.UNSPECIFIED}
    jobs = [kind.job for kind in KINDS.values()]
    assert sorted(jobs) == sorted(set(JobType) - {JobType.UNSPECIFIED, JobType.EXTERNAL})
    assert all(kind_of_job(kind.job.name) is kind for kind in KINDS.values())


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.config], ids=lambda kind: kind.name)
def test_the_config_of_a_kind_is_a_section(kind: TaskKind) -> None:
    module, _, name = kind.config.rpartition(".")
    assert issubclass(getattr(import_module(f"determined.{module}"), name), Section)


def test_counts_of_active_tasks_have_a_kind_each() -> None:
    assert {kind.counted_as for kind in KINDS.values() if kind.counted_as} == set(
        GetActiveTasksCountResponse.__struct_fields__
    )
