"""Manifests of tasks that would break whoever reads them: requests get an answer, exports go on."""

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from registered_models import at, model, refused, version
from stored_checkpoints import directory

from determined.api.session import Session
from determined.cli.exporting import bundle
from determined.master.services import checkpoint_hashes, storage_check_threads
from determined.storage import copying
from determined.storage.local import LocalStorageManager
from determined.storage.manifest import MANIFEST_NAME


def files(*entries: str) -> bytes:
    return f'{{"version": 1, "files": [{", ".join(entries)}]}}'.encode()


HOSTILE = {
    "nested brackets": b"[" * 200_000,
    "an endless size": files('{"path": "weights.bin", "size": 1e999}'),
    "half a surrogate pair in a hash": files(r'{"path": "weights.bin", "size": 10, "hash": "\ud800"}'),
    "half a surrogate pair in a path": files(r'{"path": "\ud800", "size": 10}'),
    "a hash of 50 MB": files('{"path": "weights.bin", "size": 10, "hash": "' + "0" * 50_000_000 + '"}'),
    "a path that is no text": files('{"path": 5, "size": 10}'),
    "a file twice": files(*['{"path": "weights.bin", "size": 10}'] * 2),
    "a sparse file": None,
}


@pytest.fixture(params=HOSTILE.items(), ids=HOSTILE.keys())
def hostile(request: pytest.FixtureRequest, user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    """A checkpoint with such a manifest, which is also the version of a model."""
    uuid: str = checkpoint(user, trial, 4)
    model(user, "m")
    version(user, "m", uuid)
    spoil(directory(user, trial) / uuid, request.param[1])
    return uuid


def spoil(place: Path, raw: bytes | None) -> None:
    (place / MANIFEST_NAME).write_bytes(raw or b"")
    if raw is None:
        os.truncate(place / MANIFEST_NAME, 2**30)


def hashes(user: Any, trial: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    answer = user.get(f"/api/v1/experiments/{trial['experimentId']}/trial_records?hashes=true")
    assert answer.status == 200, answer.raw
    assert len(answer.raw) < 100_000
    return {c["uuid"]: c.get("hashes", {}) for record in answer.json["trials"] for c in record["checkpoints"]}


def test_a_hostile_manifest_gets_a_clear_answer_from_every_route(
    user: Any, trial: dict[str, Any], checkpoint: Any, hostile: str
) -> None:
    good = checkpoint(user, trial, 5)
    found = hashes(user, trial)
    assert found[hostile] == {}
    stored = directory(user, trial) / good / "weights.bin"
    assert found[good]["weights.bin"] == copying.hash_files([stored])[0][1]
    for path in (
        at("m", "versions", "latest", "files"),
        at("m", "versions", "latest", "files", "weights.bin"),
        at("m", "versions", "latest", "archive"),
        f"/checkpoints/{hostile}",
    ):
        answer = user.get(path)
        refused(answer, 409, f"the manifest of checkpoint {hostile} cannot be read")
        assert len(answer.raw) < 2000


@pytest.mark.parametrize("hostile", [("", HOSTILE["nested brackets"]), ("", HOSTILE["an endless size"])], indirect=True)
def test_an_export_goes_on_and_names_the_checkpoint(
    master: Any, user: Any, trial: dict[str, Any], checkpoint: Any, hostile: str, tmp_path: Path
) -> None:
    checkpoint(user, trial, 5)
    token = user.headers["Authorization"].removeprefix("Bearer ")
    with Session(master.url, token=token) as session:
        done = bundle.export(session, [trial["experimentId"]], tmp_path / "one.tar", with_checkpoints=True)
    assert (done.counts.checkpoints, done.counts.checkpoints_copied) == (2, 1)
    assert any(f"checkpoint {hostile}" in warning and "manifest" in warning for warning in done.warnings)


class DriverError(Exception):
    """Error of a driver that says nothing about the checkpoint."""


def test_an_error_of_a_driver_costs_the_hashes_of_that_checkpoint_alone(
    user: Any, trial: dict[str, Any], checkpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, good = checkpoint(user, trial, 1), checkpoint(user, trial, 2)
    read = LocalStorageManager.hashes

    def fail_once(manager: LocalStorageManager, uuid: str) -> dict[str, str]:
        if uuid == broken:
            raise DriverError("key=secret")
        return read(manager, uuid)

    monkeypatch.setattr(LocalStorageManager, "hashes", fail_once)
    found = hashes(user, trial)
    assert found[broken] == {}
    assert set(found[good]) == {"metadata.json", "sub/state", "weights.bin"}


def test_an_error_of_a_driver_is_an_answer_without_its_text(
    user: Any, trial: dict[str, Any], checkpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = checkpoint(user, trial, 1)
    model(user, "m")
    version(user, "m", uuid)

    def fail(*_: object) -> None:
        raise DriverError("key=secret")

    monkeypatch.setattr(LocalStorageManager, "entries", fail)
    monkeypatch.setattr(LocalStorageManager, "opened", fail)
    for path in (
        at("m", "versions", 1, "files"),
        at("m", "versions", 1, "files", "weights.bin"),
        f"/checkpoints/{uuid}",
    ):
        answer = user.get(path)
        refused(answer, 400, "the storage cannot be read now: DriverError")
        assert b"secret" not in answer.raw


def test_a_storage_that_never_ends_to_answer_holds_few_threads_and_no_request(
    user: Any, trial: dict[str, Any], checkpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuids = [checkpoint(user, trial, step) for step in (1, 2)]
    is_over, asked = threading.Event(), []

    def hang(_: LocalStorageManager, uuid: str) -> dict[str, str]:
        asked.append(uuid)
        is_over.wait(60)
        return {}

    threads = threading.Semaphore(3)
    monkeypatch.setattr(checkpoint_hashes, "_threads", threads)
    monkeypatch.setattr(storage_check_threads, "SECONDS", 0.05)
    monkeypatch.setattr(LocalStorageManager, "hashes", hang)
    try:
        for _ in range(5):
            assert hashes(user, trial) == {uuid: {} for uuid in uuids}
        assert len(asked) == 3
    finally:
        is_over.set()
    for _ in range(3):
        assert threads.acquire(timeout=60), "threads are free again when the storage answers"


def test_the_hashes_of_one_answer_have_a_time_limit(
    user: Any, trial: dict[str, Any], checkpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = checkpoint(user, trial, 1)
    monkeypatch.setattr(checkpoint_hashes, "_SECONDS", -1.0)
    assert hashes(user, trial) == {uuid: {}}
