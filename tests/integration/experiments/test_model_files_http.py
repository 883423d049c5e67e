"""Files of a model version with nothing but HTTP: listed with hashes, sent whole, in parts and as archives."""

import hashlib
import io
import random
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from registered_models import at, model, refused, version
from stored_checkpoints import directory

from determined.storage import copying

CONTENTS = {"weights.bin": random.Random(1).randbytes(2_500_000), "sub/Größe 学習 %2F?#.txt": b"odd", "empty": b""}


@pytest.fixture
def uuid(user: Any, trial: dict[str, Any], checkpoint: Any) -> str:
    stored: str = checkpoint(user, trial, 4, files=CONTENTS)
    model(user, "m l")
    version(user, "m l", stored)
    user.put(at("m l", "aliases", "production"), {"version": 1})
    return stored


def files(*path: str, of: str = "production") -> str:
    return at("m l", "versions", of, "files", *path)


def test_files_are_listed_with_the_hashes_of_the_manifest(user: Any, uuid: str, tmp_path: Path) -> None:
    listed = user.get(files()).json
    assert (listed["modelName"], listed["version"], listed["checkpointUuid"]) == ("m l", 1, uuid)
    assert [file["path"] for file in listed["files"]] == ["empty", "metadata.json", *sorted(CONTENTS)[1:]]
    for file in listed["files"]:
        answer = user.get(files(*file["path"].split("/"), of="1"))
        assert (answer.status, len(answer.raw)) == (200, file["size"]), file
        (tmp_path / "copy").write_bytes(answer.raw)
        assert copying.hash_files([tmp_path / "copy"]) == [(file["size"], file["hash"])]
        assert CONTENTS.get(file["path"], answer.raw) == answer.raw


def test_a_slash_in_a_path_may_be_quoted(user: Any, uuid: str) -> None:
    assert user.get(files("sub/Größe 学習 %2F?#.txt")).raw == b"odd"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=10-19", 10, 20),
        ("bytes=2000000-", 2_000_000, 2_500_000),
        ("bytes=-7", 2_499_993, 2_500_000),
        ("bytes=2499999-9999999999", 2_499_999, 2_500_000),
        ("bytes=1000000-1048577", 1_000_000, 1_048_578),
    ],
)
def test_a_range_gets_its_part(user: Any, uuid: str, asked: str, start: int, end: int) -> None:
    answer = user.get(files("weights.bin"), headers={"Range": asked})
    assert (answer.status, answer.raw) == (206, CONTENTS["weights.bin"][start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/2500000"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize("asked", ["bytes=0-1,5-6", "lines=1-2", "bytes=-", "bytes=5-2", "bytes", "bytes=a-b"])
def test_a_range_that_is_none_gets_the_whole_file(user: Any, uuid: str, asked: str) -> None:
    answer = user.get(files("weights.bin"), headers={"Range": asked})
    assert (answer.status, answer.raw) == (200, CONTENTS["weights.bin"])
    assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize("asked", ["bytes=2500000-", "bytes=9999999999999999-", "bytes=-0"])
def test_a_range_past_the_end_says_how_long_the_file_is(user: Any, uuid: str, asked: str) -> None:
    answer = user.get(files("weights.bin"), headers={"Range": asked})
    refused(answer, 416, f"{asked} is past the end of a file of 2500000 bytes")
    assert answer.headers["content-range"] == "bytes */2500000"


def test_a_download_that_was_cut_off_goes_on_only_with_the_same_file(
    user: Any, uuid: str, trial: Any, checkpoint: Any
) -> None:
    tag = user.get(files("weights.bin"), headers={"Range": "bytes=0-9"}).headers["etag"]
    resumed = {"Range": "bytes=10-", "If-Range": tag}
    assert user.get(files("weights.bin"), headers=resumed).raw == CONTENTS["weights.bin"][10:]
    newer = checkpoint(user, trial, 5, files={"weights.bin": b"newer" * 100})
    version(user, "m l", newer)
    user.put(at("m l", "aliases", "production"), {"version": 2})
    whole = user.get(files("weights.bin"), headers=resumed)
    assert (whole.status, whole.raw) == (200, b"newer" * 100), "the alias has moved meanwhile"


def test_curl_downloads_a_version_and_resumes(user: Any, uuid: str, master: Any, tmp_path: Path) -> None:
    token, target = user.headers["Authorization"], tmp_path / "weights.bin"
    target.write_bytes(CONTENTS["weights.bin"][:1_000_000])
    curl = ["curl", "-fsS", "-H", f"Authorization: {token}", "-C", "-", "-o", str(target)]
    done = subprocess.run(
        [*curl, master.url + files("weights.bin")], capture_output=True, timeout=60, check=False, text=True
    )
    assert done.returncode == 0, done.stderr
    digest = hashlib.sha256(CONTENTS["weights.bin"]).hexdigest()
    assert hashlib.sha256(target.read_bytes()).hexdigest() == digest


def test_a_version_comes_as_an_archive(user: Any, uuid: str) -> None:
    answer = user.get(at("m l", "versions", "latest", "archive"), headers={"Accept": "application/x-tar"})
    assert 'filename="m_l-1.tar"' in answer.headers["content-disposition"]
    with tarfile.open(fileobj=io.BytesIO(answer.raw)) as archive:
        members = {member.name: archive.extractfile(member) for member in archive if member.isfile()}
        assert {name: file.read() for name, file in members.items() if file and name in CONTENTS} == CONTENTS


@pytest.mark.parametrize(
    "path", ["nothing", "../metadata.json", "sub", "sub/", ".det-manifest.json", "/etc/passwd", "a\0b", "x" * 5000]
)
def test_what_is_no_file_of_the_version_is_not_found(user: Any, uuid: str, path: str) -> None:
    answer = user.get(files(path))
    assert answer.status in (400, 404), answer.raw


def test_a_link_in_the_place_of_a_file_leads_nowhere(user: Any, uuid: str, trial: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"o" * 3)
    stored = directory(user, trial) / uuid / "sub" / "Größe 学習 %2F?#.txt"
    stored.unlink()
    stored.symlink_to(secret)
    answer = user.get(files("sub", stored.name))
    refused(answer, 409, "is damaged")
    assert b"ooo" not in answer.raw


def test_a_file_that_was_cut_off_in_the_storage_is_damaged(user: Any, uuid: str, trial: Any) -> None:
    stored = directory(user, trial) / uuid / "weights.bin"
    stored.write_bytes(b"short")
    refused(user.get(files("weights.bin")), 409, "is damaged")


def test_files_of_a_storage_that_cannot_be_opened_are_refused(user: Any, unreachable: str) -> None:
    model(user, "far")
    version(user, "far", unreachable)
    for path in (at("far", "versions", 1, "files"), at("far", "versions", 1, "files", "w")):
        assert user.get(path).status == 400


def test_files_need_credentials(master: Any, uuid: str) -> None:
    for path in (files(), files("weights.bin"), at("m l", "versions", 1, "archive")):
        assert master.anonymous.get(path).status == 401
