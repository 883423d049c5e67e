"""Operations that a search method returns: new trials, more training, an end."""

import json
import logging
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from determined.wire.userdata import to_plain

logger = logging.getLogger("determined.searcher")


class Operation(ABC):
    """Operation that a search method asks for. The master carries out all operations of one answer, or none."""

    __slots__ = ()

    @abstractmethod
    def _to_wire(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, init=False)
class Create(Operation):
    """A new trial. It trains once a `ValidateAfter` follows.

    Args:
        request_id: a fresh UUID by which every later event and operation names the trial.
        hparams: its hyperparameters: anything that JSON can carry, arrays and tensors included.
        checkpoint: accepted for older code; the trial starts from the experiment's own source checkpoint, if any.

    Raises:
        ValueError: a hyperparameter is NaN or infinite.

    Example:
        >>> Create(uuid.uuid4(), {"lr": 0.1})
    """

    request_id: UUID
    hparams: str
    checkpoint: Any

    def __init__(self, request_id: UUID, hparams: dict[str, Any], checkpoint: Any = None) -> None:
        if checkpoint is not None:
            logger.warning("trial %s: a checkpoint given to Create is not used; put searcher.source_checkpoint_uuid "
                           "in the experiment config", request_id)  # fmt: skip
        object.__setattr__(self, "request_id", request_id)
        object.__setattr__(self, "hparams", json.dumps(to_plain(hparams), allow_nan=False))
        object.__setattr__(self, "checkpoint", checkpoint)

    def _to_wire(self) -> dict[str, Any]:
        return {"createTrial": {"requestId": str(self.request_id), "hyperparams": self.hparams}}


@dataclass(frozen=True, slots=True)
class ValidateAfter(Operation):
    """Train a trial until `length` in all, in the units of `searcher.unit`, then validate. Lengths grow."""

    request_id: UUID
    length: int

    def _to_wire(self) -> dict[str, Any]:
        where = {"requestId": str(self.request_id), "length": str(int(self.length))}
        return {"trialOperation": {"validateAfter": where}}


@dataclass(frozen=True, slots=True)
class Close(Operation):
    """End of a trial: there is nothing more for it, and it ends when its last operation is complete."""

    request_id: UUID

    def _to_wire(self) -> dict[str, Any]:
        return {"closeTrial": {"requestId": str(self.request_id)}}


@dataclass(frozen=True, slots=True)
class Progress(Operation):
    """Progress of the whole search, 0 to 1. The runner adds it from `SearchMethod.progress`."""

    progress: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.progress):
            raise ValueError(f"progress={self.progress} is not a number between 0 and 1; check SearchMethod.progress")

    def _to_wire(self) -> dict[str, Any]:
        return {"setSearcherProgress": {"progress": float(self.progress)}}


@dataclass(frozen=True, slots=True)
class Shutdown(Operation):
    """The search is over, and with it the experiment: COMPLETED, or CANCELED, or ERROR after a `failure`."""

    cancel: bool = False
    failure: bool = False

    def _to_wire(self) -> dict[str, Any]:
        return {"shutDown": {"cancel": self.cancel, "failure": self.failure}}
