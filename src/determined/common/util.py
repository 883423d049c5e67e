"""Upstream's `determined.common.util`: reading and writing YAML, and small helpers."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from determined.api import environment

__all__ = [
    "chunks",
    "get_config_path",
    "safe_load_yaml_with_exceptions",
    "sizeof_fmt",
    "wait_for",
    "yaml_safe_dump",
    "yaml_safe_load",
]


def yaml_safe_load(f: Any) -> Any:
    """Read YAML from text or an open file."""
    return yaml.safe_load(f)


def yaml_safe_dump(data: Any, stream: Any = None, default_flow_style: bool | None = None, **options: Any) -> Any:
    """Write YAML to an open file, or return it as text."""
    return yaml.safe_dump(data, stream, default_flow_style=bool(default_flow_style), **options)


def safe_load_yaml_with_exceptions(yaml_file: Any) -> Any:
    """Read YAML from text or an open file; end the program with one message where it is not valid."""
    try:
        return yaml.safe_load(yaml_file)
    except yaml.YAMLError as err:
        sys.exit(f"{getattr(yaml_file, 'name', 'the text')} is not valid YAML: {err}")


def chunks(lst: Any, chunk_size: int) -> Iterator[Any]:
    """Yield parts of a sequence, `chunk_size` items each."""
    for start in range(0, len(lst), chunk_size):
        yield lst[start : start + chunk_size]


def sizeof_fmt(val: float) -> str:
    """Write a number of bytes for people, such as 1.5KB."""
    value, units = float(val), ["", "K", "M", "G", "T", "P", "E", "Z"]
    while abs(value) >= 1024 and len(units) > 1:
        value, units = value / 1024, units[1:]
    return f"{value:3.1f}{units[0]}B"


def wait_for(predicate: Callable[[], tuple[bool, Any]], timeout: int = 60, interval: float = 0.1) -> Any:
    """Call `predicate` until the first part of its answer is true and return the second.

    Raises:
        TimeoutError: it was not within `timeout` seconds.
    """
    end = time.monotonic() + timeout
    while True:
        is_done, value = predicate()
        if is_done:
            return value
        if time.monotonic() >= end:
            raise TimeoutError(f"waited {timeout} seconds for {getattr(predicate, '__name__', predicate)}")
        time.sleep(interval)


def get_config_path() -> Any:
    """Return the directory of the tokens and certificates of `det`."""
    return environment.config_dir()
