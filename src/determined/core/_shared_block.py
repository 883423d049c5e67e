"""A block of code that every rank leaves well, or none does: one that fails in there tells the others why."""

from types import TracebackType

from determined.core._distributed import DistributedContext
from determined.errors import InvalidHP


class SharedBlock:
    """Collective at its end. A rank whose block raises leaves with that; the others get an error that names both.

    They may be in an exchange of their own in there, which then ends with that error, or wait for the rank by other
    means: it waits for them only for some seconds. `is_over`: nobody does anything in there any more.
    """

    def __init__(self, dist: DistributedContext, doing: str) -> None:
        self._dist = dist
        self._doing = doing
        self.is_over = False

    def __enter__(self) -> "SharedBlock":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.is_over = self._dist._agree(error, self._doing)
        except (RuntimeError, InvalidHP) as failure:
            self.is_over = True
            if error is None or self._is_consequence(error, failure):
                raise failure from error

    def _is_consequence(self, error: BaseException, failure: Exception) -> bool:
        """Return whether a peer had failed before: what is left of the block may have been cleared away under this
        rank."""
        if not isinstance(error, Exception) or isinstance(error, InvalidHP):
            return False
        return str(failure) not in (str(error), self._dist._described(error, self._doing))
