"""A DeepSpeed config as the hyperparameters of a trial describe it. Needs no DeepSpeed."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from determined._json import JsonObject

CONFIG_KEY = "deepspeed_config"
OVERWRITE_KEY = "overwrite_deepspeed_args"


def get_ds_config_from_hparams(hparams: Mapping[str, Any], base_dir: str | Path = ".") -> JsonObject:
    """Read the DeepSpeed config that `hparams["deepspeed_config"]` names and lay `overwrite_deepspeed_args` over it.

    Args:
        hparams: the hyperparameters of the trial.
        base_dir: the directory that the file's name is relative to.

    Raises:
        ValueError: `hparams` name no config, or its file is not JSON.

    Example:
        >>> hparams = {"deepspeed_config": "ds.json", "overwrite_deepspeed_args": {"steps_per_print": 9}}
        >>> get_ds_config_from_hparams(hparams)
    """
    if CONFIG_KEY not in hparams:
        raise ValueError(f"hyperparameters.{CONFIG_KEY} is missing; set it to the name of DeepSpeed's JSON config file")
    return overwrite_deepspeed_config(Path(base_dir) / str(hparams[CONFIG_KEY]), hparams.get(OVERWRITE_KEY) or {})


def overwrite_deepspeed_config(
    base_ds_config: str | Path | Mapping[str, object], source_ds_dict: Mapping[str, object]
) -> JsonObject:
    """Return a DeepSpeed config in which every value of `source_ds_dict` replaces that of the base, at any depth.

    Args:
        base_ds_config: the path of a JSON file, or the config itself; it is left as it is.
        source_ds_dict: what to replace or add: sections are merged, everything else is replaced.

    Raises:
        TypeError: the base is neither, or the file holds no JSON object, or the source is no dict.
        ValueError: the file is not JSON, or names a key twice, of which only one would count.

    Example:
        >>> base = {"optimizer": {"type": "Adam", "params": {"lr": 0.1, "eps": 1e-8}}}
        >>> overwrite_deepspeed_config(base, {"optimizer": {"params": {"lr": 0.01}}})
        {'optimizer': {'type': 'Adam', 'params': {'lr': 0.01, 'eps': 1e-08}}}
    """
    if not isinstance(source_ds_dict, Mapping):
        raise TypeError(
            f"overwrite_deepspeed_config got a {type(source_ds_dict).__name__} of values to replace; pass a dict"
        )
    if isinstance(base_ds_config, str | Path):
        base_ds_config = _read(Path(base_ds_config))
    if not isinstance(base_ds_config, Mapping):
        raise TypeError(
            f"overwrite_deepspeed_config got a {type(base_ds_config).__name__} as base; pass the path of a JSON file "
            "that holds an object, or a dict"
        )
    return _merged(base_ds_config, source_ds_dict)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(), object_pairs_hook=lambda pairs: _without_doubles(pairs, path))
    except json.JSONDecodeError as err:
        raise ValueError(f"{path} is not JSON: {err}") from err


def _without_doubles(pairs: list[tuple[str, object]], path: Path) -> JsonObject:
    values: JsonObject = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"{path} has the key {key!r} twice in one section; remove the one that is not meant")
        values[key] = value
    return values


def _merged(base: Mapping[str, object], source: Mapping[str, object]) -> JsonObject:
    merged = copy.deepcopy(dict(base))
    for key, value in source.items():
        before = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = _merged(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
