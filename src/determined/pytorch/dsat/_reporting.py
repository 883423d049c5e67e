"""`dsat_reporting_context`: what training steps ran in under DeepSpeed Autotune."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def dsat_reporting_context(core_context: object, op: object, steps_completed: int | None = None) -> Iterator[None]:
    """Run a block. Autotune's own trials ended and reported here; its search is not implemented, so there are none.

    Args:
        core_context: the Core API context.
        op: the searcher's operation.
        steps_completed: at which step its results would be reported.
    """
    yield
