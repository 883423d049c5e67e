"""Arguments of a Hugging Face script that agree with DeepSpeed's config."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from determined._json import JsonObject
from determined.pytorch.dsat._config import OVERWRITE_KEY, overwrite_deepspeed_config

_CONFIG_FLAG = "--deepspeed"
# What both the Trainer and DeepSpeed must know, and agree on.
_SHARED = {
    "--per_device_train_batch_size": "train_micro_batch_size_per_gpu",
    "--gradient_accumulation_steps": "gradient_accumulation_steps",
}


def get_hf_args_with_overwrites(args: Sequence[str], hparams: Mapping[str, Any]) -> list[str]:
    """Return a script's arguments with the values of `hparams["overwrite_deepspeed_args"]`.

    The config file that `--deepspeed` names is left as it is: the changed one is written elsewhere and named instead.
    Without such hyperparameters the arguments are returned unchanged.

    Args:
        args: the arguments, such as `sys.argv[1:]`.
        hparams: the hyperparameters of the trial.

    Raises:
        ValueError: there are values to overwrite, and `args` have no `--deepspeed FILE`.
    """
    changed = list(args)
    overwrites = hparams.get(OVERWRITE_KEY) or {}
    if not overwrites:
        return changed
    if _CONFIG_FLAG not in changed[:-1]:
        raise ValueError(
            f"hyperparameters.{OVERWRITE_KEY} is set, and the script's arguments have no {_CONFIG_FLAG} FILE to apply "
            f"it to: {changed}"
        )
    place = changed.index(_CONFIG_FLAG) + 1
    config = overwrite_deepspeed_config(changed[place], overwrites)
    changed[place] = str(_written(config))
    for flag, key in _SHARED.items():
        if isinstance(config.get(key), int):  # "auto" is the Trainer's to decide
            changed = _with_value(changed, flag, str(config[key]))
    return changed


def _written(config: JsonObject) -> Path:
    """Write a file of this process's own: ranks of one node would else read one that another is writing."""
    path = Path(tempfile.mkdtemp(prefix="deepspeed-")) / "ds_config.json"
    path.write_text(json.dumps(config, indent=2))
    return path


def _with_value(args: list[str], flag: str, value: str) -> list[str]:
    if flag in args[:-1]:
        place = args.index(flag) + 1
        return [*args[:place], value, *args[place + 1 :]]
    return [*args, flag, value]
