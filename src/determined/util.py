"""Upstream's `determined.util`: names that users' code imports from here."""

import copy
import inspect
import time
from collections.abc import Callable
from typing import Any

from determined._backoff import Backoff
from determined.wire.userdata import json_encode

__all__ = [
    "download_gcs_blob_with_backoff",
    "get_member_func",
    "has_param",
    "is_overridden",
    "json_encode",
    "merge_dicts",
]


def download_gcs_blob_with_backoff(blob: Any, n_retries: int = 32, max_backoff: int = 32) -> Any:
    """Read an object of Google Cloud Storage into memory, again and again while that fails.

    Args:
        blob: a `google.cloud.storage.Blob`.
        n_retries: how often it is tried.
        max_backoff: the longest wait between two tries, in seconds.

    Raises:
        RuntimeError: every try failed; the last failure is its cause.
    """
    read = getattr(blob, "download_as_bytes", None) or blob.download_as_string  # the latter until version 1.31
    backoff = Backoff(first=1.0, limit=max_backoff, jitter=1.0)
    for attempt in range(n_retries):
        try:
            return read()
        except Exception as err:  # noqa: BLE001  the library raises what its transport raises
            last = err
            time.sleep(backoff.delay(attempt))
    raise RuntimeError(f"{blob!r} could not be read in {n_retries} tries") from last


def merge_dicts(base_dict: dict[Any, Any], source_dict: dict[Any, Any]) -> dict[Any, Any]:
    """Return a copy of `base_dict` with the values of `source_dict`; dicts within dicts are merged as well."""
    merged = copy.deepcopy(base_dict)
    for key, value in source_dict.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge_dicts(merged[key], value) if both else value
    return merged


def is_overridden(full_method: Any, parent_class: Any) -> bool:
    """Tell whether a bound method is defined by a subclass of `parent_class`."""
    name = getattr(full_method, "__name__", "")
    return callable(full_method) and getattr(full_method, "__func__", None) is not getattr(parent_class, name, None)


def has_param(fn: Callable[..., Any], name: str, pos: int | None = None) -> bool:
    """Tell whether a function has a parameter `name`, or one at place `pos`."""
    names = list(inspect.signature(fn).parameters)
    return name in names or (pos is not None and len(names) > pos)


def get_member_func(obj: Any, func_name: str) -> Any:
    """Return the method of that name, None where there is none."""
    member = getattr(obj, func_name, None)
    return member if callable(member) else None
