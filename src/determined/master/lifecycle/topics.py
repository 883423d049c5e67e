"""Bus topics that a change of an allocation concerns. The caller publishes them after the commit."""

from sqlalchemy import Connection

from determined.master.db.queries import allocation as allocations
from determined.master.db.queries import runner as runners
from determined.master.db.queries import trial as trials

SCHEDULE = "schedule"
# Work of a search that the scheduling pass has seen in the rows.
PIECES = "pieces"  # lifecycle/search_batches.py
PROPOSALS = "proposals"  # background/proposer.py


def of_allocation(conn: Connection, allocation_id: str) -> list[str]:
    allocation = allocations.find(conn, allocation_id)
    if allocation is None:
        return []
    names = [f"allocation:{allocation_id}", f"task_logs:{allocation.task_id}"]
    if allocation.trial_id is not None:
        names += of_trial(conn, allocation.trial_id)
    return names


def of_runner(conn: Connection, resource_id: str) -> list[str]:
    runner = runners.find(conn, resource_id)
    return [] if runner is None else of_allocation(conn, runner.allocation_id)


def of_trial(conn: Connection, trial_id: int) -> list[str]:
    return [f"trial:{trial_id}", f"experiment:{trials.get(conn, trial_id).experiment_id}"]
