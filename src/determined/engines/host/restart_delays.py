"""Delays between restarts of a runner that died: started again on its directory, it only drains its journals."""

# Seconds after each attempt, the last one again and again: what made it fail may pass (a full disk, no memory for a
# process).
DELAYS = (0.5, 2.0, 10.0, 60.0, 300.0)
ENOUGH = 3  # attempts, when there is nothing to report but the loss


def delay_after(restarts: int) -> float:
    return DELAYS[min(restarts, len(DELAYS) - 1)]


def are_exhausted(restarts: int) -> bool:
    """Check whether so many restarts are the limit: from then on a request to end the runner is granted."""
    return restarts >= len(DELAYS)
