"""Stage 3 of the Core API tutorial in both generations: auto and ASHA on a real cluster, by the real command line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from stage_4 import change, submit

from cluster import HANG_SECONDS, Client, Cluster, clean_environment, copy_example, det, eventually

SLEEP = re.compile(r"time\.sleep\([\d.]+\)")
CHANCE = r"stopped: \d+\.\d% chance to reach the best 10%"
RUNG, HALF, TOP = 25, 50, 100  # of 8 trials: six begin in a bracket of two rungs, two in a bracket of one
# Trials stay at HALF until the search stops them or the test lets them go on: none is over before the search is heard.
ASKED = "            if core_context.preempt.should_preempt():\n"
STAYS = """\
            while steps_completed == 50 and not pathlib.Path({!r}, str(trial_id)).exists():
                if core_context.preempt.should_preempt(auto_ack=False):
                    break
                time.sleep(0.02)
"""


def _model(target: Path, pause: float) -> Path:
    """The example, at a pace for a test."""
    model = copy_example("core_api", target)
    for script in model.glob("3_*.py"):
        script.write_text(SLEEP.sub(f"time.sleep({pause})", script.read_text()))
    return model


def _search(cluster: Cluster, client: Client, home: Path, model: Path, config: str, *options: str) -> int:
    """Follow a search to its end; its experiment."""
    flags = [word for option in options for word in ("--config", option)]
    done = det(home, "e", "create", config, ".", "-f", *flags, master=cluster.url, cwd=model, timeout=600)
    match = re.search(r"Created experiment (\d+)", done.stdout)
    assert match, done.stdout
    experiment = int(match.group(1))
    client.wait_state(experiment, "COMPLETED", seconds=600)
    return experiment


def _has_let_go_on(client: Client, experiment: int, gates: Path) -> bool:
    """Trials that the search has heard of at HALF and has not stopped by then; True once the search is over."""
    heard = [trial["id"] for trial in client.trials(experiment) if HALF in _steps(client, trial["id"], "validation")]
    for trial in client.trials(experiment):
        if trial["id"] in heard and not trial["state"].startswith("STATE_STOPPING"):
            (gates / str(trial["id"])).touch()
    return client.state(experiment) in ("COMPLETED", "ERROR")


def _steps(client: Client, trial: int, group: str) -> list[int]:
    return [report["totalBatches"] for report in client.metrics(trial, group)]


def test_classic_trials_wait_between_rungs_without_a_slot_and_go_on_where_they_stopped(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path
) -> None:
    model = _model(tmp_path / "model", 0.002)
    # All equally good: the oldest of the first four is promoted, and by then it waits. One slot for the whole search:
    # a trial that kept it while it waits would keep all others from training.
    options = ["searcher.name=adaptive_asha", "hyperparameters.increment_by=1", "resources.max_slots=1"]
    experiment = _search(cluster, client, home, model, "3_hpsearch.yaml", *options)

    trials = client.trials(experiment)
    assert {trial["state"] for trial in trials} == {"STATE_COMPLETED"}
    assert {trial["restarts"] for trial in trials} == {0}
    lengths = {trial["id"]: _steps(client, trial["id"], "validation") for trial in trials}
    assert sorted(lengths.values()) == [[RUNG]] * 5 + [[RUNG, TOP]] + [[TOP]] * 2

    (promoted,) = [trial for trial, seen in lengths.items() if seen == [RUNG, TOP]]
    reports = client.metrics(promoted, "training")
    trained = [(report["totalBatches"], report["metrics"]["avg_metrics"]["x"]) for report in reports]
    assert trained == [(step, float(step)) for step in range(10, TOP + 1, 10)], "each batch once, the weight goes on"
    log = client.log_lines(promoted)
    assert len([line for line in log if "|| INFO: started on " in line]) == 2
    assert len([line for line in log if re.search(rf"going on from checkpoint \S+ at batch {RUNG}$", line)]) == 1


def test_late_trials_are_stopped_by_the_search(cluster: Cluster, client: Client, home: Path, tmp_path: Path) -> None:
    gates = tmp_path / "gates"
    gates.mkdir()
    model = change(_model(tmp_path / "model", 0.002), "3_hpsearch_late.py", ASKED, STAYS.format(str(gates)) + ASKED)
    config = model / "3_hpsearch_late.yaml"
    config.write_text(config.read_text().replace("name: auto", "name: adaptive_asha"))
    experiment = submit(cluster, home, model, config.name)
    eventually(lambda: _has_let_go_on(client, experiment, gates), explain=lambda: str(client.trials(experiment)))
    assert client.state(experiment) == "COMPLETED"
    trials = client.trials(experiment)
    assert len(trials) == 8
    assert {trial["state"] for trial in trials} == {"STATE_COMPLETED"}
    trained = {trial["id"]: _steps(client, trial["id"], "validation")[-1] for trial in trials}
    assert all(RUNG < steps <= TOP for steps in trained.values()), trained
    assert 3 <= list(trained.values()).count(TOP) < 8, "two of the short bracket, and at least the best of the other"
    best = max(trials, key=lambda trial: trial["hparams"]["increment_by"])
    assert trained[best["id"]] == TOP


@pytest.mark.parametrize("config", ["3_hpsearch.yaml", "3_hpsearch_late.yaml"])
def test_search_of_the_example_needs_no_choosing_and_says_why_each_trial_ended(
    cluster: Cluster, client: Client, home: Path, tmp_path: Path, config: str
) -> None:
    """Previewed, created, and described: the reason of a trial's end is the same in all that shows it."""
    model = _model(tmp_path / "model", 0)
    previewed = det(home, "preview-search", config, master=cluster.url, cwd=model)
    assert "8" in previewed.stdout and "batches" in previewed.stdout
    experiment = _search(cluster, client, home, model, config)
    trials = client.trials(experiment)
    assert len(trials) == 8
    assert len({trial["hparams"]["increment_by"] for trial in trials}) == 8, (
        "no point is tried twice while others are left"
    )
    best = max(trials, key=lambda trial: trial["hparams"]["increment_by"])
    assert _steps(client, best["id"], "validation")[-1] == TOP
    for trial in trials:
        reason = client.get(f"/api/v1/trials/{trial['id']}")["trial"]["stopReason"]
        assert reason == "trained to its full length" or re.fullmatch(CHANCE, reason)
        assert any(reason in line for line in client.log_lines(trial["id"]))
        described = det(home, "t", "describe", str(trial["id"]), master=cluster.url).stdout
        assert f"{reason[:1].upper()}{reason[1:]}." in described


@pytest.mark.parametrize("script", ["3_hpsearch.py", "3_hpsearch_late.py"])
def test_the_same_scripts_run_with_plain_python_and_no_master(tmp_path: Path, script: str) -> None:
    model = _model(tmp_path / "model", 0)
    env = clean_environment(HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    command = [sys.executable, script]
    done = subprocess.run(
        command, cwd=model, env=env, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
