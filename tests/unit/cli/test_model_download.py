"""`det model download`: what is fetched, what is not, what is refused, and that no name stands for a partial file."""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_master import TIME, Det, Done, error
from small_master import SmallMaster

from determined.sdk.version_download import PARTS
from determined.storage import copying

FILES = {"weights.bin": b"w" * 5000, "sub dir/state#1": b"s" * 10, "empty": b""}
PREFIX = "/api/v1/models/mnist/versions"
MNIST = {
    "id": 4, "name": "mnist", "archived": False, "creationTime": TIME, "lastUpdatedTime": TIME, "metadata": {},
    "numVersions": 1, "userId": 1, "username": "ann", "workspaceId": 7,
}  # fmt: skip
Serve = Callable[..., None]


@pytest.fixture
def serve(master: SmallMaster, tmp_path: Path) -> Serve:
    """`serve(files, sent=None, version=2)`: a version with these files; `sent` has what comes in place of some."""

    def record(files: dict[str, bytes], sent: dict[str, bytes] | None = None, version: int = 2) -> None:
        for name in (str(version), "production", "latest"):
            master.answers["GET", f"{PREFIX}/{name}/files"] = (200, _listing(files, version, tmp_path))
        for path, content in {**files, **(sent or {})}.items():
            quoted = path.replace(" ", "%20").replace("#", "%23")
            master.answers["GET", f"{PREFIX}/{version}/files/{quoted}"] = lambda c=content: _answer(master, c)  # type: ignore[assignment,misc]

    return record


def _answer(master: SmallMaster, content: bytes) -> tuple[int, bytes]:
    """The whole file, or the rest that a Range asks for."""
    asked = master.asked[-1][2].get("Range")
    return (200, content) if asked is None else (206, content[int(asked.removeprefix("bytes=").removesuffix("-")) :])


def _listing(files: dict[str, bytes], version: int, directory: Path) -> dict[str, Any]:
    rows = []
    for path, content in files.items():
        (directory / "hashed").write_bytes(content)
        rows.append({"path": path, "size": len(content), "hash": copying.hash_files([directory / "hashed"])[0][1]})
    return {"modelName": "mnist", "version": version, "checkpointUuid": f"u-{version}", "files": rows}


def _content(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


def _fetched(master: SmallMaster) -> list[tuple[str, str | None]]:
    """The files that were asked for since the last call, each with its Range."""
    found = [(path.rpartition("/files/")[2], how.get("Range")) for _, path, how, _ in master.asked if "/files/" in path]
    master.asked.clear()
    return found


def _download(det: Det, what: str = "mnist:production", *options: str) -> Done:
    return det("model", "download", what, "out", *options)


def test_all_files_come_and_nothing_else_stays(det: Det, serve: Serve, surroundings: Path) -> None:
    serve(FILES)
    done = _download(det)
    assert done.out == ("Downloaded version 2 of model mnist to out: 3 file(s), 4.9KB, sizes and hashes verified\n")
    assert _content(surroundings / "out") == FILES
    assert not (surroundings / "out" / PARTS).exists()


@pytest.mark.parametrize(
    ("typed", "asked"),
    [("mnist", "latest"), ("mnist:latest", "latest"), ("mnist:2", "2"), ("mnist:production", "production")],
)
def test_a_version_is_named_by_number_alias_or_not_at_all(
    det: Det, master: SmallMaster, serve: Serve, typed: str, asked: str
) -> None:
    serve(FILES)
    assert _download(det, typed).status == 0
    assert f"GET {PREFIX}/{asked}/files" in master.paths()
    assert all(path.startswith(f"GET {PREFIX}/2/files/") for path in master.paths() if "/files/" in path)


@pytest.mark.parametrize("typed", ["mnist:", ":production", ":"])
def test_half_a_name_that_no_model_has_is_refused(det: Det, master: SmallMaster, typed: str) -> None:
    path = f"/api/v1/models/{typed.replace(':', '%3A')}/versions/latest/files"
    master.answers["GET", "/api/v1/models/mnist"] = error(404, "not_found", "no such model")
    master.answers["GET", path] = error(404, "not_found", "no such model")
    done = _download(det, typed)
    assert done.status == 2
    assert "is not MODEL:VERSION; write for example mnist:3 or mnist:production" in done.err


@pytest.mark.parametrize(
    ("model", "typed", "path"),
    [
        ("vision:mnist", "vision:mnist", "vision:mnist/versions/latest"),
        ("vision:mnist", "vision:mnist:2", "vision:mnist/versions/2"),
        ("mnist:", "mnist:", "mnist:/versions/latest"),
    ],
)
def test_a_model_may_have_colons_in_its_name(det: Det, master: SmallMaster, model: str, typed: str, path: str) -> None:
    listing = {"modelName": model, "version": 2, "checkpointUuid": "u-2", "files": []}
    for name in ("vision", "mnist"):
        master.answers["GET", f"/api/v1/models/{name}"] = error(404, "not_found", f"no model {name}")
    for other in ("vision/versions/mnist", "vision:mnist:2/versions/latest"):
        quoted = other.replace(":", "%3A")
        master.answers["GET", f"/api/v1/models/{quoted}/files"] = error(404, "not_found", f"no version {other}")
    master.answers["GET", f"/api/v1/models/{path.replace(':', '%3A')}/files"] = (200, listing)
    done = _download(det, typed)
    assert (done.status, f"version 2 of model {model} to out" in done.out) == (0, True), done.err


def test_version_that_is_missing_is_named_also_where_no_model_has_the_whole_name(det: Det, master: SmallMaster) -> None:
    master.answers["GET", f"{PREFIX}/staging/files"] = error(404, "not_found", "model mnist has no version 'staging'")
    master.answers["GET", "/api/v1/models/mnist"] = error(404, "not_found", "no model")
    master.answers["GET", "/api/v1/models/mnist%3Astaging/versions/latest/files"] = error(404, "not_found", "no model")
    done = _download(det, "mnist:staging")
    assert (done.status, "model mnist has no version 'staging'" in done.err, "no model" in done.err) == (1, True, False)


@pytest.mark.parametrize("typed", ["mnist:2", "mnist:"])
def test_model_of_the_whole_name_is_not_taken_where_the_model_before_the_colon_exists(
    det: Det, master: SmallMaster, surroundings: Path, typed: str
) -> None:
    """Anybody may create a model `mnist:2` before version 2 of `mnist` is there."""
    stranger = {"modelName": typed, "version": 1, "checkpointUuid": "u-1", "files": []}
    master.answers["GET", "/api/v1/models/mnist"] = (200, {"model": MNIST})
    master.answers["GET", f"{PREFIX}/2/files"] = error(404, "not_found", "mnist has no version 2")
    master.answers["GET", f"/api/v1/models/{typed.replace(':', '%3A')}/versions/latest/files"] = (200, stranger)
    done = _download(det, typed)
    assert done.status != 0 and ("has no version 2" in done.err or "is not MODEL:VERSION" in done.err)
    assert not (surroundings / "out").exists()


def test_what_is_there_is_verified_and_not_fetched_again(
    det: Det, master: SmallMaster, serve: Serve, surroundings: Path
) -> None:
    serve(FILES)
    _download(det)
    _fetched(master)
    (surroundings / "out" / "sub dir" / "state#1").unlink()
    assert _download(det).status == 0
    assert _fetched(master) == [("sub%20dir/state%231", None)]
    assert _content(surroundings / "out") == FILES


def test_a_partial_file_is_completed(det: Det, master: SmallMaster, serve: Serve, surroundings: Path) -> None:
    serve({"weights.bin": FILES["weights.bin"]}, {"weights.bin": b"w" * 3000})
    assert "sent 3000 of 5000 bytes" in _cut(det)
    assert [name for name in _content(surroundings / "out") if not name.startswith(PARTS)] == []
    _fetched(master)
    serve({"weights.bin": FILES["weights.bin"]})
    assert _download(det).status == 0
    assert _fetched(master) == [("weights.bin", "bytes=3000-")]
    assert _content(surroundings / "out") == {"weights.bin": FILES["weights.bin"]}


def _cut(det: Det) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("determined.sdk.partial_file._MOST_FAILURES", 0)
        done = _download(det)
    assert (done.status, done.out) == (1, "")
    return done.err


def test_content_that_is_not_what_the_manifest_says_is_refused_and_removed(
    det: Det, serve: Serve, surroundings: Path
) -> None:
    serve(FILES, {"weights.bin": b"x" * 5000})
    done = _download(det)
    assert done.status == 1
    assert "what came as 'weights.bin' is not what its manifest says (5000 bytes, hash crc32-16m:" in done.err
    assert "weights.bin" not in _content(surroundings / "out")
    assert not list((surroundings / "out" / PARTS).iterdir())


def test_more_than_the_manifest_says_is_refused(det: Det, serve: Serve, surroundings: Path) -> None:
    serve(FILES, {"weights.bin": b"w" * 5001})
    assert _download(det).status == 1
    assert "weights.bin" not in _content(surroundings / "out")


def test_a_file_that_was_changed_here_is_refused_and_kept(
    det: Det, master: SmallMaster, serve: Serve, surroundings: Path
) -> None:
    serve(FILES)
    _download(det)
    _fetched(master)
    (surroundings / "out" / "weights.bin").write_bytes(b"m" * 5000)
    done = _download(det)
    assert (done.status, _fetched(master)) == (1, [])
    assert (
        "out/weights.bin differs from the file of version 2 of model 'mnist'; give another directory, or --force"
        in (done.err)
    )
    assert (surroundings / "out" / "weights.bin").read_bytes() == b"m" * 5000
    assert _download(det, "mnist:production", "--force").status == 0
    assert _content(surroundings / "out") == FILES


def test_files_of_another_version_are_not_mixed(det: Det, serve: Serve, surroundings: Path) -> None:
    serve(FILES)
    _download(det)
    serve({**FILES, "weights.bin": b"v3" * 2500}, version=3)
    assert "differs from the file of version 3" in _download(det).err
    assert _content(surroundings / "out") == FILES


def test_parts_of_another_version_are_not_taken_for_this_one(det: Det, serve: Serve, surroundings: Path) -> None:
    serve({"weights.bin": FILES["weights.bin"]}, {"weights.bin": b"w" * 3000})
    _cut(det)
    newer = {"weights.bin": b"n" * 5000}
    serve(newer, version=3)
    assert _download(det).status == 0
    assert _content(surroundings / "out") == newer


@pytest.mark.parametrize("path", ["../escaped", "/etc/passwd", "a/../../b", "a//b", "."])
def test_a_path_that_leads_outside_is_refused(
    det: Det, master: SmallMaster, serve: Serve, surroundings: Path, path: str
) -> None:
    serve(FILES)
    listing = master.answers["GET", f"{PREFIX}/production/files"][1]
    listing["files"].append({"path": path, "size": 1, "hash": None})
    done = _download(det)
    assert done.status == 1
    assert "does not name a file inside the checkpoint" in done.err
    assert not (surroundings / "out").exists()


def test_a_checkpoint_without_hashes_is_compared_by_size(det: Det, master: SmallMaster, serve: Serve) -> None:
    serve(FILES)
    for file in master.answers["GET", f"{PREFIX}/production/files"][1]["files"]:
        file["hash"] = None
    assert "sizes verified (this checkpoint was stored without hashes)" in _download(det).out


def test_a_second_download_into_the_same_directory_is_refused(det: Det, serve: Serve, surroundings: Path) -> None:
    serve(FILES)
    (surroundings / "out" / PARTS).mkdir(parents=True)
    descriptor = os.open(surroundings / "out" / PARTS, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert "another download into out is running; wait for its end" in _download(det).err
    os.close(descriptor)
    assert _download(det).status == 0


def test_the_answer_may_be_a_path_or_json(det: Det, serve: Serve) -> None:
    serve(FILES)
    assert _download(det, "mnist:2", "-q").out == "out\n"
    said = json.loads(_download(det, "mnist:2", "--json").out)
    assert (said["version"], said["path"], said["checkpointUuid"], len(said["files"])) == (2, "out", "u-2", 3)


def test_an_unknown_version_is_told_and_leaves_no_directory(det: Det, master: SmallMaster, surroundings: Path) -> None:
    text = 'version 9 for model "mnist" not found'
    master.answers["GET", f"{PREFIX}/9/files"] = error(404, "not_found", text)
    done = _download(det, "mnist:9")
    assert (done.status, done.err) == (1, f"Failed to download the files of a version: {text}\n")
    assert not (surroundings / "out").exists()
