"""Asking a master that may be away for an hour."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from determined.errors import DeterminedError, Unavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

_BACKOFF = (0.1, 5.0)


def persistently(call: Callable[[], T], retried: tuple[type[DeterminedError], ...] = (Unavailable,)) -> T:
    """Try until the master answers with something else than `retried`, however long it is away."""
    delay = _BACKOFF[0]
    while True:
        try:
            return call()
        except retried as e:
            logger.warning("master away: %s", e)
            time.sleep(delay)
            delay = min(delay * 1.7, _BACKOFF[1])
