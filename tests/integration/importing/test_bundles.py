"""Bundles: an exported cluster comes into another database whole, and is exported from there as the same bytes."""

import hashlib
import io
import json
import shutil
import signal
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import bundle_ground
import pytest
from bundle_ground import FILES, ODD_GROUP, UUIDS
from importer import Importer
from sqlalchemy import Connection, select

from determined.api import checkpoint
from determined.api.login import login
from determined.api.session import Session
from determined.bundle import layout
from determined.bundle.layout import JSON_LINES, PARQUET
from determined.cli.exporting import bundle
from determined.master.auth.password import UNUSABLE
from determined.master.config import load_master_config
from determined.master.db import schema
from determined.master.db.queries import experiment as experiments
from determined.master.db.queries import import_unit, imported
from determined.master.db.queries import job as jobs
from determined.master.importing import command
from determined.master.importing.sources.bundle.plan import CHECK
from determined.master.importing.target import Target
from determined.sdk.download import download
from determined.sdk.enums import DownloadMode
from determined.storage.copying import hash_files
from determined.storage.manifest import MANIFEST_NAME
from determined.storage.shared_fs.config import section_at

OVER = [1, 2, 3]  # experiments that an import takes as they are; the fourth is live
T = TypeVar("T")
Export = Callable[..., Path]


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data directory of a filled cluster that no test changes."""
    root = tmp_path_factory.mktemp("ground")
    bundle_ground.fill(root / "data", None, 1200, root / "files")
    return root / "data"


@pytest.fixture
def export(start_master: Callable[..., Any], tmp_path: Path) -> Export:
    """`export(data, ids, db_url=None, **how)`: the path of a bundle of a cluster, read by its administrator.

    The master of the cluster stays on until another cluster's is needed.
    """
    serving: dict[Path, Any] = {}

    def master_of(data: Path, db_url: str | None) -> Any:
        if data not in serving:
            while serving:
                serving.popitem()[1].stop()
            serving[data] = start_master(db_url, data_dir=data)
        return serving[data]

    def run(data: Path, ids: list[int], db_url: str | None = None, **how: Any) -> Path:
        master = master_of(data, db_url)
        password = data / "initial-password"
        token = login(master.url, "admin", password.read_text().strip() if password.exists() else "")
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.tar"
        with Session(master.url, token=token) as session:
            bundle.export(session, ids, path, **how)
        return path

    return run


class Cluster:
    """Cluster on SQLite whose imports run in this process."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data, self._capsys = data, capsys
        self._config = load_master_config({"data_dir": str(data), "security": {"initial_user_password": ""}}, {}, {})

    def run(self, *arguments: str, status: int = 0) -> list[dict[str, Any]]:
        """Import to the end and return the events."""
        ended = command.main(self._config, ["bundle", *arguments])
        lines = self._capsys.readouterr().out.splitlines()
        assert ended == status, lines[-3:]
        return [json.loads(line) for line in lines]

    def read(self, look: Callable[[Connection], T]) -> T:
        return Importer(self.data, None).read(look)

    def write(self, change: Callable[[Connection], None]) -> None:
        target = Target(self._config)
        try:
            target.write(change)
        finally:
            target.close()


@pytest.fixture
def into(tmp_path: Path, sqlite_template: Path, capsys: pytest.CaptureFixture[str]) -> Cluster:
    (tmp_path / "into").mkdir()
    shutil.copy(sqlite_template, tmp_path / "into" / "master.db")
    return Cluster(tmp_path / "into", capsys)


def contents(path: Path) -> dict[str, bytes]:
    """Files of a bundle by name; of the manifest what does not name the cluster."""
    with tarfile.open(path) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    manifest = json.loads(found[layout.MANIFEST])
    del manifest["cluster_id"]
    return {**found, layout.MANIFEST: json.dumps(manifest).encode()}


def require_equal(ours: Path, theirs: Path, *, moved: bool = False) -> None:
    """Compare bundles byte by byte. `moved`: but for where the files of copied checkpoints are now."""
    first, second = contents(ours), contents(theirs)
    assert list(first) == list(second)
    different = {name for name in first if first[name] != second[name]}
    if moved and different:
        assert different == {"experiments/1/checkpoints.json", layout.MANIFEST}
        of_files = [json.loads(found[layout.MANIFEST])["files"] for found in (first, second)]
        assert {name for name, file in of_files[0].items() if file != of_files[1][name]} == different - {
            layout.MANIFEST
        }
        here, there = checkpoints(ours), checkpoints(theirs)
        assert {**here[UUIDS[0]], "storage": None} == {**there.pop(UUIDS[0]), "storage": None}
        del here[UUIDS[0]]
        assert here == there
    else:
        assert different == set()


def checkpoints(path: Path) -> dict[str, Any]:
    """Return what a bundle says of the checkpoints of experiment 1."""
    return {entry["uuid"]: entry for entry in json.loads(contents(path)["experiments/1/checkpoints.json"])}


def with_other_hash(path: Path, target: Path) -> Path:
    """Write a bundle again whose manifest of the first checkpoint has another hash for its weights."""
    with tarfile.open(path) as archive:
        files = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    name = "experiments/1/checkpoints.json"
    known = checkpoints(path)[UUIDS[0]]["hashes"]["a/weights"].encode()
    files[name] = files[name].replace(known, b"crc32-16m:" + b"0" * 32)
    manifest = json.loads(files[layout.MANIFEST])
    manifest["files"][name]["sha256"] = hashlib.sha256(files[name]).hexdigest()
    files[layout.MANIFEST] = json.dumps(manifest).encode()
    with tarfile.open(target, "w") as archive:
        for member_name, data in files.items():
            member = tarfile.TarInfo(member_name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return target


@pytest.mark.parametrize("form", [PARQUET, JSON_LINES])
def test_a_bundle_comes_in_whole_and_goes_out_as_the_same_bytes(
    ground: Path, into: Cluster, export: Export, form: str
) -> None:
    first = export(ground, OVER, form=form)
    assert export(ground, OVER, form=form).read_bytes() == first.read_bytes()
    names = contents(first).keys()
    assert layout.metrics_file(1, ODD_GROUP, form) in names
    assert {"experiments/1/logs/1.request-1-1.jsonl.gz", "experiments/1/environment/1.json"} <= names
    events = into.run("--source", str(first))
    assert events[-1]["problems"] == []
    require_equal(export(into.data, OVER, form=form), first)


@pytest.mark.parametrize("form", [PARQUET, JSON_LINES])
def test_a_bundle_with_the_files_of_checkpoints_goes_out_as_it_came_in(
    ground: Path, into: Cluster, export: Export, form: str
) -> None:
    first = export(ground, OVER, form=form, with_checkpoints=True)
    assert {f"experiments/1/checkpoints/{UUIDS[0]}/{name}" for name in FILES} <= contents(first).keys()
    events = into.run("--source", str(first), "--checkpoints", str(into.data / "here"))
    assert events[-1]["problems"] == []
    again = export(into.data, OVER, form=form, with_checkpoints=True)
    assert checkpoints(again)[UUIDS[0]]["storage"] == section_at(str(into.data / "here"))
    require_equal(again, first, moved=True)


def test_a_bundle_has_the_hashes_of_manifests_and_never_makes_any(ground: Path, export: Export) -> None:
    entries = checkpoints(export(ground, [1]))
    files = [ground.parent / "files" / UUIDS[0] / name for name in FILES]
    assert entries[UUIDS[0]]["hashes"] == {
        name: hash_files([path])[0][1] for name, path in zip(FILES, files, strict=True)
    }
    assert [entries[uuid]["hashes"] for uuid in UUIDS[1:]] == [{}, {}, {}]
    manifest = files[0].parents[1] / MANIFEST_NAME
    manifest.rename(manifest.with_suffix(".away"))
    try:
        assert checkpoints(export(ground, [1]))[UUIDS[0]]["hashes"] == {}
    finally:
        manifest.with_suffix(".away").rename(manifest)


def test_copied_files_are_compared_with_the_hashes_of_their_manifest(
    ground: Path, into: Cluster, export: Export, tmp_path: Path
) -> None:
    path = export(ground, [1], with_checkpoints=True)
    other = with_other_hash(path, tmp_path / "other.tar")
    events = into.run("--source", str(other), "--checkpoints", str(into.data / "here"), status=1)
    assert events[-1]["problems"] == [
        f"checkpoint {UUIDS[0]}: {into.data}/here/{UUIDS[0]}/a/weights is not what the manifest of the checkpoint says"
    ]


def test_a_damaged_checkpoint_is_not_copied_into_a_bundle(
    ground: Path, start_master: Callable[..., Any], tmp_path: Path
) -> None:
    shutil.copytree(ground.parent, tmp_path / "copy")
    weights = ground.parent / "files" / UUIDS[0] / "a" / "weights"
    url = start_master(data_dir=tmp_path / "copy" / "data").url
    weights.write_bytes(b"WEIGHTS")
    try:
        with Session(url, token=login(url, "determined", "")) as session:
            done = bundle.export(session, [1], tmp_path / "one.tar", with_checkpoints=True)
    finally:
        weights.write_bytes(b"weights")
    assert done.counts.checkpoints_copied == 0
    assert [warning.split(":")[0] for warning in done.warnings] == [f"checkpoint {UUIDS[0]}", f"checkpoint {UUIDS[2]}"]


@pytest.mark.timeout(900)  # five processes and two masters, on a machine that others share
def test_a_killed_import_goes_on_and_ends_the_same(ground: Path, importer: Importer, export: Export) -> None:
    importer.kind = "bundle"
    first = export(ground, OVER)
    for steps in (1, 3, 5):
        _kill_after(importer, first, steps)
    assert importer.read(import_unit.running) is not None
    other = export(ground, [1])
    refused = importer.run("--source", str(other), status=1)
    assert "is unfinished" in refused[-1]["message"]
    events = importer.run("--source", str(first))
    assert events[-1]["problems"] == []
    require_equal(export(importer.data, OVER, importer.db_url), first)


def test_a_dry_run_writes_nothing_and_a_second_run_takes_nothing(ground: Path, into: Cluster, export: Export) -> None:
    path = export(ground, OVER)
    survey = next(event for event in into.run("--source", str(path), "--dry-run") if event["event"] == "survey")
    assert survey["counts"] == {
        "experiments": 3, "code": 3, "trials": 3, "metrics": 1288, "checkpoints": 4, "log lines": 1503,
    }  # fmt: skip
    assert into.read(lambda conn: imported.count(conn, "experiments")) == 0
    into.run("--source", str(export(ground, [2])))
    into.run("--source", str(path))
    before = into.read(_content)
    assert len(before["experiments"]) == 3
    again = next(event for event in into.run("--source", str(path)) if event["event"] == "survey")
    assert (set(again["counts"].values()), again["known_experiments"]) == ({0}, 3)
    assert into.read(_content) == before


def test_a_clash_stops_it_before_anything_is_written(ground: Path, into: Cluster, export: Export) -> None:
    path = export(ground, [1])
    bundle_ground.fill(into.data, None, 10, into.data.parent / "other-files")
    before = into.read(_content)
    refused = into.run("--source", str(path), status=1)
    assert "experiments 1; trials 1, 2" in refused[-1]["message"]
    assert "Nothing was written" in refused[-1]["message"]
    assert into.read(_content) == before


def test_a_cluster_gets_back_what_it_has_deleted(ground: Path, into: Cluster, export: Export) -> None:
    shutil.copytree(ground, into.data, dirs_exist_ok=True)
    path = export(ground, OVER)
    into.write(_delete_first)
    before = into.read(lambda conn: imported.all_ids(conn, "experiments"))
    assert 1 not in before
    into.run("--source", str(path))
    require_equal(export(into.data, OVER), path)


def test_abort_leaves_a_cluster_as_it_was(ground: Path, into: Cluster, export: Export) -> None:
    path = export(ground, OVER)
    into.run("--source", str(path), "--dry-run")
    before = into.read(_content)
    _kill_after(Importer(into.data, None, "bundle"), path, 6)
    assert into.read(_content) != before
    into.run("--abort")
    assert into.read(_content) == before
    assert into.read(import_unit.list_all) == []


def test_what_was_live_is_canceled_and_owners_come_without_rights(ground: Path, into: Cluster, export: Export) -> None:
    path = export(ground, [4])
    events = into.run("--source", str(path))
    notes = next(event for event in events if event["event"] == "survey")["notes"]
    assert notes["live"]["examples"] == ["trial 4 was PAUSED", "experiment 4 was PAUSED"]
    row = into.read(lambda conn: experiments.get(conn, 4))
    assert (row.state, row.notes) == ("CANCELED", "line\nline\n\nwas PAUSED when imported")
    c = schema.users.c
    query = select(c.username, c.admin, c.password_hash).where(c.username == "alice")
    assert into.read(lambda conn: conn.execute(query).one()) == ("alice", False, UNUSABLE)


def test_no_secret_is_in_a_bundle(ground: Path, export: Export) -> None:
    everything = b"".join(contents(export(ground, OVER, form=JSON_LINES)).values())
    for secret in (b"secret-hash", b"hidden"):
        assert secret not in everything


def test_copied_checkpoints_are_served_by_the_new_cluster(
    ground: Path, into: Cluster, export: Export, start_master: Callable[..., Any]
) -> None:
    path = export(ground, [1], with_checkpoints=True)
    assert contents(path)[f"experiments/1/checkpoints/{UUIDS[0]}/a/weights"] == b"weights"
    into.run("--source", str(path), "--checkpoints", str(into.data / "here"))
    (copied,) = (into.data / "here").rglob("weights")
    assert copied.read_bytes() == b"weights"
    copied.write_bytes(b"altered")  # so that it can be told from the original
    url = start_master(data_dir=into.data).url
    with Session(url, token=login(url, "admin", "")) as session:
        got = download(session, checkpoint.get(session, UUIDS[0]), into.data / "got", DownloadMode.MASTER)
    assert (got / "a" / "weights").read_bytes() == b"altered"


def test_files_of_a_copied_checkpoint_replace_others_of_their_size(ground: Path, into: Cluster, export: Export) -> None:
    path = export(ground, [1], with_checkpoints=True)
    stale = into.data / "here" / UUIDS[0] / "a" / "weights"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"WEIGHTS")
    into.run("--source", str(path), "--checkpoints", str(into.data / "here"))
    assert stale.read_bytes() == b"weights"


def _kill_after(importer: Importer, path: Path, steps: int) -> None:
    """Kill an import when it has told of so many steps that it has stored."""
    process = importer.start("--source", str(path))
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        steps -= event["event"] == "progress" and event["step"] != CHECK
        if steps <= 0:
            break
    assert process.poll() is None, "the import has ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()


def _delete_first(conn: Connection) -> None:
    """Delete an experiment as the master does."""
    job_id = experiments.get(conn, 1).job_id
    experiments.delete_row(conn, 1)
    jobs.delete_row(conn, job_id)


def _content(conn: Connection) -> dict[str, list[str]]:
    tables = ("users", "workspaces", "projects", "jobs", "experiments", "trials", "tasks", "allocations", "checkpoints",
              "metric_chunks", "metric_summaries", "metric_watermarks", "metric_ranges", "log_chunks")  # fmt: skip
    return {name: sorted(map(repr, conn.execute(select(schema.metadata.tables[name])))) for name in tables}
