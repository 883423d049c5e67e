"""`determined.experimental.create`: a script that submits itself and trains when a trial runs it again."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_test_mode import CONFIG, MODEL

from cluster import HANG_SECONDS, Client, Cluster, clean_environment

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch: install redetermined[torch] beside the tests"
)

SCRIPT = f"""{MODEL}

if __name__ == "__main__":
    import sys
    import determined as det

    config = {CONFIG!r}
    config["resources"] = {{"slots_per_trial": int(sys.argv[1])}}
    config["searcher"] = {{"name": "single", "metric": "validation_loss", "max_length": {{"batches": 2}}}}
    made = det.experimental.create(MyTrial, config, context_dir=".")
    print("the script goes on with", made)
"""


@pytest.mark.parametrize("slots", [1, 2])
def test_a_script_submits_its_class_and_trains_it_in_the_trial(
    cluster: Cluster, client: Client, tmp_path: Path, home: Path, slots: int
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text(SCRIPT)
    env = clean_environment(HOME=str(home), DET_MASTER=cluster.url)
    command = [sys.executable, "train.py", str(slots)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=code, check=False, timeout=HANG_SECONDS)
    assert done.returncode == 0, done.stderr
    experiment = int(re.search(r"Created experiment (\d+)", done.stdout).group(1))  # type: ignore[union-attr]
    assert f"the script goes on with Experiment(id={experiment})" in done.stdout
    state = client.wait_state(experiment, "COMPLETED", "ERROR")
    (trial,) = client.trials(experiment)
    log = "\n".join(client.log_lines(trial["id"]))
    assert state == "COMPLETED", log
    assert "the script goes on" not in log
    assert (trial["totalBatchesProcessed"], trial["latestValidation"]["totalBatches"]) == (2, 2)
