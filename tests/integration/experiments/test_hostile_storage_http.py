"""Users choose where checkpoints lie; the master reads and deletes there with its own rights."""

import asyncio
import io
import json
import os
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from determined import storage
from determined.master.background.checkpoint_gc import ATTEMPTS, GarbageCollector
from determined.rundir import tar
from determined.storage.manifest import MANIFEST_NAME
from determined.storage.shared_fs.manager import SharedFSStorageManager

UUID = "3f1d2a8e-0000-4000-8000-00000000000a"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "chosen"
    path.mkdir()
    return path


@pytest.fixture
def trial(user: Any, submit: Any, first_trial: Any, place: Path) -> dict[str, Any]:
    """Of an experiment whose user has chosen the storage."""
    config = {"type": "shared_fs", "host_path": str(place)}
    found: dict[str, Any] = first_trial(user, submit(user, checkpoint_storage=config)["experiment"]["id"])
    return found


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "private"
    path.mkdir()
    (path / "key").write_text("the master's own")
    return path


@pytest.fixture
def collect(master: Any) -> Callable[[], None]:
    """Let the collector try until it has given up or is done."""

    def run() -> None:
        collector = GarbageCollector(master.ctx)
        deadline = time.monotonic() + 60
        tried = 0
        while tried < ATTEMPTS and time.monotonic() < deadline:
            collector._failures = {}
            tried += 1
            asyncio.run(collector.step())

    return run


def _report(client: Any, trial: dict[str, Any], uuid: str) -> Any:
    body = {"uuid": uuid, "taskId": trial["taskId"], "metadata": {"steps_completed": 1}, "resources": {"f": "1"}}
    return client.post("/api/v1/checkpoints", body)


def _delete(client: Any, uuid: str) -> Any:
    return client.call("DELETE", "/api/v1/checkpoints", {"checkpointUuids": [uuid]})


def test_a_directory_of_any_name_cannot_be_passed_off_as_a_checkpoint(
    user: Any, trial: dict[str, Any], place: Path, collect: Any
) -> None:
    (place / "victim").mkdir()
    (place / "victim" / "metadata.json").write_text("{}")
    assert _report(user, trial, "victim").status == 400
    assert _delete(user, "victim").status == 404
    collect()
    assert (place / "victim" / "metadata.json").exists()


def test_a_directory_that_is_no_checkpoint_survives_its_deletion(
    user: Any, trial: dict[str, Any], place: Path, collect: Any
) -> None:
    (place / UUID).mkdir()
    (place / UUID / "thesis.tex").write_text("x")
    assert _report(user, trial, UUID).status == 200
    assert _delete(user, UUID).status == 200
    collect()
    assert (place / UUID / "thesis.tex").exists()


def test_removing_files_by_glob_stays_inside_the_checkpoint(
    user: Any, trial: dict[str, Any], checkpoint: Any, place: Path, secret: Path, collect: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    (place / uuid / "d").symlink_to(secret)
    body = {"checkpointUuids": [uuid], "checkpointGlobs": ["d/key", "d/**", "weights.bin"]}
    assert user.post("/api/v1/checkpoints/rm", body).status == 200
    collect()
    assert not (place / uuid / "weights.bin").exists()
    assert (secret / "key").exists()


@pytest.mark.parametrize("older", [True, False])
def test_a_download_never_reads_through_a_link(
    user: Any, trial: dict[str, Any], checkpoint: Any, place: Path, secret: Path, older: bool
) -> None:
    uuid = checkpoint(user, trial, 1)
    target = place / uuid / "weights.bin"
    target.unlink()
    target.symlink_to(secret / "key")
    (place / uuid / "all").symlink_to(secret)
    if older:
        (place / uuid / MANIFEST_NAME).unlink()
    for kind in ("application/gzip", "application/zip", "application/x-tar"):
        answer = user.get(f"/checkpoints/{uuid}", headers={"Accept": kind})
        assert b"the master's own" not in answer.raw
        assert answer.status == (200 if older else 409), answer.raw


def test_a_forged_manifest_is_refused(
    user: Any, trial: dict[str, Any], checkpoint: Any, place: Path, secret: Path
) -> None:
    uuid = checkpoint(user, trial, 1)
    entry = {"path": f"../../{secret.name}/key", "size": (secret / "key").stat().st_size}
    (place / uuid / MANIFEST_NAME).write_text(json.dumps({"version": 1, "files": [entry]}))
    answer = user.get(f"/checkpoints/{uuid}")
    assert answer.status == 409
    assert "does not name a file inside" in answer.message


def test_our_archives_extract_under_the_strict_filter(
    user: Any, trial: dict[str, Any], checkpoint: Any, tmp_path: Path
) -> None:
    uuid = checkpoint(user, trial, 1)
    packed = user.get(f"/checkpoints/{uuid}")
    with tarfile.open(fileobj=io.BytesIO(packed.raw)) as archive:
        tar.extract_all(archive, tmp_path / "tar")
    zipped = user.get(f"/checkpoints/{uuid}", headers={"Accept": "application/zip"})
    with zipfile.ZipFile(io.BytesIO(zipped.raw)) as archive:
        archive.extractall(tmp_path / "zip")
    for kind in ("tar", "zip"):
        assert (tmp_path / kind / "weights.bin").read_bytes() == b"w" * 10
        assert (tmp_path / kind / "sub" / "state").read_bytes() == b"s"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_in_a_place_users_chose_the_master_touches_only_what_their_tasks_made(
    user: Any, trial: dict[str, Any], checkpoint: Any, place: Path, collect: Any
) -> None:
    uuid = checkpoint(user, trial, 1)
    os.chown(place / uuid, 12345, 12345)
    refused = user.get(f"/checkpoints/{uuid}")
    assert refused.status != 200
    assert "belongs to uid 12345" in refused.message
    _delete(user, uuid)
    collect()
    assert (place / uuid / "weights.bin").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_in_the_clusters_own_storage_it_serves_every_users_files(
    user: Any, submit: Any, first_trial: Any, checkpoint: Any
) -> None:
    trial = first_trial(user, submit(user)["experiment"]["id"])
    uuid = checkpoint(user, trial, 1)
    config = user.get(f"/api/v1/experiments/{trial['experimentId']}").json["experiment"]["config"]
    manager = storage.build(config["checkpoint_storage"])
    with manager.restore_path(uuid) as path:
        os.chown(path, 12345, 12345)
    assert user.get(f"/checkpoints/{uuid}").status == 200


LINKED = {"agentUid": 2002, "agentGid": 2002, "agentUser": "u", "agentGroup": "g"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has tasks of several users")
def test_what_another_users_task_has_left_in_the_clusters_storage_cannot_be_claimed(
    master: Any, admin: Any, user: Any, submit: Any, first_trial: Any, checkpoint: Any, collect: Any, write: Any
) -> None:
    """Everybody can list its name, and only its owner read it; a root master could for whoever says it is theirs."""
    trial = first_trial(user, submit(user)["experiment"]["id"])
    orphan, own = checkpoint(user, trial, 1), checkpoint(user, trial, 2)
    write(lambda conn: conn.exec_driver_sql(f"DELETE FROM checkpoints WHERE uuid = '{orphan}'"))
    base = Path(master.ctx.config.data_dir) / "checkpoints"
    for name, uid in ((orphan, 2001), (own, 2002)):
        os.chown(base / name, uid, uid)
        (base / name).chmod(0o700)
    assert admin.call("PATCH", "/api/v1/users/2", {"agentUserGroup": LINKED}).status == 200
    _report(user, trial, orphan)
    refused = user.get(f"/checkpoints/{orphan}")
    assert refused.status != 200 and "belongs to uid 2001, not to uid 2002" in refused.raw.decode()
    _delete(user, orphan)
    collect()
    assert (base / orphan / "weights.bin").exists()
    assert user.get(f"/checkpoints/{own}").status == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has tasks of several users")
def test_tensorboard_files_of_every_user_find_a_place_in_the_clusters_storage(
    master: Any,
) -> None:
    base = Path(master.ctx.config.data_dir) / "checkpoints"
    own = base / master.ctx.cluster.cluster_id
    for path in (base, own, own / "tensorboard", own / "tensorboard" / "experiment"):
        found = path.stat()
        assert (found.st_uid, found.st_mode & 0o7777) == (0, 0o1777), path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has tasks of several users")
def test_a_directory_that_the_first_user_has_made_is_taken_over_and_a_link_is_not_followed(tmp_path: Path) -> None:
    manager = SharedFSStorageManager(str(tmp_path / "new" / "way" / "store"))
    manager.share("a/b")
    assert (tmp_path / "new" / "way").stat().st_mode & 0o7777 == 0o755
    os.chown(tmp_path / "new/way/store/a", 2001, 2001)
    (tmp_path / "new/way/store/a").chmod(0o700)
    manager.share("a/b")
    found = (tmp_path / "new/way/store/a").stat()
    assert (found.st_uid, found.st_mode & 0o7777) == (0, 0o1777)
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "new/way/store/link").symlink_to(tmp_path / "private")
    with pytest.raises(OSError):
        manager.share("link/b")
    assert (tmp_path / "private").stat().st_mode & 0o7777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_who_squats_anothers_tensorboard_directory_does_not_keep_the_experiment_from_being_deleted(
    master: Any, user: Any, submit: Any
) -> None:
    experiment = submit(user)["experiment"]["id"]
    base = Path(master.ctx.config.data_dir) / "checkpoints" / master.ctx.cluster.cluster_id
    squatted = base / "tensorboard" / "experiment" / str(experiment)
    squatted.mkdir()
    os.chown(squatted, 2001, 2001)
    assert user.call("DELETE", f"/api/v1/experiments/{experiment}/tensorboard-files").status == 200
    assert not squatted.exists()
