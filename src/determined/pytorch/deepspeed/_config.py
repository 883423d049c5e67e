"""`overwrite_deepspeed_config`: DeepSpeed's config with some of its values replaced, as hyperparameters say."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def overwrite_deepspeed_config(
    base_ds_config: str | Path | Mapping[str, Any], source_ds_dict: Mapping[str, Any]
) -> dict[str, Any]:
    """A DeepSpeed config in which every value of `source_ds_dict` replaces that of the base, at any depth.

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


def _without_doubles(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{path} has the key {key!r} twice in one section; remove the one that is not meant")
        found[key] = value
    return found


def _merged(base: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(dict(base))
    for key, value in source.items():
        before = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = _merged(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[key] = copy.deepcopy(value)
    return merged
