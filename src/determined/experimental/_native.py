"""The Native API of releases 0.12 to 0.17: a script that submits itself, and trains when a trial runs it again."""

import logging
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

from determined._frameworks import framework_of
from determined._info import ClusterInfo, get_cluster_info, trial_of
from determined._json import JsonObject
from determined.config.test_mode import one_batch
from determined.experimental._one_batch import test_one_batch
from determined.sdk.determined import Determined
from determined.sdk.experiment import Experiment

logger = logging.getLogger("determined.client")

_LAUNCHER = ["python3", "-m", "determined.launch.torch_distributed", "python3"]


class Mode(Enum):
    """Place where releases until 0.12.4 ran an experiment: `local` is today's `local=True, test=True`."""

    CLUSTER = "cluster"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """The arguments of `create` and of the `init` functions."""

    config: JsonObject
    is_local: bool
    is_test: bool
    context_dir: str
    command: Sequence[str] | None
    master_url: str | None

    @classmethod
    def of(
        cls,
        config: JsonObject | None,
        local: bool | Mode,
        test: bool,
        context_dir: str,
        command: Sequence[str] | None,
        master_url: str | None,
        mode: Mode | None,
    ) -> "NativeRequest":
        """Read arguments. Raises ValueError for local training that is no test: it was never implemented, and `det`
        does it."""
        chosen = local if isinstance(local, Mode) else mode
        is_local = bool(local) if chosen is None else chosen is Mode.LOCAL
        is_test = test or chosen is Mode.LOCAL
        if is_local and not is_test:
            raise ValueError(
                "local=True needs test=True: a whole training runs on a cluster, or on this machine with "
                "det experiment create --local"
            )
        return cls(dict(config or {}), is_local, is_test, str(context_dir), command, master_url)


def create(
    trial_def: type | None = None,
    config: JsonObject | None = None,
    local: bool | Mode = False,
    test: bool = False,
    context_dir: str = "",
    command: Sequence[str] | None = None,
    master_url: str | None = None,
    *,
    mode: Mode | None = None,
) -> Any:
    """Submit this script as an experiment that trains `trial_def`; in the trial, train.

    Args:
        trial_def: a trial class. Without one, `config` names an `entrypoint`.
        config: an experiment config.
        local: try the class in this process; needs `test`.
        test: train on one batch only.
        context_dir: the directory with the code, which is sent to the cluster.
        command: the script and its arguments, relative to `context_dir`; those of this process by default.
        master_url: the master's address, else that of `det`.
        mode: what releases until 0.12.4 had in place of `local` and `test`.

    Returns:
        The experiment; with `local`, the trial. In a trial it does not return: the process ends with the training.

    Raises:
        ValueError: nothing to train, `local` without `test`, or a script outside of `context_dir`.
    """
    request = NativeRequest.of(config, local, test, context_dir, command, master_url, mode)
    if running_trial() is not None:
        if trial_def is None:  # the trial has imported the script that submitted it, for a class in it
            return None
        sys.exit(_train(trial_def))
    if trial_def is None and not request.config.get("entrypoint"):
        raise ValueError("create() got neither trial_def nor an entrypoint in config; pass the trial class")
    if request.is_local:
        trial = test_one_batch(trial_def or _entrypoint_class(request), request.config)
        sys.stdout.write("Local test succeeded\n")  # as det e create --local --test does
        return trial
    return submit(request, replaces_entrypoint=trial_def is not None)


def running_trial() -> ClusterInfo | None:
    """Return the trial that this process runs in, None elsewhere."""
    return trial_of(get_cluster_info())


def submit(request: NativeRequest, *, replaces_entrypoint: bool) -> Experiment:
    """Send the context directory and the config; the trial runs the script again unless its entrypoint is kept."""
    config = request.config
    directory = Path(request.context_dir or ".")
    if replaces_entrypoint:
        config = {**config, "entrypoint": [*_LAUNCHER, *_script(request.command, directory)]}
    if request.is_test:
        config = one_batch(config)
    made = Determined(request.master_url).create_experiment(config, directory)
    logger.info("created experiment %s", made.id)
    sys.stdout.write(f"Created experiment {made.id}\n")
    return made


def _script(command: Sequence[str] | None, directory: Path) -> list[str]:
    """The script relative to the directory that is sent, and its arguments."""
    words = list(command if command is not None else sys.argv)
    if not words or not words[0].endswith(".py"):
        raise ValueError(
            f"the script that the trial shall run cannot be told from {words!r}; pass command=['train.py', ...]"
        )
    script, root = Path(words[0]), directory.resolve()
    for place in (script.resolve(), (root / script).resolve()):
        if place.is_relative_to(root) and place.is_file():
            return [str(place.relative_to(root)), *words[1:]]
    raise ValueError(
        f"{script} is not in context_dir={str(directory)!r}, and only that is sent to the cluster; pass the script's "
        "directory as context_dir"
    )


def _entrypoint_class(request: NativeRequest) -> type:
    from determined._imports import import_from_path

    entrypoint = request.config["entrypoint"]
    module, _, name = str(entrypoint).partition(":")
    if not name:
        raise ValueError(
            f"entrypoint {entrypoint!r} names no trial class, and only a class can be tried on one batch; write it as "
            "module:Class, or try the script with det experiment create --local"
        )
    with import_from_path(request.context_dir or "."):
        trial_class: type = getattr(import_module(module), name)
        return trial_class


def _train(trial_def: type) -> int:
    framework = framework_of(trial_def)
    if framework is None:
        raise ValueError(f"{trial_def!r} is no trial class; derive it from PyTorchTrial or another API's trial")
    status: int = framework.load("_entrypoint").run_trial(trial_def)
    return status
