"""Native API of tf.estimator (0.12 to 0.17): `init` returns a context with `train_and_evaluate`."""

from collections.abc import Sequence
from typing import Any

from determined._json import JsonObject
from determined.experimental._native import Mode, NativeRequest
from determined.experimental.keras import start


def init(
    config: JsonObject | None = None,
    local: bool | Mode = False,
    test: bool = False,
    context_dir: str = "",
    command: Sequence[str] | None = None,
    master_url: str | None = None,
    *,
    mode: Mode | None = None,
) -> Any:
    """Submit this script as an experiment and end; in the trial, which runs it again, return its context.

    `context.train_and_evaluate(estimator, train_spec, eval_spec)` trains as the experiment says and then ends the
    process. The arguments are those of `determined.experimental.keras.init`.

    Returns:
        A `determined.estimator.EstimatorNativeContext`.
    """
    request = NativeRequest.of(config, local, test, context_dir, command, master_url, mode)
    return start("determined.estimator._native", request)
