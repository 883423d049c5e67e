"""Jobs that hold the slots of a pool, as words behind the reason why another job waits."""

from collections import Counter
from collections.abc import Collection, Sequence

from determined.config.task_kinds import kind_of_job
from determined.master.db.queries.allocation import LiveAllocation
from determined.master.db.rows.allocations import Runner

_NAMED = 3  # more would hide the reason itself; the job queue lists them all


def holders(live: Sequence[LiveAllocation], held: Sequence[Runner], nodes: Collection[str], total: int) -> str | None:
    """Return who holds slots of `nodes`, which have `total` together, the largest first; None where nobody does."""
    jobs = {row.id: row for row in live}
    slots: Counter[str] = Counter()
    titles: dict[str, str] = {}
    for runner in held:
        if runner.node_id in nodes and runner.slot_ids and (row := jobs.get(runner.allocation_id)) is not None:
            slots[row.job_id] += len(runner.slot_ids)
            titles[row.job_id] = _title(row)
    if not slots:
        return None
    if total == 1:
        return f"the only slot is held by {titles[next(iter(slots))]}"
    named = [f"{titles[job]} ({count} slot{'s' * (count != 1)})" for job, count in slots.most_common(_NAMED)]
    more = len(slots) - len(named)
    return f"held by {', '.join(named)}" + (f" and {more} more" if more else "")


def _title(row: LiveAllocation) -> str:
    if row.experiment_id is not None:
        return f"experiment {row.experiment_id} '{row.experiment_name}'"
    return f"{kind_of_job(row.job_type).noun} {row.task_id} '{row.description}'"
