"""Where the master looks for what a task has saved, on each engine."""

from typing import Any

import pytest

from determined.master.config import load_master_config
from determined.master.lifecycle.checkpoint_place import place_of, run_roots

MASTER = load_master_config(
    {
        "data_dir": "/var/det",
        "resource_manager": {"type": "docker", "name": "boxes", "slots": 1},
        "resource_pools": [{"pool_name": "default"}],
        "additional_resource_managers": [
            {"resource_manager": {"type": "agent", "name": "plain"}, "resource_pools": [{"pool_name": "plain"}]},
        ],
    },
    {},
    {},
)
DIRECTORY = {"type": "directory", "container_path": "/ckpt/mine"}


def active(pool: str = "default", *mounts: tuple[str, str]) -> dict[str, Any]:
    listed = [{"host_path": host, "container_path": inside} for host, inside in mounts]
    return {"resources": {"resource_pool": pool}, "bind_mounts": listed}


def test_a_directory_of_a_container_alone_is_nowhere_for_the_master() -> None:
    place = place_of(MASTER, active(), DIRECTORY)
    assert place.section is None and place.is_here
    assert place.reason.startswith("checkpoint_storage.container_path: `/ckpt/mine` is a directory of the container")
    assert "container_path `/ckpt/mine`" in place.reason
    other = place_of(MASTER, active("default", ("/host", "/ckpt-other"), ("/x", "/data")), DIRECTORY)
    assert other.section is None


@pytest.mark.parametrize(
    ("mounts", "path", "outside"),
    [
        ([("/host/c", "/ckpt")], "/ckpt/mine", "/host/c/mine"),
        ([("/host/c", "/ckpt/mine")], "/ckpt/mine", "/host/c"),
        ([("/host/c", "/ckpt/"), ("/host/d", "/ckpt/mine")], "/ckpt/mine/x", "/host/d/x"),
        ([("/host/c", "/")], "/ckpt/mine", "/host/c/ckpt/mine"),
        ([("/host/c", "data")], "/run/determined/workdir/data/x", "/host/c/x"),
    ],
)
def test_a_directory_of_a_container_is_looked_for_behind_its_bind_mount(
    mounts: list[tuple[str, str]], path: str, outside: str
) -> None:
    place = place_of(MASTER, active("default", *mounts), {"type": "directory", "container_path": path})
    assert place.section == {"type": "directory", "container_path": outside} and place.is_here


def test_without_a_container_a_directory_is_what_it_is() -> None:
    assert place_of(MASTER, active("plain", ("/host", "/ckpt")), DIRECTORY).section == DIRECTORY
    assert place_of(MASTER, active(), DIRECTORY, "plain").section == DIRECTORY, "the engine that runs the task counts"
    shared = {"type": "shared_fs", "host_path": "/ckpt"}
    assert place_of(MASTER, active(), shared).section == shared


def test_what_the_master_cannot_be_sure_to_see_is_not_here() -> None:
    bucket = {"type": "s3", "bucket": "b"}
    assert not place_of(MASTER, active(), bucket).is_here
    assert not place_of(MASTER, active("of another time"), DIRECTORY).is_here
    ray = load_master_config({"resource_manager": {"type": "ray"}, "resource_pools": [{"pool_name": "r"}]}, {}, {})
    shared = place_of(ray, active("r"), {"type": "shared_fs", "host_path": "/ckpt"})
    assert shared.is_shared and not shared.is_here
    assert not place_of(ray, active("r"), bucket).is_shared


def test_run_directories_of_every_engine_are_known() -> None:
    assert {"/var/det/runs", "/var/det/boxes/runs"} <= set(run_roots(MASTER))
