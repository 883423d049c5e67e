"""Part that the operations of a searcher have on a cluster and off it."""


class TrainOperation:
    """Train until `length` in total, then report once. The chief reports."""

    def __init__(self, length: int, is_chief: bool) -> None:
        self._length = length
        self._is_chief = is_chief
        self._completed = False

    @property
    def length(self) -> int:
        """Length to have trained altogether, not how much more."""
        return self._length

    def _complete(self) -> None:
        self._only_chief("report_completed")
        if self._completed:
            raise RuntimeError(f"the operation of length {self._length} was already completed")
        self._completed = True

    def _only_chief(self, call: str) -> None:
        if not self._is_chief:
            raise RuntimeError(f"only the chief may call {call}; guard it with `distributed.rank == 0`")
