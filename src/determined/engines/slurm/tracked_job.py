"""Allocation that the engine tracks, and the job that it becomes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from determined.engines.model import Device, Launch
from determined.engines.slurm.config import SlurmManager
from determined.engines.slurm.records import Record
from determined.engines.slurm.script import Job, time_limit
from determined.engines.slurm.states import JobView
from determined.wire.claim import Order
from determined.wire.codec import to_json

_MARK = "determined"


@dataclass(slots=True)
class TrackedJob:
    """Job of an allocation.

    `launches`: those that `start` brought. `is_reported`: its end is known. `is_ours_to_end`: we asked for it.
    """

    record: Record
    launches: dict[str, Launch] = field(default_factory=dict)
    view: JobView | None = None
    is_reported: bool = False
    is_ours_to_end: bool = False
    submitted_at: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def tag_of(cluster_id: str, allocation_id: str) -> str:
    """Return the comment that marks a job of ours among the others of our user."""
    return f"{_MARK}:{cluster_id}:{allocation_id}"


def allocation_of(cluster_id: str, tag: str) -> str | None:
    """Return the allocation of a job; None for a job that is not this cluster's."""
    prefix = tag_of(cluster_id, "")
    return tag.removeprefix(prefix) if tag.startswith(prefix) else None


def output_of(settings: SlurmManager, job: str) -> str:
    return str(Path(settings.job_storage_root) / f"determined-{job}.out") if settings.job_storage_root else "/dev/null"


def job_of(
    launches: Sequence[Launch], tag: str, partition: str, limit: int | None, settings: SlurmManager, python: str
) -> Job:
    """Build the job, with the master's certificate.

    `limit`: how many seconds the partition lets a job run that sets no limit.
    """
    first = launches[0]
    options = first.options
    arguments = tuple(options.get("sbatch_args") or ())
    return Job(
        name=f"det-{first.allocation_id}",
        comment=tag,
        partition=partition,
        nodes=len(launches),
        slots=len(first.slot_ids),
        device=first.device if first.slot_ids else Device.CPU,
        order=to_json(_order(first, settings)).decode(),
        python=python,
        gpu_type=options.get("gpu_type"),
        gres=settings.gres_supported,
        sbatch_args=arguments,
        output=output_of(settings, "%j"),
        warning=_warning(settings.time_limit_warning, time_limit(arguments) or limit),
    )


def _order(launch: Launch, settings: SlurmManager) -> Order:
    order: dict[str, Any] = {}
    if launch.master_cert_file is not None:
        order["master_cert"] = Path(launch.master_cert_file).read_text()
    return Order(
        master_url=launch.master_url,
        allocation_id=launch.allocation_id,
        ticket=launch.ticket,
        master_cert_name=launch.master_cert_name,
        run_root=settings.run_root,
        **order,
    )


def _warning(wanted: int, limit: int | None) -> int:
    """Return the seconds of warning before the limit.

    A job shorter than its warning would be warned at its beginning. Without a limit there is nothing to warn of.
    """
    return min(wanted, limit // 4) if limit is not None else 0
