"""`det` tells the end of an experiment: one block for a failure, and the exit status."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

from cluster import HANG_SECONDS, Cluster, clean_environment, det, write_experiment

BROKEN = "import no_such_module_anywhere\n"
DET = str(Path(sys.executable).with_name("det"))


def test_a_followed_failure_ends_with_one_block_and_status_1(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", BROKEN, {"max_restarts": 1})
    done = det(home, "e", "create", str(config), str(config.parent), "-f", master=cluster.url, check=False)
    assert done.returncode == 1
    block = done.stderr[done.stderr.index("Experiment ") :].splitlines()
    assert block[0].endswith(" failed")
    assert [line.split()[0] for line in block[1:]] == ["what:", "where:", "cause:", "fix:", "next:"]
    assert "ModuleNotFoundError: No module named 'no_such_module_anywhere'" in block[1]
    assert "train.py, line 1: import no_such_module_anywhere" in block[2]
    assert "det trial logs" in block[5]
    assert "log stream ended" not in done.stdout


def test_wait_and_describe_of_a_failed_experiment_say_the_same(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", BROKEN)
    created = det(home, "e", "create", str(config), str(config.parent), master=cluster.url)
    number = created.stdout.split("Created experiment ")[1].split()[0]
    done = det(home, "e", "wait", number, "--polling-interval", "0.1", master=cluster.url, check=False)
    assert done.returncode == 1
    block = done.stderr.splitlines()[2:]
    assert block[1].startswith("  where:  train.py, line 1")
    described = det(home, "e", "describe", number, master=cluster.url).stdout
    trial = block[-1].split()[4]
    assert "\n".join(block) in described
    assert "\n".join(block) in det(home, "t", "describe", trial, master=cluster.url).stdout


def test_a_followed_success_ends_with_status_0_and_without_a_block(
    cluster: Cluster, home: Path, tmp_path: Path
) -> None:
    config = write_experiment(tmp_path / "m", "print('fine')\n")
    done = det(home, "e", "create", str(config), str(config.parent), "-f", master=cluster.url)
    assert "Trial log stream ended" in done.stdout
    assert "failed" not in done.stderr


def test_an_experiment_that_is_killed_while_followed_ends_with_1(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "import time\nprint('begun', flush=True)\ntime.sleep(300)\n")
    words = [DET, "e", "create", str(config), str(config.parent), "-f"]
    variables = clean_environment(DET_MASTER=cluster.url, HOME=str(home), DET_DEBUG_CONFIG_PATH=str(home / "config"))
    following = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)
    assert following.stdout is not None
    seen = list(itertools.takewhile(lambda line: "begun" not in line, following.stdout))
    number = re.findall(r"Created experiment (\d+)", "".join(seen))[0]
    det(home, "e", "kill", number, master=cluster.url)
    _, said = following.communicate(timeout=HANG_SECONDS)
    assert following.returncode == 1
    assert "was canceled" in said


def test_a_fork_runs_the_same_code_with_a_changed_config(cluster: Cluster, home: Path, tmp_path: Path) -> None:
    config = write_experiment(tmp_path / "m", "print('forked code')\n", {"hyperparameters": {"lr": 1}})
    created = det(home, "e", "create", str(config), str(config.parent), "-f", master=cluster.url)
    source = created.stdout.split("Created experiment ")[1].split()[0]
    forked = det(home, "e", "fork", source, "--config", "name=again", "-f", master=cluster.url)
    assert "forked code" in forked.stdout
    number = forked.stdout.split("Created experiment ")[1].split()[0]
    listed = det(home, "e", "list", "--json", master=cluster.url).stdout
    (found,) = [e for e in json.loads(listed) if e["id"] == int(number)]
    assert (found["name"], found["forkedFrom"]) == ("again", int(source))
    assert found["config"]["hyperparameters"] == {"lr": {"type": "const", "val": 1}}
