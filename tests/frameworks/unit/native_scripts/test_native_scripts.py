"""Plain Keras and Estimator scripts that submit themselves, as releases 0.12 to 0.17 had them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cluster import Client, Cluster, clean_environment

KERAS = """
import sys
import numpy as np
import tensorflow as tf
import determined as det

config = {
    "name": "native keras",
    "hyperparameters": {"global_batch_size": 8, "units": 4},
    "searcher": {"name": "single", "metric": "val_loss", "max_length": {"batches": 6}, "smaller_is_better": True},
    "scheduling_unit": 3,
    "resources": {"slots_per_trial": int(sys.argv[1])},
    "max_restarts": 0,
}
context = det.experimental.keras.init(config, local="--local" in sys.argv, test="--local" in sys.argv, context_dir=".")
print("building", context.get_hparam("units"), "units")
x = np.random.rand(64, 3).astype("float32")
y = x.sum(axis=1)
model = tf.keras.Sequential([tf.keras.layers.Dense(context.get_hparam("units")), tf.keras.layers.Dense(1)])
model = context.wrap_model(model)
model.compile(tf.keras.optimizers.Adam(0.01), "mse")
model.fit(x, y, validation_data=(x, y), epochs=2, batch_size=8)
print("after fit")
"""

ESTIMATOR = """
import sys
import numpy as np
import tensorflow as tf
from determined.experimental import estimator

config = {
    "name": "native estimator",
    "hyperparameters": {"global_batch_size": 8},
    "searcher": {"name": "single", "metric": "loss", "max_length": {"batches": 4}, "smaller_is_better": True},
    "max_restarts": 0,
}
is_local = "--local" in sys.argv
context = estimator.init(config, local=is_local, test=is_local, context_dir=".")

def data():
    x = np.linspace(-1.0, 1.0, 32, dtype=np.float32)
    records = context.wrap_dataset(tf.data.Dataset.from_tensor_slices(({"x": x}, 3 * x)))
    return records.batch(context.get_per_slot_batch_size())

optimizer = context.wrap_optimizer(tf.keras.optimizers.legacy.SGD(0.05))
made = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], optimizer=optimizer)
context.train_and_evaluate(made, tf.estimator.TrainSpec(data), tf.estimator.EvalSpec(data, steps=None))
print("after training")
"""


def _run(directory: Path, script: str, *words: str, master: str = "http://127.0.0.1:1") -> str:
    (directory / "train.py").write_text(script)
    (directory / "home").mkdir(exist_ok=True)
    (directory / ".detignore").write_text("home\n")
    env = clean_environment(HOME=str(directory / "home"), DET_MASTER=master, TF_CPP_MIN_LOG_LEVEL="2")
    command = [sys.executable, "train.py", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=directory, check=False, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(900)
@pytest.mark.parametrize("slots", [1, 2])
def test_a_keras_script_submits_itself_and_trains_in_the_trial(
    cluster: Cluster, client: Client, tmp_path: Path, slots: int
) -> None:
    said = _run(tmp_path, KERAS, str(slots), master=cluster.url)
    assert "building" not in said, "what follows init() runs in the trial alone"
    experiment = int(re.search(r"Created experiment (\d+)", said).group(1))  # type: ignore[union-attr]
    state = client.wait_state(experiment, "COMPLETED", "ERROR")
    (trial,) = client.trials(experiment)
    log = "\n".join(client.log_lines(trial["id"]))
    assert state == "COMPLETED", log
    assert "building 4 units" in log and "after fit" not in log
    assert trial["latestValidation"]["totalBatches"] == 6
    assert trial["totalBatchesProcessed"] == 6 and trial["checkpointCount"] >= 1


@pytest.mark.timeout(900)
def test_an_estimator_script_submits_itself_and_trains_in_the_trial(
    cluster: Cluster, client: Client, tmp_path: Path
) -> None:
    said = _run(tmp_path, ESTIMATOR, master=cluster.url)
    experiment = int(re.search(r"Created experiment (\d+)", said).group(1))  # type: ignore[union-attr]
    state = client.wait_state(experiment, "COMPLETED", "ERROR")
    (trial,) = client.trials(experiment)
    log = "\n".join(client.log_lines(trial["id"]))
    assert state == "COMPLETED", log
    assert "after training" not in log and trial["totalBatchesProcessed"] == 4


@pytest.mark.parametrize(("script", "after"), [(KERAS, "after fit"), (ESTIMATOR, "after training")])
def test_a_script_is_tried_on_one_batch_off_cluster(tmp_path: Path, script: str, after: str) -> None:
    assert after in _run(tmp_path, script, "1", "--local")
