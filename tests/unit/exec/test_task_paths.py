"""Which directories of the node a task sees under a /tmp of its own."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from determined.environments.interpreter import own
from determined.exec.runner.task_paths import needed_paths
from determined.rundir.layout import RunDir
from determined.storage.directory.config import section_at as directory_section
from determined.storage.shared_fs.config import section_at
from determined.wire.report import LaunchFile, TaskSpec


@pytest.fixture
def store() -> Iterator[Path]:
    """A store that is not there yet, in the node's /tmp."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        yield Path(directory) / "store"


def _needed(tmp_path: Path, **changes: Any) -> list[str]:
    launch = LaunchFile(
        master_url="http://localhost:9", token="t", allocation_id="a", resource_id="r", container_id="c", node_id="n",
        rank=0, slot_ids=[],
    )  # fmt: skip
    spec = TaskSpec(
        task_id="t", task_type="NOTEBOOK", cluster_id="c", master_id="m", username="u", entrypoint=[], **changes
    )
    return needed_paths(launch, spec, RunDir(tmp_path), own(), {"DET_WORKDIR": str(tmp_path), "PYTHONPATH": ""})


def test_a_task_sees_its_run_directory_and_python(tmp_path: Path) -> None:
    needed = _needed(tmp_path)
    assert {str(tmp_path), str(Path(sys.executable).parent.parent)} <= set(needed)


@pytest.mark.parametrize(
    "changes",
    [
        lambda section: {"config": {"checkpoint_storage": section}},
        lambda section: {"settings": {"savedFiles": {"storage": section, "prefix": "p"}}},
        lambda section: {"settings": {"sources": [{"storage": {"type": "s3", "bucket": "b"}}, {"storage": section}]}},
    ],
    ids=["trial", "notebook", "tensorboard"],
)
@pytest.mark.parametrize("section", [section_at, directory_section])
def test_a_store_in_tmp_is_made_and_seen(changes: Any, section: Any, store: Path, tmp_path: Path) -> None:
    assert str(store) in _needed(tmp_path, **changes(section(str(store))))
    assert store.is_dir()
