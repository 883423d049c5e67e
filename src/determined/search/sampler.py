"""The protocol of model-based samplers: they learn from finished and running trials where to look next.

Thinking of a point may be slow, so it is not done inside a search event. A method asks for a trial as ever; the
`Searcher` holds the new trial back until `propose` (run outside of any transaction, on a copy) has been answered by the
event `proposed`, which carries the point. A replay takes points from the log and never asks a model again.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from determined._json import JsonObject
from determined.search.method import ExitReason


class Sampler(ABC):
    """Model that proposes points. Values are signed: lower is better in every objective; NaN has been made WORST."""

    def at_once(self) -> JsonObject | None:
        """Return a point that needs no thought, such as the first of a search; None: `propose` must be asked."""
        return None

    @abstractmethod
    def propose(self, seed: int) -> JsonObject:
        """Return a point of the space, nested as the config is: equal for equal state and seed. Changes nothing."""

    @abstractmethod
    def created(self, request_id: str, hparams: JsonObject) -> None:
        """Record that a trial exists (proposed, or initial point); until it ends, the model counts it as running."""

    @abstractmethod
    def observed(self, request_id: str, values: Sequence[float], length: float) -> None:
        """Record a validation at `length` units or time; `values` has one number per objective."""

    @abstractmethod
    def ended(self, request_id: str, reason: ExitReason | None) -> None:
        """Record that the trial is over: None is a plain exit (finished, or stopped by the search)."""

    @abstractmethod
    def snapshot(self) -> JsonObject: ...

    @abstractmethod
    def restore(self, state: JsonObject) -> None: ...
