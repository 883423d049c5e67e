"""Upstream's `determined.common.util`: reading and writing YAML, and small helpers."""

import functools
import json
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, ParamSpec, TypeVar

import urllib3
import yaml

from determined.api import environment

__all__ = [
    "chunks",
    "debug_mode",
    "deprecated",
    "get_config_path",
    "get_max_retries_config",
    "is_protobuf_timestamp",
    "parse_protobuf_timestamp",
    "preserve_random_state",
    "safe_load_yaml_with_exceptions",
    "sizeof_fmt",
    "strtobool",
    "wait_for",
    "yaml_safe_dump",
    "yaml_safe_load",
]

P = ParamSpec("P")
R = TypeVar("R")
_FALSE = ("", "n", "no", "f", "false", "off", "0")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


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


def get_max_retries_config() -> urllib3.Retry:
    """Return the retries that DET_RETRY_CONFIG describes (JSON of urllib3's `Retry`), else twenty."""
    given = environment.retry_config()
    return urllib3.Retry(
        **(json.loads(given) if given else {"total": 20, "backoff_factor": 0.5, "allowed_methods": None})
    )


def debug_mode() -> bool:
    """Return whether DET_DEBUG is set."""
    return environment.is_debugging()


def strtobool(val: str) -> bool:
    """Read a word for yes or no; any that is none of the usual ones for no means yes."""
    return (val or "").lower() not in _FALSE


def parse_protobuf_timestamp(ts: str) -> datetime:
    """Read a time as the API writes it, to the second."""
    return datetime.fromisoformat(ts).replace(microsecond=0)


def is_protobuf_timestamp(ts: str) -> bool:
    """Return whether the API takes this as a time: RFC 3339 in UTC, ending in Z."""
    if not _TIME.fullmatch(ts):
        return False
    try:
        datetime.fromisoformat(ts)
    except ValueError:
        return False
    return True


def deprecated(message: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function warn that it will be removed."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        text = f"{function.__name__} is deprecated and will be removed in a future version."

        @functools.wraps(function)
        def warning(*args: P.args, **kwargs: P.kwargs) -> R:
            warnings.warn(f"{text} {message}." if message else text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warning

    return decorate


def preserve_random_state(fn: Callable[P, R]) -> Callable[P, R]:
    """Make a function leave the state of `random` as it was."""

    @functools.wraps(fn)
    def preserving(*args: P.args, **kwargs: P.kwargs) -> R:
        state = random.getstate()
        try:
            return fn(*args, **kwargs)
        finally:
            random.setstate(state)

    return preserving
