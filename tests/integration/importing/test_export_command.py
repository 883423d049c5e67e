"""`det experiment export` and `det master import bundle` as commands: what is chosen, said, refused."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bundle_ground
import pytest

from determined.api.login import login
from determined.api.token_store import TokenStore
from determined.cli.main import main

Det = Callable[..., tuple[int, str, str]]


@pytest.fixture
def det(start_master: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Det:
    """`det(*words)` at a filled cluster, logged in as `determined`: its status, output and errors."""
    bundle_ground.fill(tmp_path / "data", None, 10, tmp_path / "files")
    url = start_master(data_dir=tmp_path / "data").url
    for name in ("DET_USER", "DET_PASS", "DET_USER_TOKEN", "DET_DEBUG", "DET_MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DET_MASTER", url)
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    monkeypatch.setenv("DET_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    TokenStore(url, tmp_path / "config").save("determined", login(url, "determined", ""))

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO())
        try:
            status = main(["-u", "determined", *words])
        except SystemExit as e:
            status = int(e.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def experiments(path: str) -> list[int]:
    with tarfile.open(path) as archive:
        manifest = archive.extractfile("manifest.json")
        assert manifest is not None
        return list(json.load(manifest)["experiments"])


def test_an_export_of_all_counts_what_is_not_in_it(det: Det) -> None:
    assert not any(
        "not in it" in line for line in json.loads(det("e", "export", "--all", "-o", "a.tar", "--json")[1])["warnings"]
    )
    Path("t.yaml").write_text("description: x\n")
    for command in (
        ["model", "create", "m"],
        ["template", "create", "a", "t.yaml"],
        ["template", "create", "b", "t.yaml"],
    ):
        assert det(*command)[0] == 0
    assert "Warning: not in it: 1 model, 2 templates\n" in det("e", "export", "--all", "-o", "b.tar")[2]
    assert "not in it" not in det("e", "export", "1", "-o", "c.tar")[2]


def test_experiments_are_chosen_by_id_by_project_and_all(det: Det) -> None:
    status, out, err = det("e", "export", "3", "1", "3", "-o", "some.tar", "--json")
    assert (status, err) == (0, "")
    summary = json.loads(out)
    assert "Exported 1 experiment, 2 trials, " in det("e", "export", "1", "-o", "one.tar")[1]
    assert summary["to"] == "some.tar"
    assert summary["counts"]["experiments"] == 2
    assert summary["size"] == Path("some.tar").stat().st_size
    assert det("e", "export", "--project", "Vision/Cats / dogs", "-o", "project.tar")[0] == 0
    status, out, err = det("e", "export", "--all", "-o", "all.tar", "--tables", "jsonl")
    assert status == 0
    assert out.startswith("Exported 4 experiments, 4 trials, ")
    assert "experiment 2 is not over" in err
    chosen = [experiments(name) for name in ("some.tar", "project.tar", "all.tar")]
    assert chosen == [[1, 3], [1, 3, 4], [1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1", "99", "-o", "x.tar"], "experiment 99 not found"),
        (["-o", "x.tar"], "say which experiments"),
        (["1", "--all", "-o", "x.tar"], "or --all, only one of them"),
        (["1"], "one of the arguments"),
        (["1", "-o", "missing/x.tar"], "there is no directory missing"),
        (["1", "-o", "there.tar"], "there.tar exists"),
        (["--project", "Vision/none", "-o", "x.tar"], "there is no project 'Vision/none'"),
        (["1", "--to-mlflow", "mlruns"], "mlflow server"),
        (["1", "--to-mlflow", "http://127.0.0.1:9", "--force"], "are for a file"),
    ],
)
def test_what_cannot_be_exported_is_said_and_leaves_no_file(det: Det, words: list[str], message: str) -> None:
    Path("there.tar").write_bytes(b"mine")
    status, _, err = det("e", "export", *words)
    assert status != 0
    assert message in err
    assert Path("there.tar").read_bytes() == b"mine"
    assert not list(Path().glob("x.tar*"))


def test_a_bundle_is_imported_by_name(det: Det, tmp_path: Path) -> None:
    det("e", "export", "--all", "-o", "all.tar")
    place = ("--data-dir", str(tmp_path / "new"))
    assert det("master", "import", "bundle", *place)[0] == 2
    status, out, err = det("master", "import", "bundle", "all.tar", *place, "--dry-run")
    assert (status, "Dry run: nothing was written" in out) == (0, True), err
    status, out, err = det("master", "import", "bundle", "all.tar", *place)
    assert (status, "Verified: every count and every sampled value agrees" in out) == (0, True), err
    Path("all.tar").write_bytes(Path("all.tar").read_bytes()[:5000])
    status, _, err = det("master", "import", "bundle", "all.tar", *place)
    assert status == 1
    assert "cut short" in err
