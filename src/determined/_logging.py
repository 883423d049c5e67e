"""Logging for programs of ours. A library configures no handlers; only a `main` calls `configure`."""

import logging

from determined.constants import LOG_FORMAT

__all__ = ["LOG_FORMAT", "configure"]


def configure(level: int | str = logging.INFO) -> None:
    """Send log records to stderr in the shape the log shipper reads levels from."""
    logging.basicConfig(level=level, format=LOG_FORMAT)
