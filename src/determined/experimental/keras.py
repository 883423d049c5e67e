"""Native API of tf.keras (0.12 to 0.17): `init` returns a context whose wrapped model trains when `fit` is called."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from determined._json import JsonObject
from determined.experimental._native import Mode, NativeRequest, running_trial, submit


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

    `context.wrap_model(model)` gives a model whose `fit` trains as the experiment says and then ends the process.

    Args:
        config: an experiment config.
        local: try it in this process; needs `test`. `fit` then trains on one batch and returns.
        test: train on one batch only.
        context_dir: the directory with the code, which is sent to the cluster.
        command: the script and its arguments, relative to `context_dir`; those of this process by default.
        master_url: the master's address, else that of `det`.
        mode: what releases until 0.12.4 had in place of `local` and `test`.

    Returns:
        A `determined.keras.TFKerasNativeContext`.
    """
    request = NativeRequest.of(config, local, test, context_dir, command, master_url, mode)
    return start("determined.keras._native", request)


def start(module: str, request: NativeRequest) -> Any:
    """The context of a training API's `_native` module, or the end of a process that has submitted."""
    info = running_trial()
    if info is not None:
        return import_module(module).in_trial(info)  # by name, as it needs a framework
    if request.is_local:
        return import_module(module).local(request.config)
    submit(request, replaces_entrypoint=True)
    sys.exit(0)
