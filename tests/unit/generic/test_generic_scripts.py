"""Whole scripts without a `with` block: how they end, on a cluster and off it, and what they load."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driven_search import drive

from determined.wire.report import EarlyExit, PreemptAck, Status

Task = Callable[..., None]
EPOCHS = {"name": "random", "metric": "x", "max_length": {"epochs": 3}, "max_trials": 10}
LOOP = """
import sys
import determined as det
context = det.generic.init()
op = context.training.basic_search()
for epoch in range(op.epochs):
    context.training.report_training_metrics(batches_trained=epoch + 1, metrics={"x": 1.0})
op.complete(0.5)
"""


def _run(tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(script)
    env = {**os.environ, "HOME": str(tmp_path)}
    return subprocess.run([sys.executable, str(path)], env=env, capture_output=True, text=True, check=False, timeout=60)


def test_a_script_that_ends_closes_its_context(tmp_path: Path, task: Task, master: Any, runner: Any) -> None:
    task(EPOCHS)
    metrics = drive(master, [3])
    done = _run(tmp_path, LOOP)
    assert (done.returncode, done.stderr) == (0, "")
    assert metrics == [0.5]
    assert type(runner.wait_for(4)[-1]) is PreemptAck


def test_a_script_that_crashes_after_its_operation_is_not_restarted_for_more(
    tmp_path: Path, task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    drive(master, [3])
    done = _run(tmp_path, LOOP + "context.training.set_status('saving')\nraise OSError('the disk is full')\n")
    assert done.returncode == 1
    assert "OSError: the disk is full" in done.stderr
    assert type(runner.wait_for(4)[-1]) is Status
    assert PreemptAck not in [type(record) for record in runner.records]


def test_uncaught_invalid_hyperparameters_end_the_process_with_status_0(
    tmp_path: Path, task: Task, master: Any, runner: Any
) -> None:
    task(EPOCHS)
    done = _run(tmp_path, "import determined as det\ndet.generic.init()\nraise det.InvalidHP('too wide')\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert runner.wait_for(1) == [EarlyExit("EXITED_REASON_INVALID_HP")]


def test_invalid_hyperparameters_after_the_end_of_the_context_are_a_plain_error(
    tmp_path: Path, task: Task, runner: Any
) -> None:
    task(EPOCHS)
    script = "import determined as det\ndet.generic.init().close()\nraise det.InvalidHP('too wide')\n"
    done = _run(tmp_path, script)
    assert done.returncode == 1
    assert "too wide" in done.stderr
    assert runner.records == []


def test_the_same_script_runs_off_cluster_with_what_init_was_told(tmp_path: Path, off_cluster: Path) -> None:
    script = """
import json
import determined as det
context = det.generic.init(hparams={"lr": 0.1}, trial_seed=7, max_length={"epochs": 4})
training = context.training
op = training.basic_search()
for epoch in range(op.epochs):
    training.report_training_metrics(batches_trained=epoch + 1, metrics={"x": 1.0})
    op.report_progress(epoch)
op.complete(0.5)
with context.checkpoint.save_path() as path:
    (path / "weights").write_text("1")
assert training.basic_search() is None
found = [training.hparams, training.trial_seed, op.epochs, training.trial_id, training.experiment_id]
print(json.dumps([*found, context.latest_checkpoint, context.should_preempt(block=False), context.info]))
"""
    done = _run(tmp_path, script)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [{"lr": 0.1}, 7, 4, None, None, None, False, None]
    assert [path.read_text() for path in off_cluster.rglob("weights")] == ["1"]


def test_off_cluster_the_default_is_one_epoch(tmp_path: Path, off_cluster: Path) -> None:
    script = """
import json
import determined as det
training = det.generic.init().training
print(json.dumps([training.basic_search().epochs, training.hparams, training.trial_seed]))
"""
    assert json.loads(_run(tmp_path, script).stdout) == [1, {}, 0]


def test_a_length_that_is_none_is_refused(tmp_path: Path, off_cluster: Path) -> None:
    for length in ("{'steps': 3}", "{}", "{'epochs': 1, 'batches': 2}"):
        done = _run(tmp_path, f"import determined as det\ndet.generic.init(max_length={length})\n")
        assert "is no length; write a number or" in done.stderr, length


def test_a_task_that_is_no_trial_runs_as_if_off_cluster(tmp_path: Path, task: Task, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    task(task_type="NOTEBOOK")
    script = """
import json
import determined as det
context = det.generic.init(hparams={"lr": 1})
print(json.dumps([context.training.basic_search().epochs, context.training.hparams, context.latest_checkpoint]))
"""
    done = _run(tmp_path, script)
    assert done.stderr == ""
    assert json.loads(done.stdout) == [1, {"lr": 1}, None]


def test_the_room_loads_no_http_client_store_driver_or_framework(tmp_path: Path) -> None:
    lean = "import sys, json, determined as det\nprint(json.dumps(sorted(sys.modules)))\n"
    assert "determined.generic" not in json.loads(_run(tmp_path, lean).stdout)
    loaded = set(json.loads(_run(tmp_path, lean.replace("print", "det.generic; print")).stdout))
    assert "determined.generic" in loaded
    heavy = {"urllib3", "fsspec", "psutil", "numpy", "torch", "sqlalchemy", "litestar", "yaml", "rich"}
    assert heavy & loaded == set()
