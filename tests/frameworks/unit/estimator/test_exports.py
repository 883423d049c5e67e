"""Models exported for serving in every checkpoint, and loaded from there."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tensorflow as tf
from small_trial import SmallTrial, checkpoints, train, variables

from determined.estimator import load_estimator_from_checkpoint_path

PREDICT = """
import sys
import tensorflow as tf
from determined.estimator import load_estimator_from_checkpoint_path
model = load_estimator_from_checkpoint_path(sys.argv[1])
print("y", model.signatures["serving_default"](x=tf.constant([2.0]))["y"].numpy()[0])
"""


def _served() -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [None])
    return tf.estimator.export.TensorServingInputReceiver(x, {"x": x})


class Served(SmallTrial):
    names = ("line",)

    def build_serving_input_receiver_fns(self) -> Any:
        return dict.fromkeys(self.names, _served)


def test_what_was_trained_is_served_from_the_checkpoint(tmp_path: Path) -> None:
    train(Served, tmp_path, batches=3)
    (stored,) = checkpoints(tmp_path)
    done = subprocess.run([sys.executable, "-c", PREDICT, str(stored)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = float(done.stdout.partition("y ")[2])
    trained = variables(stored)
    assert said == pytest.approx(2 * trained["slope"] + trained["offset"], rel=1e-6)


@pytest.mark.parametrize(("names", "number"), [((), 0), (("one", "other"), 2)])
def test_a_checkpoint_without_exactly_one_export_says_how_many_it_has(
    tmp_path: Path, names: tuple[str, ...], number: int
) -> None:
    train(type("Several", (Served,), {"names": names}), tmp_path, batches=1)
    (stored,) = checkpoints(tmp_path)
    with pytest.raises(AssertionError, match=f"has {number} SavedModels"):
        load_estimator_from_checkpoint_path(str(stored))
