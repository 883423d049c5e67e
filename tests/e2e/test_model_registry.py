"""The model registry by the real `det` and by trials of a real master: register, alias, download, resume, use."""

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster import Client, Cluster, clean_environment, det, eventually, official, write_experiment
from determined.experimental.client import Determined
from determined.sdk.version_download import PARTS
from small_relay import relaying

TRAIN = """
import random
from determined import core
with core.init() as context:
    for step in (1, 2):
        context.train.report_validation_metrics(step, {"x": float(step)})
        with context.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "deep" / "er").mkdir(parents=True)
            (path / "deep" / "er" / "weights.bin").write_bytes(random.Random(step).randbytes(4_000_000))
            (path / "scale.txt").write_text(str(step))
"""
USE = """
from determined import core
from determined.experimental import client

version = client.get_model("digits").get_version("production")
scale = int(open(version.download("model") + "/scale.txt").read())
with core.init() as context:
    context.experimental.report_task_using_model_version(version)
    context.train.report_metrics("evaluation", 1, {"scale": scale})
    context.train.report_validation_metrics(1, {"x": 1.0})
"""


@pytest.fixture(scope="module")
def checkpoints(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Uuids of the checkpoints at steps 1 and 2, registered as versions 1 and 2 of model digits."""
    client = Client(cluster.url)
    keep = {"checkpoint_storage": {"save_trial_latest": 2, "save_trial_best": 2}}
    experiment = client.submit(write_experiment(tmp_path_factory.mktemp("train"), TRAIN, keep))
    client.wait_state(experiment, "COMPLETED")
    stored = client.get(f"/api/v1/experiments/{experiment}/checkpoints")["checkpoints"]
    uuids = [c["uuid"] for c in sorted(stored, key=lambda c: c["metadata"]["steps_completed"])]
    home = tmp_path_factory.mktemp("home")
    det(home, "model", "create", "digits", "--description", "reads digits", master=cluster.url)
    for uuid in uuids:
        det(home, "model", "register-version", "digits", uuid, master=cluster.url)
    det(home, "model", "alias", "set", "digits", "production", "2", master=cluster.url)
    return uuids


def _weights(step: int) -> bytes:
    return random.Random(step).randbytes(4_000_000)


def test_a_version_is_registered_named_and_downloaded(
    cluster: Cluster, home: Path, tmp_path: Path, checkpoints: list[str]
) -> None:
    def run(*words: str) -> str:
        return det(home, "model", *words, master=cluster.url, cwd=tmp_path).stdout

    listed = json.loads(run("list-versions", "digits", "--json"))
    assert [v["checkpoint"]["uuid"] for v in listed["modelVersions"]] == checkpoints[::-1]
    assert run("alias", "set", "digits", "candidate", "latest") == "digits:candidate is now version 2\n"
    assert "candidate" in run("describe", "digits") and "production" in run("alias", "list", "digits")
    assert run("download", "digits:production", "out").startswith("Downloaded version 2 of model digits to out: 3 file")
    assert (tmp_path / "out" / "deep" / "er" / "weights.bin").read_bytes() == _weights(2)
    assert not (tmp_path / "out" / PARTS).exists()
    run("download", "digits:1", "first")
    assert (tmp_path / "first" / "scale.txt").read_text() == "1"


def test_a_download_that_was_killed_goes_on_where_it_was(
    cluster: Cluster, home: Path, tmp_path: Path, checkpoints: list[str]
) -> None:
    target, parts = tmp_path / "out", tmp_path / "out" / PARTS
    det(home, "user", "whoami", master=cluster.url)
    with relaying(cluster.url, most=3_000_000) as relay:
        command = [str(Path(sys.executable).with_name("det")), "-m", relay.url, "model", "download", "digits:2", "out"]
        env = clean_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "config"))
        process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        eventually(lambda: parts.exists() and any(p.stat().st_size > 1_000_000 for p in parts.iterdir()))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (target / "deep" / "er" / "weights.bin").exists()
    with relaying(cluster.url) as relay:
        det(home, "model", "download", "digits:2", "out", master=relay.url, cwd=tmp_path)
        assert relay.saw(b"Range: bytes=")
    assert (target / "deep" / "er" / "weights.bin").read_bytes() == _weights(2)
    assert not parts.exists()


def test_a_changed_file_is_refused_on_either_side(
    cluster: Cluster, home: Path, tmp_path: Path, checkpoints: list[str]
) -> None:
    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        return det(home, "model", "download", *words, master=cluster.url, cwd=tmp_path, check=False)

    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "scale.txt").write_text("9")
    refused = run("digits:1", "mine")
    assert refused.returncode == 1 and "mine/scale.txt differs from the file of version 1" in refused.stderr
    assert (tmp_path / "mine" / "scale.txt").read_text() == "9"
    assert run("digits:1", "mine", "--force").returncode == 0

    stored = next((cluster.directory / "checkpoints").rglob(f"{checkpoints[0]}/scale.txt"))
    stored.chmod(0o644)
    stored.write_text("7")
    try:
        damaged = run("digits:1", "theirs")
        assert damaged.returncode == 1 and "scale.txt" in damaged.stderr
        assert not (tmp_path / "theirs" / "scale.txt").exists()
    finally:
        stored.write_text("1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["describe", "nothing"], 'model "nothing" not found'),
        (["create", "123"], "only numbers"),
        (["create", "digits"], "avoid names equal to other models"),
        (["download", "digits:9", "x"], "not found"),
        (["download", "digits:staging", "x"], "not found"),
        (["register-version", "digits", "00000000-0000-4000-8000-000000000000"], "not found"),
        (["create", "m", "-w", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    cluster: Cluster, home: Path, tmp_path: Path, checkpoints: list[str], words: list[str], said: str
) -> None:
    done = det(home, "model", *words, master=cluster.url, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_an_archived_model_takes_no_version_until_it_is_unarchived(
    cluster: Cluster, home: Path, checkpoints: list[str]
) -> None:
    def run(*words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        return det(home, "model", *words, master=cluster.url, check=check)

    run("create", "old")
    run("archive", "old")
    refused = run("register-version", "old", checkpoints[0], check=False)
    assert refused.returncode == 1 and "archived" in refused.stderr
    run("unarchive", "old")
    run("register-version", "old", checkpoints[0])
    assert run("delete", "old").stdout == "Deleted model old with 1 version(s); their checkpoints stay\n"


def test_a_trial_uses_a_version_and_its_metrics_are_found_by_it(
    cluster: Cluster, home: Path, tmp_path: Path, checkpoints: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(cluster.url)
    experiment = client.submit(write_experiment(tmp_path / "use", USE))
    client.wait_state(experiment, "COMPLETED")
    trial = client.trials(experiment)[0]["id"]
    monkeypatch.setenv("DET_DEBUG_CONFIG_PATH", str(tmp_path / "config"))
    version = Determined(cluster.url, "determined", "").get_model("digits").get_version("production")
    assert version is not None
    reports = [(r.trial_id, r.group, r.metrics["scale"]) for r in version.iter_metrics("evaluation")]
    assert reports == [(trial, "evaluation", 2)]


@pytest.mark.official
def test_the_official_det_shows_what_ours_made(cluster: Cluster, home: Path, checkpoints: list[str]) -> None:
    def run(*words: str) -> Any:
        return json.loads(official(home, "model", *words, "--json", master=cluster.url).stdout)

    assert "digits" in [model["name"] for model in run("list")]
    assert [v["version"] for v in run("list-versions", "digits")["modelVersions"]] in ([1, 2], [2, 1])
    assert run("describe", "digits")["name"] == "digits"
    shown = official(home, "model", "describe", "digits", "--version", "1", master=cluster.url).stdout
    assert checkpoints[0] in shown
