"""Rules that imports of clusters share: from upstream's database, and from a bundle."""

from determined.master.importing.notes import Outcome, Rule

DELETION = Rule(
    "deletion", Outcome.CHANGED, "Deletions that had not ended: the thing is there; delete it again if you want to."
)
CHECKPOINT_ACTIVE = Rule(
    "checkpoint_active", Outcome.CHANGED, "Checkpoints that were still being written are in state ERROR."
)
ALLOCATION_LIVE = Rule("allocation_live", Outcome.CHANGED, "Allocations that had not ended are TERMINATED.")

RULES = {rule.name: rule for rule in (DELETION, CHECKPOINT_ACTIVE, ALLOCATION_LIVE)}
