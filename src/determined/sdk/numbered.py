"""Parts that experiments and trials have in common."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from determined.api.session import Session
from determined.sdk.checkpoint import Checkpoint
from determined.sdk.checkpoint_choice import sorting
from determined.sdk.enums import CheckpointSortBy, OrderBy
from determined.wire.checkpoint import Checkpoint as WireCheckpoint
from determined.wire.checkpoint import ListCheckpoints


class Numbered:
    """Object of the cluster with a number and checkpoints. Two are equal when kind and number are."""

    _kind: ClassVar[str]
    _session: Session

    if TYPE_CHECKING:  # a property of an experiment, an attribute of a trial

        @property
        def id(self) -> int: ...

    def list_checkpoints(
        self,
        sort_by: str | CheckpointSortBy | None = None,
        order_by: OrderBy | None = None,
        max_results: int | None = None,
    ) -> list[Checkpoint]:
        """COMPLETED checkpoints, best searcher metric first unless a metric name or attribute to sort by is given."""
        rows = self._checkpoints(sorting(sort_by, order_by))
        made = [Checkpoint._from_wire(self._session, c) for c in rows]
        return made if max_results is None else made[:max_results]

    def _checkpoints(self, params: ListCheckpoints) -> Iterable[WireCheckpoint]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{self._kind}(id={self.id})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbered) and (other._kind, other.id) == (self._kind, self.id)

    def __hash__(self) -> int:
        return hash((self._kind, self.id))
