"""Read a storage for somebody who waits: whatever goes wrong there is an answer, never a failure of the master."""

import asyncio
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from determined.errors import DeterminedError, FailedPrecondition, NoDirectStorageAccess

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call the storage in a thread.

    Raises:
        FailedPrecondition: the master may not use it, or it fails.
    """
    try:
        return await asyncio.to_thread(call, *args, **kwargs)
    except NoDirectStorageAccess as error:
        raise FailedPrecondition(f"the master cannot read these files: {error.message}") from error
    except DeterminedError:
        raise
    except Exception as error:  # drivers have errors of their own
        logger.warning("a storage cannot be read: %s", failure(error), exc_info=not isinstance(error, OSError))
        raise FailedPrecondition(f"the storage cannot be read now: {failure(error)}") from error


def failure(error: Exception) -> str:
    """Return what may be said of an error: texts of drivers may hold credentials."""
    return str(error) if isinstance(error, DeterminedError | OSError) and str(error) else type(error).__name__
