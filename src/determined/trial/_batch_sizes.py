"""BatchSizes: the hyperparameter `global_batch_size`, divided among the slots of a trial."""

import logging
from dataclasses import dataclass

from determined.errors import InvalidExperimentException

logger = logging.getLogger("determined.trial")


@dataclass(frozen=True, slots=True)
class BatchSizes:
    """Records of one batch on each slot, and on all together."""

    per_slot: int
    over_all_slots: int

    @classmethod
    def of(cls, global_batch_size: object, slots: int) -> "BatchSizes":
        """Divide a batch over slots. Raises InvalidExperimentException for no int, or less than one record for each
        slot."""
        if not isinstance(global_batch_size, int) or isinstance(global_batch_size, bool):
            raise InvalidExperimentException(
                f"hyperparameter global_batch_size is {global_batch_size!r}; give it as an integer"
            )
        slots = max(slots, 1)
        per_slot = global_batch_size // slots
        if per_slot < 1:
            raise InvalidExperimentException(
                f"global_batch_size={global_batch_size} is less than one record for each of {slots} slots; raise "
                "hyperparameters.global_batch_size or lower resources.slots_per_trial"
            )
        if per_slot * slots != global_batch_size:
            logger.warning(
                "global_batch_size=%s cannot be divided among %s slots; %s on each, %s together, are trained on",
                global_batch_size, slots, per_slot, per_slot * slots,
            )  # fmt: skip
        return cls(per_slot, per_slot * slots)
