"""Origin of a checkpoint: the trial's class, its config and hyperparameters, and the code, written beside the
weights so that the trial can be built again from it."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

from determined import core
from determined._info import run_directory
from determined._json import JsonObject
from determined._version import __version__
from determined.config import mask_secrets
from determined.errors import TooLarge
from determined.rundir.context import copy_directory
from determined.rundir.layout import RunDir

logger = logging.getLogger("determined.trial")

CODE, LOAD_DATA_FILE = "code", "load_data.json"
SCRIPT_DIRECTORY = "script_directory"  # in LOAD_DATA_FILE


class Origin:
    """Files that every checkpoint of one trial has in common.

    Args:
        trial_class: the user's.
        trial_type: the name of the class it derives from.
        core_context: tells whether this is a task of a cluster.
        hparams: the trial's; None where a script gave none.
        config: the experiment's, likewise.
        is_trainer: the trial runs by a script's Trainer, not by its entrypoint.
    """

    def __init__(
        self,
        trial_class: type,
        trial_type: str,
        core_context: core.Context,
        *,
        hparams: JsonObject | None,
        config: JsonObject | None,
        is_trainer: bool = False,
    ) -> None:
        self._code = UserCode(core_context)
        self._load_data: JsonObject = {
            "trial_type": trial_type,
            # Whoever may read a checkpoint need not be one who may read the storage's keys.
            "experiment_config": None if config is None else mask_secrets(config),
            "hparams": hparams,
            "trial_cls_spec": class_spec(trial_class),
        }
        if is_trainer:
            self._load_data["is_trainer"] = True
            self._load_data |= _script_directory()

    def write(self, directory: Path) -> None:
        self.write_load_data(directory)
        self.write_code(directory)

    def write_load_data(self, directory: Path) -> None:
        """Write what is known of the trial without its code."""
        text = json.dumps(self._load_data, skipkeys=True, default=_plain)
        (directory / LOAD_DATA_FILE).write_text(text)

    def write_code(self, directory: Path) -> None:
        self._code.write(directory)


class UserCode:
    """The code that a checkpoint carries beside its weights.

    Args:
        core_context: tells whether this is a task of a cluster.
    """

    def __init__(self, core_context: core.Context) -> None:
        self._core = core_context
        self._fits = True

    def write(self, directory: Path) -> None:
        """Write the code into the checkpoint `directory`, unless there is too much of it."""
        if not self._fits:
            return
        code, destination = self._place(), directory / CODE
        try:
            copy_directory(code, destination, without=_store_within(code, destination))
        except TooLarge as err:
            self._fits = False  # said once; it would be no smaller the next time
            logger.warning("checkpoints are stored without the code of %s: %s", Path.cwd(), err)
            return
        destination.chmod(0o755)

    def _place(self) -> Path:
        """The context directory as it was submitted; off cluster the working directory."""
        submitted = RunDir(run_directory()).model
        return submitted if self._core.info is not None and submitted.is_dir() else Path.cwd()


def _plain(value: Any) -> object:
    """A script's hyperparameters may be any: numpy's are numbers and lists of them, anything else is text."""
    return value.tolist() if type(value).__module__ == "numpy" else str(value)


def _store_within(code: Path, destination: Path) -> Path:
    """Return what holds checkpoints, this and others, must not be copied into one."""
    checkpoint = destination.parent.resolve()
    store = checkpoint.parent
    return store if store != code.resolve() and store.is_relative_to(code.resolve()) else checkpoint


def metadata(batches_trained: int, framework: str, file_format: str) -> JsonObject:
    """Return what a checkpoint says of itself to the master."""
    return {
        "determined_version": __version__,
        "steps_completed": batches_trained,
        "framework": framework,
        "format": file_format,
    }


def class_spec(trial_class: type) -> str:
    """`module:Qualname`, under which the class is found again in the stored code."""
    module = trial_class.__module__
    return f"{_script_module() if module == '__main__' else module}:{trial_class.__qualname__}"


def _script_module() -> str:
    """The name under which the script that runs can be imported; `__main__` where there is none (a notebook)."""
    main = sys.modules["__main__"]
    if main.__spec__ is not None:
        return main.__spec__.name
    script = _script()
    return "__main__" if script is None else ".".join(script.with_suffix("").parts)


def _script_directory() -> dict[str, str]:
    """Return where the script lies in the code, unless at its top: Python looks for modules there before anywhere
    else."""
    script = _script() if sys.modules["__main__"].__spec__ is None else None
    return {} if script is None or len(script.parts) == 1 else {SCRIPT_DIRECTORY: script.parent.as_posix()}


def _script() -> Path | None:
    """Return the script's path within the working directory; the name alone of one that lies elsewhere."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    if file is None:
        return None
    path = Path(file).absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else Path(path.name)
