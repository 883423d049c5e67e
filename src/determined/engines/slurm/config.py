"""`resource_manager: {type: slurm}`. Keys of upstream's launcher that have no use here are left alone."""

from typing import Any

from determined.engines.resource_manager import ResourceManager
from determined.schema.node import Boolean, Integer, Text
from determined.schema.section import Section, field


class _SlotType(Text):
    """The old word `gpu` means cuda."""

    def load(self, value: Any) -> str:
        return "cuda" if value == "gpu" else str(value)


class SlurmPoolKeys(Section):
    """The keys that Slurm adds to a resource pool."""

    partition: str | None = field(
        Text(), "Slurm: the partition behind this pool; default: its name.", default=None, fill=False,
        engines=("slurm",),
    )  # fmt: skip


class SlurmManager(ResourceManager, extra=True):
    """An operator's Slurm."""

    kind = "slurm"
    where = "a Slurm cluster"
    page = "slurm.md"
    finds_pools = True
    pool_keys = SlurmPoolKeys

    type: str = field(Text(), "`slurm`.", default="slurm")
    slot_type: str = field(
        _SlotType(choices=("auto", "cuda", "gpu", "rocm", "cpu")),
        "What a slot is; `auto` is a GPU where any node has one, else a CPU.",
        default="auto",
    )
    slots_per_node: int | None = field(
        Integer(low=1),
        "Slots of a node that one trial may use. Default: as many as the largest node of its partition has.",
        default=None,
    )
    gres_supported: bool = field(
        Boolean(), "False where GPUs are not configured as `gres`: none is then asked for.", default=True
    )
    path: str | None = field(
        Text(), "The directory of sbatch, squeue, scancel and sinfo. Default: wherever PATH leads.", default=None
    )
    python: str | None = field(
        Text(),
        "The interpreter on the nodes. Default: the master's own, which then lies on a shared file system.",
        default=None,
    )
    run_root: str | None = field(
        Text(),
        "Where run directories are made on the nodes. Default: a private one in the temporary directory.",
        default=None,
    )
    job_storage_root: str | None = field(
        Text(), "A directory for the output of jobs. Default: nobody keeps it.", default=None
    )
    time_limit_warning: int = field(
        Integer(low=0),
        "Seconds before a job's time limit at which its task is asked to save and leave.",
        default=120,
    )
