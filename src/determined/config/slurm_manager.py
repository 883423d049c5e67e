"""`resource_manager: {type: slurm}` as typed data. Keys of upstream's launcher that have no use here are left alone."""

from dataclasses import dataclass
from typing import Any

from determined.config.layers import checked
from determined.config.node import Boolean, Integer, Text
from determined.config.objects import Field, Object

SLURM_MANAGER = Object(
    {
        "slot_type": Field(Text(choices=("auto", "cuda", "gpu", "rocm", "cpu")), default="auto"),
        "slots_per_node": Field(Integer(low=1), default=None),
        "gres_supported": Field(Boolean(), default=True),
        "path": Field(Text(), default=None),
        "python": Field(Text(), default=None),
        "run_root": Field(Text(), default=None),
        "job_storage_root": Field(Text(), default=None),
        "time_limit_warning": Field(Integer(low=0), default=120),
    },
    extra=True,
)


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """What an operator says about their Slurm.

    Args:
        slot_type: What a slot is; `auto` is a GPU where any node has one, else a CPU.
        slots_per_node: Slots of a node that one trial may use; None: as many as the largest node of its partition has.
        gres_supported: False where GPUs are not configured as `gres`: none is then asked for.
        path: The directory of sbatch, squeue, scancel and sinfo; None: wherever PATH leads.
        python: The interpreter on the nodes; None: the master's own, which then lies on a shared file system.
        run_root: Where run directories are made on the nodes; None: a private one in the temporary directory.
        job_storage_root: A directory for the output of jobs; None: nobody keeps it.
        time_limit_warning: Seconds before a job's time limit at which its task is asked to save and leave.
    """

    slot_type: str = "auto"
    slots_per_node: int | None = None
    gres_supported: bool = True
    path: str | None = None
    python: str | None = None
    run_root: str | None = None
    job_storage_root: str | None = None
    time_limit_warning: int = 120


def slurm_settings(raw: dict[str, Any]) -> SlurmSettings:
    """Raises InvalidConfig, with every violation."""
    filled = checked(SLURM_MANAGER, SLURM_MANAGER.strip(raw), "invalid resource_manager of type slurm")
    known = {key: filled[key] for key in SLURM_MANAGER.fields}
    return SlurmSettings(**{**known, "slot_type": "cuda" if known["slot_type"] == "gpu" else known["slot_type"]})
