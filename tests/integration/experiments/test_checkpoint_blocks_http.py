"""Checkpoints that are stored in blocks: whoever reads them through the master or the SDK sees plain files."""

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stored_checkpoints import directory, states

from determined.sdk.determined import Determined
from determined.sdk.enums import DownloadMode
from determined.storage import block_names

WEIGHTS = os.urandom(5 * 1024 * 1024 + 3)


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any, tmp_path: Path) -> dict[str, Any]:
    storage = {"type": "shared_fs", "host_path": str(tmp_path / "blocks"), "deduplicate": "blocks"}
    found: dict[str, Any] = first_trial(user, submit(user, checkpoint_storage=storage)["experiment"]["id"])
    return found


@pytest.fixture
def uuid(user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    return str(checkpoint(user, trial, 1, files={"weights.bin": WEIGHTS, "small.txt": b"s"}))


def test_master_sends_files_that_are_stored_in_blocks(user: Any, trial: dict[str, Any], uuid: str) -> None:
    stored = directory(user, trial) / uuid
    assert not (stored / "weights.bin").exists()
    packed = user.get(f"/checkpoints/{uuid}", headers={"Accept": "application/gzip"})
    with tarfile.open(fileobj=io.BytesIO(packed.raw), mode="r:gz") as archive:
        member = archive.extractfile("weights.bin")
        assert member is not None
        assert member.read() == WEIGHTS
        assert not [name for name in archive.getnames() if block_names.DIRECTORY in name]


@pytest.mark.parametrize("mode", [DownloadMode.DIRECT, DownloadMode.MASTER])
def test_sdk_downloads_files_that_are_stored_in_blocks(
    sdk: Callable[..., Determined], uuid: str, tmp_path: Path, mode: DownloadMode
) -> None:
    sdk().get_checkpoint(uuid).download(str(tmp_path / "back"), mode=mode)
    assert (tmp_path / "back" / "weights.bin").read_bytes() == WEIGHTS
    assert sorted(path.name for path in (tmp_path / "back").iterdir()) == ["metadata.json", "small.txt", "weights.bin"]


def test_globs_remove_files_that_are_stored_in_blocks(
    user: Any, trial: dict[str, Any], uuid: str, collect_until: Any
) -> None:
    body = {"checkpointUuids": [uuid], "checkpointGlobs": ["*.bin"]}
    assert user.post("/api/v1/checkpoints/rm", body).status == 200
    collect_until(lambda: states(user, trial) == {1: "PARTIALLY_DELETED"})
    found = user.get(f"/api/v1/checkpoints/{uuid}").json["checkpoint"]
    assert sorted(found["resources"]) == ["metadata.json", "small.txt"]
    assert list((directory(user, trial) / uuid / block_names.DIRECTORY).iterdir()) == []


def test_how_files_are_shared_makes_no_other_storage(
    user: Any, submit: Any, first_trial: Any, trial: dict[str, Any], uuid: str, checkpoint: Any, tmp_path: Path
) -> None:
    plain = {"type": "shared_fs", "host_path": str(tmp_path / "blocks")}
    second = first_trial(user, submit(user, checkpoint_storage=plain)["experiment"]["id"])
    other = checkpoint(user, second, 1, files={"weights.bin": WEIGHTS})
    ids = {user.get(f"/api/v1/checkpoints/{name}").json["checkpoint"]["storageId"] for name in (uuid, other)}
    assert len(ids) == 1
