"""Meaning of Slurm's job states. Pure."""

from dataclasses import dataclass

from determined.engines.model import GoneReason

PENDING = "PENDING"
_WAITING = frozenset({PENDING, "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD"})
_ALIVE = _WAITING | {
    "RUNNING",
    "SUSPENDED",
    "STOPPED",
    "RESIZING",
    "COMPLETING",
    "SIGNALING",
    "STAGE_OUT",
    "SPECIAL_EXIT",
}
_HOPELESS_REASONS = frozenset({"BadConstraints"})  # refused after it was taken: it can never run as it is


@dataclass(frozen=True, slots=True)
class JobView:
    """A job as squeue shows it. `tag`: its comment."""

    id: int
    state: str
    reason: str
    nodes: str
    tag: str


def is_over(job: JobView) -> bool:
    return job.state not in _ALIVE


def is_waiting(job: JobView) -> bool:
    return job.state in _WAITING


def verdict(job: JobView) -> GoneReason:
    """Return why the runners of a job that is over are gone."""
    if job.state == "COMPLETED":
        return GoneReason.EXITED
    if job.state in ("CANCELLED", "DEADLINE") or job.reason in _HOPELESS_REASONS:
        return GoneReason.CANCELED
    return GoneReason.LOST


def describe(job: JobView) -> str:
    """Describe the job in Slurm's own words."""
    said = f": {job.reason}" if job.reason not in ("", "None", "(null)") else ""
    where = f" on {job.nodes}" if job.nodes else ""
    return f"Slurm job {job.id} is {job.state}{where}{said}"
