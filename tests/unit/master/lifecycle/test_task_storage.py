"""Storages of submitted tasks, and what of them a container needs."""

from determined.config.container_defaults import TaskContainerDefaults
from determined.config.job import prepare_job
from determined.engines.model import Mount
from determined.master.lifecycle import task_storage
from determined.master.lifecycle.containers import of_submitted_task

SHARED = {"type": "shared_fs", "host_path": "/shared", "propagation": "rslave"}
OTHER = {"type": "shared_fs", "host_path": "/other", "storage_path": "deep", "propagation": "rprivate"}
BUCKET = {"type": "s3", "bucket": "b"}
DIRECTORY = {"type": "directory", "container_path": "/of/the/task"}


def test_shared_directories_are_mounted_once_and_other_stores_not_at_all() -> None:
    found = task_storage.mounts_of([SHARED, BUCKET, OTHER, DIRECTORY, SHARED])
    assert found == [("/other", "rprivate"), ("/shared", "rslave")]


def test_a_container_has_them_after_the_users_own_mounts() -> None:
    raw = {"bind_mounts": [{"host_path": "/data", "container_path": "/data"}]}
    config = prepare_job(raw, template=None, container_defaults={}, default_priority=42, has_context=False)
    container = of_submitted_task(config, "cpu", TaskContainerDefaults(), [("/shared", "rslave")])
    assert container.mounts == (Mount("/data", "/data"), Mount("/shared", "/shared", propagation="rslave"))
