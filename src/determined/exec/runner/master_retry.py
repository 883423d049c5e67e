"""Repeat calls to a master that may be away for an hour."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from determined._backoff import Backoff
from determined.errors import DeterminedError, Unavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

MASTER_AWAY = Backoff(first=0.1, limit=5.0, factor=1.7)


def persistently(call: Callable[[], T], retried: tuple[type[DeterminedError], ...] = (Unavailable,)) -> T:
    """Try until the master answers with something else than `retried`, however long it is away."""
    delays = MASTER_AWAY.delays()
    while True:
        try:
            return call()
        except retried as e:
            logger.warning("master away: %s", e)
            time.sleep(next(delays))
