"""`det run`: any program on this machine as a trial, with no config and no change."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, det, eventually, lives

TRAIN = """
import json, pathlib, sys, time
for step in range(3):
    print(f"step={step} loss={1 / (step + 1)}", flush=True)
print(json.dumps({"epoch": 1, "val_loss": 0.25}))
print("on stderr", file=sys.stderr)
from determined.tensorboard import EventFile
events = EventFile(pathlib.Path("runs"), time.time())
events.add_scalars(7, time.time(), {"Loss/val": 0.5})
events.close()
sys.exit(int(sys.argv[sys.argv.index("--status") + 1]) if "--status" in sys.argv else 0)
"""
WAITS = """
import os, pathlib, signal, sys, time
if "--polite" in sys.argv:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
pathlib.Path("pid").write_text(str(os.getpid()))
print("waiting", flush=True)
time.sleep(1000)
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    directory = tmp_path / "work"
    directory.mkdir()
    (directory / "train.py").write_text(TRAIN)
    (directory / "waits.py").write_text(WAITS)
    return directory


def start(cluster: Cluster, home: Path, *words: str, cwd: Path) -> "subprocess.Popen[str]":
    env = clean_environment(
        HOME=str(home), XDG_CONFIG_HOME=str(home / "config"), XDG_DATA_HOME=str(home / "data"), DET_MASTER=cluster.url
    )
    program = [str(Path(sys.executable).with_name("det")), "run", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(program, env=env, cwd=cwd, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL, text=True)


def newest(client: Client) -> dict[str, Any]:
    path = "/api/v1/experiments?limit=1&sortBy=SORT_BY_ID&orderBy=ORDER_BY_DESC"
    found: dict[str, Any] = client.get(path)["experiments"][0]
    return found


def test_a_script_is_tracked_with_all_that_can_be_read(
    cluster: Cluster, client: Client, home: Path, work: Path
) -> None:
    subprocess.run("git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm x && "
                   "git remote add origin https://me:secret@host/r.git", shell=True, cwd=work, check=True)  # fmt: skip
    options = ("run", "--project", "demo", "--name", "mine", "--label", "one")
    done = det(home, *options, sys.executable, "train.py", "--lr", "0.1", "--token=x", master=cluster.url, cwd=work)
    assert done.stdout.startswith("step=0 loss=1.0\n") and "on stderr" in done.stderr
    experiment = newest(client)
    address = f"{cluster.url}/det/experiments/{experiment['id']}"
    assert done.stderr.count(address) == 2, "at the start and at the end"
    shown = [experiment[key] for key in ("name", "state", "labels", "projectName", "workspaceName")]
    assert shown == ["mine", "STATE_COMPLETED", ["one"], "demo", "determined"]
    [trial] = client.trials(experiment["id"])
    assert trial["hparams"] == {"lr": 0.1, "token": "********"}
    training = {m["totalBatches"]: m["metrics"] for m in client.metrics(trial["id"], "training")}
    assert {step: m["avg_metrics"]["loss"] for step, m in training.items()} == {0: 1.0, 1: 0.5, 2: 1 / 3}
    validation = {m["totalBatches"]: m["metrics"] for m in client.metrics(trial["id"], "validation")}
    assert sorted(validation) == [1, 7] and "Loss/val" in str(validation[7])
    lines = "\n".join(client.log_lines(trial["id"]))
    assert "step=2" in lines and "on stderr" in lines and "has ended with status 0" in lines
    path = f"/api/v1/runs/{trial['id']}/metadata"
    metadata = eventually(lambda: client.get(path).get("metadata"))
    assert (metadata["git"]["dirty"], metadata["git"]["remote"]) == (False, "https://host/r.git")
    assert metadata["git"]["script_untracked"] is False
    assert len(metadata["git"]["commit"]) == 40 and metadata["command"][-1] == "--token=********"
    assert any(line.startswith("msgspec==") for line in metadata["environment"]["packages"])


def test_a_short_program_has_its_metadata_when_det_run_ends(
    cluster: Cluster, client: Client, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_git = work / "git"
    slow_git.write_text('#!/bin/sh\ncase "$*" in *rev-parse\\ HEAD) sleep 3;; esac\necho x\n')
    slow_git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{work}:{os.environ['PATH']}")
    det(home, "run", sys.executable, "-S", "-c", "pass", master=cluster.url, cwd=work)
    [trial] = client.trials(newest(client)["id"])
    metadata = client.get(f"/api/v1/runs/{trial['id']}/metadata").get("metadata") or {}
    assert {"command", "directory", "host", "git", "environment"} <= set(metadata)


def test_the_exit_status_is_passed_on(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    words = ("run", "--", sys.executable, "train.py", "--status", "7")
    assert det(home, *words, master=cluster.url, cwd=work, check=False).returncode == 7
    assert newest(client)["state"] == "STATE_ERROR"
    before = newest(client)["id"]
    missing = det(home, "run", "no-such-program", master=cluster.url, cwd=work, check=False)
    assert (missing.returncode, "no such program" in missing.stderr, newest(client)["id"]) == (127, True, before)
    assert det(home, "run", master=cluster.url, cwd=work, check=False).returncode == 1


@pytest.mark.parametrize(("number", "polite", "status"), [(signal.SIGINT, "", 130), (signal.SIGTERM, "--polite", 5)])
def test_a_signal_reaches_the_program_and_cancels_the_trial(
    cluster: Cluster, client: Client, home: Path, work: Path, number: int, polite: str, status: int
) -> None:
    with start(cluster, home, sys.executable, "waits.py", *filter(None, [polite]), cwd=work) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(number)
        assert process.wait(HANG_SECONDS) == status
    assert newest(client)["state"] == "STATE_CANCELED"


def test_a_killed_program_is_an_error(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    with start(cluster, home, sys.executable, "waits.py", cwd=work) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(int((work / "pid").read_text()), signal.SIGKILL)
        assert process.wait(HANG_SECONDS) == 128 + signal.SIGKILL
    assert newest(client)["state"] == "STATE_ERROR"


def test_a_killed_det_run_takes_the_program_with_it(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    with start(cluster, home, sys.executable, "waits.py", cwd=work) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    client.wait_state(newest(client)["id"], "ERROR")
    eventually(lambda: not lives(int((work / "pid").read_text())))


def test_a_script_with_a_core_context_joins_the_trial(cluster: Cluster, client: Client, home: Path, work: Path) -> None:
    script = """
from determined.experimental import core_v2
core_v2.init(config=core_v2.Config(name="not used"))
print("step=1 loss=99")
core_v2.train.report_training_metrics(1, {"x": 0.5})
with core_v2.checkpoint.store_path({"steps_completed": 1}) as (path, _):
    (path / "state").write_text("1")
core_v2.train.set_metadata({"mine": 1})
"""
    (work / "joins.py").write_text(script)
    before = newest(client)["id"] if client.get("/api/v1/experiments?limit=1")["experiments"] else 0
    det(home, "run", sys.executable, "joins.py", master=cluster.url, cwd=work)
    experiment = newest(client)
    assert (experiment["name"], experiment["id"]) == ("joins.py", before + 1), "one experiment"
    [trial] = client.trials(experiment["id"])
    [report] = client.metrics(trial["id"], "training")
    assert list(report["metrics"]["avg_metrics"]) == ["x"], "it reports by itself, and its prints are only lines"
    assert len(client.get(f"/api/v1/trials/{trial['id']}/checkpoints?limit=10")["checkpoints"]) == 1


def test_with_no_master_named_one_is_started(home: Path, work: Path) -> None:
    try:
        done = det(home, "run", sys.executable, "train.py", cwd=work)
        assert "Started a master of your own" in done.stderr and "COMPLETED" in done.stderr
    finally:
        det(home, "master", "stop", check=False)
